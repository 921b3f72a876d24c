"""Layer norm in parts that can be mistaken, and the inputs on which norms are asked."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from bookkit.checking.inputs import draw, exact
from bookkit.checking.mistakes import Mistakes


def _mean(x: Tensor) -> Tensor:
    return x.mean(-1, keepdim=True)


def _mean_square(x: Tensor) -> Tensor:
    return x.square().mean(-1, keepdim=True)


def _root(x: Tensor, eps: float) -> Tensor:
    return (_mean_square(x) + eps).sqrt()


def _layer_norm(
    x: Tensor,
    gain: Tensor,
    bias: Tensor,
    eps: float,
    *,
    middle: Callable[[Tensor], Any] = _mean,
    size: Callable[[Tensor, float], Tensor] = _root,
    finish: Callable[[Tensor, Tensor, Tensor], Tensor] = lambda normal, gain, bias: gain * normal + bias,
) -> Tensor:
    """The norm in parts, each of which can be mistaken."""
    centred = x - middle(x)
    return finish(centred / size(centred, eps), gain, bias)


# What a vector is divided by: (its numbers, ε) -> divisor.
_SIZES: Mistakes = {
    "eps outside": (
        "ε stands outside the root. It belongs to the mean of the squares, before the root is taken: else "
        "a vector of nearly equal numbers comes out far too large.",
        lambda x, eps: _mean_square(x).sqrt() + eps,
    ),
    "no eps": (
        "ε is missing, so that a vector of equal numbers is divided by 0.",
        lambda x, eps: _mean_square(x).sqrt(),
    ),
    "no root": (
        "You divide by the mean of the squares. What has the size of the numbers is its root.",
        lambda x, eps: _mean_square(x) + eps,
    ),
    "unbiased": (
        "You divide the sum of squares by d - 1, as `var()` and `std()` do unless told otherwise. These d "
        "numbers are all there are: divide by d.",
        lambda x, eps: (x.square().sum(-1, keepdim=True) / (x.shape[-1] - 1) + eps).sqrt(),
    ),
    "length": (
        "You divide by the vector's length, the root of the *sum* of squares. Take their mean.",
        lambda x, eps: (x.square().sum(-1, keepdim=True) + eps).sqrt(),
    ),
    "absolute": (
        "You take the mean of the absolute values. Square, take the mean, and then the root.",
        lambda x, eps: x.abs().mean(-1, keepdim=True) + eps,
    ),
    "size over all": (
        "All vectors are divided by one number. Each has a size of its own: mean(-1, keepdim=True).",
        lambda x, eps: (x.square().mean() + eps).sqrt(),
    ),
    "size over the tokens": (
        "The squares are averaged over the tokens, axis -2. The numbers of one vector lie along axis -1.",
        lambda x, eps: (x.square().mean(-2, keepdim=True) + eps).sqrt(),
    ),
}


_NORM_CASES = (
    (exact([1, 3, 4, 5, 7]), exact([1, 1, 1, 1, 1])[0], exact([0, 0, 0, 0, 0])[0], 0.5),
    (exact([2, -1, 4, 7], [0, 3, 3, -2]), exact([2, 1, -1, 3])[0], exact([1, 0, 2, -1])[0], 0.25),
    (*draw(1, (2, 10, 5), (5,), (5,)), 0.125),
    (exact([3, 3, 3], [1, 1, 4]), exact([1, 2, 3])[0], exact([1, 0, 1])[0], 1e-5),
    (*draw(4, (2, 3, 4, 6), (6,), (6,), dtype=torch.float64), 0.5),
)


_LABELS = (
    "right for one vector",
    "right with gain and bias",
    "right for (2, 10, 5)",
    "right for equal numbers",
    "right in float64, with more axes",
)


def _normal(x: Tensor) -> Tensor:
    return F.layer_norm(x, x.shape[-1:])
