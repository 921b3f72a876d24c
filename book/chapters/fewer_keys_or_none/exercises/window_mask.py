"""Make the mask of a window: the last few places, and the first few."""

from attnlab import masks
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from chapters.fewer_keys_or_none.exercises.window_mask_mistakes import MISTAKES
from chapters.fewer_keys_or_none.exercises.window_mask_parts import _window_mask

check_window_mask = Exercise(
    "window_mask",
    difficulty=2,
    minutes=15,
    takes=("n", "width", "sinks"),
    returns=("mask",),
    reference=_window_mask,
    cases=(
        Case("right without sinks", 4, 2, 0),
        Case("right without sinks", 7, 3, 0),
        Case("right with one sink", 5, 2, 1),
        Case("right with several", 8, 3, 2),
        Case("right where each sees itself alone", 3, 1, 0),
        Case("right where sinks are more than the window", 7, 2, 4),
        Case("right where all is seen", 4, 9, 0),
        Case("right for a single place", 1, 2, 2),
    ),
    mistakes=MISTAKES,
    without=(masks,),
    trainable=False,
)
