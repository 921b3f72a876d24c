"""Let several heads read the same keys and values."""

from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.inputs import draw
from chapters.fewer_keys_or_none.exercises.grouped_mistakes import MISTAKES
from chapters.fewer_keys_or_none.exercises.grouped_parts import _grouped

check_grouped = Exercise(
    "grouped",
    difficulty=2,
    minutes=20,
    takes=("query", "key", "value"),
    returns=("output",),
    reference=_grouped,
    cases=(
        Case("right where each head has keys of its own", *draw(1, *[(1, 2, 3, 2)] * 3)),
        Case("right where all share one", *draw(4, (1, 3, 4, 2), *[(1, 1, 4, 2)] * 2)),
        Case("right where two share one", *draw(7, (1, 4, 3, 2), *[(1, 2, 3, 2)] * 2)),
        Case("right where three share one, in a batch", *draw(10, (2, 6, 5, 4), *[(2, 2, 5, 4)] * 2)),
        Case("right where two share one of three", *draw(13, (3, 6, 4, 8), *[(3, 3, 4, 8)] * 2)),
    ),
    mistakes=MISTAKES,
)
