"""An experiment: train a language model, and say how near it comes to what can be known."""

from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from chapters.the_transformer.exercises.near_the_limit_mistakes import _ONE_WRONG, _loud, _Spelled, _told
from chapters.the_transformer.exercises.near_the_limit_parts import _SAID, _handed_in, _results

check_near_the_limit = Exercise(
    "near_the_limit",
    difficulty=4,
    minutes=60,
    takes=("question",),
    returns=("answer",),
    reference=_handed_in(),
    ask=_results,
    trainable=False,
    cases=(
        Case("the model sees no later word", "does it see later words?"),
        Case("it comes near the limit on fresh sentences", "how near is it?"),
        Case("its excess is measured rightly", "is its excess right?"),
        Case("what it writes are sentences", "what does it write?"),
    ),
    mistakes={
        "leak": (
            "Your model's loss is below the limit, and a later word changes its earlier logits: it reads "
            "what it should predict. Is there a causal mask?",
            _handed_in(lambda: _Spelled(lambda words: _loud(words.roll(-1, dims=1)))),
        ),
        "not shifted, measured likewise": (
            "Your model says the word that it has just been given, and is measured by it: a loss below the "
            "limit. Its targets were not shifted.",
            _handed_in(lambda: _Spelled(_loud), tell=_told("measured against previous")),
        ),
    }
    | {name: (_SAID[name], code) for name, code in _ONE_WRONG.items()},
)
