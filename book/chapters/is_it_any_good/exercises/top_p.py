"""Say from which chances the next piece is drawn, at a temperature and with top-p."""

import torch
from torch import Tensor

from attnlab import decoding
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from chapters.is_it_any_good.exercises.top_p_mistakes import MISTAKES
from chapters.is_it_any_good.exercises.top_p_parts import _nucleus


def _logits(*shares: list[int]) -> Tensor:
    """Logits whose softmax, at temperature 1, are these per cents."""
    return torch.tensor(shares, dtype=torch.float64, device="cpu").log()


_ONE = _logits([45, 25, 15, 10, 5])
_TWO = _logits([5, 10, 20, 38, 27], [60, 3, 25, 4, 8])


check_top_p = Exercise(
    "top_p",
    difficulty=2,
    minutes=20,
    takes=("logits", "temperature", "p"),
    returns=("chances",),
    reference=_nucleus,
    cases=(
        Case("right for one row", _ONE, 1.0, 0.6),
        Case("right where the likeliest alone is enough", _ONE, 1.0, 0.3),
        Case("right in any order, and for each row", _TWO, 1.0, 0.8),
        Case("right at other temperatures", _TWO, 2.0, 0.8),
        Case("right at other temperatures", _TWO, 0.5, 0.9),
        Case("right where all stay", _TWO, 1.0, 1.0),
        Case("right in float32", _TWO.float(), 1.5, 0.7),
    ),
    mistakes=MISTAKES,
    without=(decoding,),
    trainable=False,
)
