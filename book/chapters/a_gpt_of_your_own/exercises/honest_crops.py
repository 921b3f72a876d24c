"""Cut crops to train on from a row in which nothing is held out, nor a copy of it."""

from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from chapters.a_gpt_of_your_own.exercises.honest_crops_mistakes import MISTAKES
from chapters.a_gpt_of_your_own.exercises.honest_crops_parts import _crops

_APART = [[5, 6, 7], [8, 9], [10, 11, 12, 13], [14, 15, 16]]


check_honest_crops = Exercise(
    "honest_crops",
    difficulty=2,
    minutes=20,
    takes=("texts", "end", "held_out", "length", "starts"),
    returns=("inputs", "targets"),
    reference=_crops,
    cases=(
        # The row is 5 6 7 8 0, and hardly anything but the shift can go wrong.
        Case("right for one text to train on", [[5, 6, 7, 8], [9, 10, 11]], 0, 1, 2, [0, 1]),
        Case("right for several texts", _APART, 0, 1, 3, [3, 0, 6]),
        Case("right for several held out", _APART, 1, 2, 2, [0, 3]),
        # Copies of a held-out text, in front of it; [5, 6] is there twice, and nobody holds that out.
        Case(
            "right where texts are copied",
            [[7, 8, 9], [5, 6], [5, 6], [7, 8, 9], [10, 11, 12], [7, 8, 9]],
            0,
            1,
            3,
            [0, 2, 5],
        ),
        Case("right where texts are copied", [[6, 7], [4, 5, 3], [8, 9], [6, 7], [8, 9]], 2, 2, 2, [0, 1]),
        # The second start is the last with room; at the third the last target is missing. At 12 begins what
        # is held out, where somebody's row holds that, too.
        Case("right at the row's end", _APART, 0, 1, 3, [0, 8, 9, 12]),
        Case("right at the row's end", _APART, 0, 2, 3, [0, 3, 4, 6]),
    ),
    mistakes=MISTAKES,
    trainable=False,
)
