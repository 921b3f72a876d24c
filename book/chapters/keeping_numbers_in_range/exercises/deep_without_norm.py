"""An experiment: arrange deep layers so that they train without any norm."""

from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from chapters.keeping_numbers_in_range.exercises.deep_without_norm_mistakes import MISTAKES
from chapters.keeping_numbers_in_range.exercises.deep_without_norm_parts import (
    GROWS,
    LEARNS,
    RANGE,
    READS,
    _deep,
)

check_deep_without_norm = Exercise(
    "deep_without_norm",
    difficulty=4,
    minutes=40,
    takes=("question",),
    returns=("answer", "x_through_a_silent_block_in_percent"),
    reference=lambda x, block: x + 0.1 * block(x),
    cases=(
        Case("only adds and multiplies", GROWS),
        Case("hears its block", READS),
        Case("stays in range over twelve layers", RANGE),
        Case("learns at a large rate", LEARNS),
    ),
    mistakes=MISTAKES,
    trainable=False,
    ask=_deep,
)
