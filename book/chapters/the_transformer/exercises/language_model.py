"""Write a whole language model, from an empty file."""

from attnlab.transformer import LanguageModel
from bookkit.checking.exercise import Exercise
from chapters.the_transformer.exercises.language_model_mistakes import MISTAKES
from chapters.the_transformer.exercises.language_model_parts import _LONGEST, _spoken, _texts

check_language_model = Exercise(
    "language_model",
    difficulty=5,
    minutes=90,
    takes=("words", "heads", "layers", "zeros"),
    returns=("logits", "numbers_trained"),
    reference=LanguageModel,
    ask=_spoken,
    trainable=False,
    cases=(
        # Where nothing that is known explains a fault, these say in which part it is.
        _texts("right without its blocks, where W_O and narrow are 0", 57, 1, 3, 1, 1, "W_O", "narrow"),
        _texts("right with its feed-forward network alone, where W_O is 0", 58, 1, 3, 1, 1, "W_O"),
        _texts("right with its attention alone, where narrow is 0", 59, 1, 3, 1, 1, "narrow"),
        _texts("right for one word", 51, 1, 1, 1, 1),
        _texts("right for three words", 52, 1, 3, 1, 1),
        _texts("right in heads", 53, 1, 5, 3, 1),
        _texts("right for a batch", 54, 2, 5, 2, 1),
        _texts("right in layers", 55, 3, 6, 3, 3),
        _texts("right for a long text", 56, 2, _LONGEST, 2, 2),
    ),
    mistakes=MISTAKES,
)
