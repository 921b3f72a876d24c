"""Repair a pre-norm layer that forgets its input."""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional as F

from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.inputs import draw, exact
from bookkit.checking.mistakes import in_parts
from chapters.keeping_numbers_in_range.exercises.norms import _mean, _mean_square, _normal


def _layer(
    x: Tensor,
    widen: Tensor,
    narrow: Tensor,
    *,
    arranged: Callable[..., Tensor] = lambda x, block, normal: x + block(normal(x)),
    normal: Callable[[Tensor], Tensor] = _normal,
    between: Callable[[Tensor], Tensor] = torch.relu,
) -> Tensor:
    return arranged(x, lambda read: between(read @ widen) @ narrow, normal)


check_repaired_layer = Exercise(
    "repaired_layer",
    difficulty=3,
    minutes=10,
    takes=("x", "widen", "narrow"),
    returns=("outputs",),
    reference=_layer,
    cases=(
        # The broken code passes the first of these: mean 0 and variance 1, so that a norm changes nothing.
        Case("right for (1, -1, 1, -1)", exact([1, -1, 1, -1]), *draw(11, (4, 8), (8, 4))),
        Case("right for (3, -3, 3, -3)", exact([3, -3, 3, -3]), *draw(13, (4, 8), (8, 4))),
        Case("right for several tokens", *draw(15, (5, 6), (6, 12), (12, 6))),
        Case("right for a batch", *draw(18, (2, 5, 6), (6, 12), (12, 6), dtype=torch.float64)),
    ),
    mistakes=in_parts(
        _layer,
        normal={
            "of a sample": (
                "The norm divides by the spread of a sample, with d - 1, as var() and std() do unless told: "
                "correction=0. (F.layer_norm does it all.)",
                lambda x: (x - _mean(x)) / (x.var(-1, keepdim=True) + 1e-5).sqrt(),
            ),
            "mean kept": (
                "The mean stays where it is: this is an RMSNorm, or half a layer norm. Take it away first.",
                lambda x: x / (_mean_square(x) + 1e-5).sqrt(),
            ),
            "not divided": (
                "The mean is taken away, and the spread stays. Divide by it.",
                lambda x: x - _mean(x),
            ),
            "over the tokens": (
                "Your norm runs over the tokens. Each token is normalised by itself, over the last axis.",
                lambda x: _normal(x.mT).mT if x.dim() > 1 else _normal(x),
            ),
        },
        between={
            "no relu": (
                "The relu between the two matrices is gone: without it they are one matrix.",
                lambda hidden: hidden,
            ),
        },
        arranged={
            "still broken": (
                "The fault that it came with is still there: the norm stands on the road. The first case "
                "passes because its vector has mean 0 and variance 1 already. What is added to what?",
                lambda x, block, normal: normal(x) + block(normal(x)),
            ),
            "post-norm": (
                "Now it is post-norm: the norm stands on the road, after the plus. In pre-norm it is in "
                "the side street.",
                lambda x, block, normal: normal(x + block(x)),
            ),
            "no norm": (
                "The norm is gone, and the block reads what comes in as it is.",
                lambda x, block, normal: x + block(x),
            ),
            "no road": (
                "The block reads the right thing, and its answer replaces x, to which it must be added.",
                lambda x, block, normal: block(normal(x)),
            ),
            "norm after the block": (
                "The norm stands in the side street, but after the block: what the block *reads* must be "
                "normal.",
                lambda x, block, normal: x + normal(block(x)),
            ),
            "norm on the road only": (
                "The road is normalised and what the block reads is not: the wrong way round.",
                lambda x, block, normal: normal(x) + block(x),
            ),
            "both norms": (
                "The side street is right; but a norm still stands on the road, after the plus.",
                lambda x, block, normal: normal(x + block(normal(x))),
            ),
            "norm over everything": (
                "One mean and one variance for all tokens. Each token is normalised by itself, over the "
                "last axis.",
                lambda x, block, normal: x + block(F.layer_norm(x, x.shape)),
            ),
            "x twice": (
                "x is added twice.",
                lambda x, block, normal: 2 * x + block(normal(x)),
            ),
        },
    )
    | {
        "norm of the hidden numbers": (
            "The norm stands between the two matrices. It belongs before the first: what the block reads "
            "must be normal.",
            lambda x, widen, narrow: x + _normal(x @ widen).relu() @ narrow,
        ),
    },
)
