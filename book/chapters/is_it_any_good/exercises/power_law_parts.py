"""What `check_power_law` asks with, in parts that can be mistaken."""

import torch
from torch import Tensor

from bookkit.checking.mistakes import Part


def _least_squares(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """The slope of the line through the points, and how high it stands at 0."""
    apart = x - x.mean()
    slope = (apart * (y - y.mean())).sum() / apart.square().sum()
    return slope, _height(x, y, slope)


def _height(x: Tensor, y: Tensor, slope: Tensor) -> Tensor:
    """How high a line of this slope stands at 0, where it goes through the middle of the points."""
    return y.mean() - slope * x.mean()


def _law(
    updates: Tensor,
    bits: Tensor,
    asked: float,
    *,
    across: Part = torch.log,
    up: Part = torch.log,
    line: Part = _least_squares,
    opened: Part = torch.exp,
    foretold: Part = lambda a, b, asked: a * asked**b,
) -> tuple[Tensor, Tensor, Tensor]:
    b, height = line(across(updates), up(bits))
    a = opened(height)
    return a, b, foretold(a, b, asked)
