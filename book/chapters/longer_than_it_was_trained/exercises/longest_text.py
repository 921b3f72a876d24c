"""An experiment: make a model that was trained on 128 places read 512."""

from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from chapters.longer_than_it_was_trained.exercises.longest_text_mistakes import MISTAKES, made
from chapters.longer_than_it_was_trained.exercises.longest_text_parts import FIRST, results

check_longest_text = Exercise(
    "longest_text",
    difficulty=4,
    minutes=45,
    takes=("question",),
    returns=("answer",),
    reference=made("reference"),
    ask=results,
    cases=(
        Case("it reads 512 pieces", FIRST),
        Case("it sees no later id", "does it see later ids?"),
        Case("what stands far back counts", "does it see what is far?"),
        Case("the last places cost little more than 128 pieces do", "is it below the bar?"),
    ),
    mistakes=MISTAKES,
    trainable=False,
)
