"""An experiment: arrange deep layers so that they train without any norm."""

from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from chapters.keeping_numbers_in_range.exercises.deep_without_norm_mistakes import MISTAKES
from chapters.keeping_numbers_in_range.exercises.deep_without_norm_parts import _deep

check_deep_without_norm = Exercise(
    "deep_without_norm",
    difficulty=4,
    minutes=40,
    takes=("question",),
    returns=("answer",),
    reference=lambda x, block: x + 0.1 * block(x),
    cases=(
        Case("only adds and multiplies", "grows"),
        Case("hears its block", "reads"),
        Case("stays in range over twelve layers", "range"),
        Case("learns at a large rate", "learns"),
    ),
    mistakes=MISTAKES,
    trainable=False,
    ask=_deep,
)
