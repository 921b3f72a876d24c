"""Repair a causal mask that is right for one word alone."""

from torch import Tensor

from attnlab.shapes import Lengths
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.inputs import draw, whole
from chapters.who_may_look_where.exercises.repaired_mask_mistakes import MISTAKES
from chapters.who_may_look_where.exercises.repaired_mask_parts import _decoder


def _texts(seed: int, n: int, lengths: Lengths) -> list[Tensor]:
    batch = len(lengths)
    return [*draw(seed, (batch, n, 4), (batch, n, 4), (batch, n, 3)), lengths]


check_repaired_mask = Exercise(
    "repaired_mask",
    difficulty=3,
    minutes=15,
    takes=("query", "key", "value", "lengths"),
    returns=("output", "weights"),
    reference=_decoder,
    cases=(
        # The broken code passes the first of these, which is the clue: -1e9 over a single key is weight 1.
        Case("right for a text of one word", *_texts(101, 1, whole(1))),
        Case("right for a text of two words", *_texts(111, 2, whole(2))),
        Case("right for a text with filler", *_texts(121, 5, whole(3))),
        Case("right for three texts", *_texts(131, 4, whole(4, 1, 3))),
        Case("right for as many texts as places", *_texts(141, 3, whole(2, 3, 1))),
    ),
    mistakes=MISTAKES,
)
