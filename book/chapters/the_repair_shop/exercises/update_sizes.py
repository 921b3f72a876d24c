"""Measure how far one update moves each matrix, as a share of what it was."""

from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from chapters.the_repair_shop.exercises.update_sizes_mistakes import MISTAKES
from chapters.the_repair_shop.exercises.update_sizes_parts import _sizes, measured

check_update_sizes = Exercise(
    "update_sizes",
    difficulty=2,
    minutes=15,
    takes=("kind", "seed"),
    returns=("shares",),
    reference=_sizes,
    ask=measured,
    cases=(
        Case("right for a plain step", "plain", 1),
        Case("right where all weights shrink", "decay", 2),
        Case("a matrix that stays has 0", "frozen", 3),
        Case("right where one row of a table moves", "rows", 4),
    ),
    mistakes=MISTAKES,
    trainable=False,
)
