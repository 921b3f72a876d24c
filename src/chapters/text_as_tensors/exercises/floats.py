"""Ids that came out as floating-point numbers: a mistake that two exercises know."""

from torch import Tensor

from bookkit.checking.mistakes import Mistakes

_FLOATS: Mistakes = {
    "floating-point numbers": (
        "Your numbers are floating-point ones, and whole ones are asked for. torch.zeros, torch.ones and "
        "torch.empty make such, unless they are given dtype=torch.int64.",
        Tensor.float,
    ),
}
