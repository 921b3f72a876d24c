"""What `check_head_scores` asks with, in parts that can be mistaken."""

from torch import Tensor

from attnlab.shapes import Weights
from bookkit.checking.mistakes import Part


def _came_next(weights: Weights, period: int) -> Tensor:
    """From the second time on, what each place gives to the word after its own earlier self."""
    return weights.diagonal(1 - period, -2, -1)[..., 1:]


def _scores(
    weights: Weights,
    period: int,
    *,
    before: Part = lambda weights: weights.diagonal(-1, -2, -1),
    after: Part = _came_next,
    average: Part = lambda found, length: found.mean(-1),
) -> tuple[Tensor, Tensor]:
    length = weights.shape[-1]
    return average(before(weights), length), average(after(weights, period), length)
