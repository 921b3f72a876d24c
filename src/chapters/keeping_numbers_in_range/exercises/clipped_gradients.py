"""Clip two gradients by the norm of both together."""

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.inputs import draw, exact
from bookkit.checking.mistakes import in_parts


def _length(weight_grad: Tensor, bias_grad: Tensor) -> Tensor:
    return (weight_grad.square().sum() + bias_grad.square().sum()).sqrt()


def _clipped(
    weight_grad: Tensor,
    bias_grad: Tensor,
    limit: float,
    *,
    length: Callable[[Tensor, Tensor], Any] = _length,
    factor: Callable[[Any, float], Any] = lambda length, limit: min(1, limit / length),
) -> tuple[Tensor, Tensor]:
    shorten = factor(length(weight_grad, bias_grad), limit)
    return shorten * weight_grad, shorten * bias_grad


def _alone(grad: Tensor, limit: float) -> Tensor:
    shortened: Tensor = grad * (limit / grad.norm()).clamp(max=1)
    return shortened


check_clipped_gradients = Exercise(
    "clipped_gradients",
    difficulty=3,
    minutes=10,
    takes=("weight_grad", "bias_grad", "limit"),
    returns=("weight_grad", "bias_grad"),
    reference=_clipped,
    cases=(
        Case("right for a long gradient", exact([3, 0]), exact([4])[0], 1.0),
        Case("right for a short one", exact([0.25, 0]), exact([0.5])[0], 1.0),
        Case("right where each alone is short enough", exact([3, 0], [0, 0]), exact([0, 4])[0], 4.5),
        Case("right for drawn gradients", *draw(21, (3, 5), (3,)), 2.0),
        Case("right in float64", *draw(23, (4, 6), (4,), dtype=torch.float64), 0.5),
        Case("right where there is nothing to clip", torch.zeros(2, 3), torch.zeros(2), 1.0),
    ),
    mistakes=in_parts(
        _clipped,
        length={
            "lengths added": (
                "You add the two lengths. Together they are one long vector: add the squares, and take the "
                "root at the end.",
                lambda weight, bias: weight.norm() + bias.norm(),
            ),
            "the longer one": (
                "You take the longer of the two lengths. Together they are one vector, longer than either.",
                lambda weight, bias: max(weight.norm(), bias.norm()),
            ),
            "weights only": (
                "The length is that of the weights' gradient alone. The bias counts, too.",
                lambda weight, bias: weight.norm(),
            ),
            "no root": (
                "This is the length squared: the root is missing.",
                lambda weight, bias: _length(weight, bias).square(),
            ),
            "mean for the sum": (
                "You take the mean of the squares. A length has their sum.",
                lambda weight, bias: _length(weight, bias) / math.sqrt(weight.numel() + bias.numel()),
            ),
            "largest number": (
                "You measure by the largest number. By the norm means by the length of the whole.",
                lambda weight, bias: max(weight.abs().max(), bias.abs().max()),
            ),
        },
        factor={
            "always": (
                "Short gradients are stretched to the limit. Leave alone what is short enough.",
                lambda length, limit: limit / length,
            ),
            "to length 1": (
                "What is too long becomes 1 long. It should become as long as the limit.",
                lambda length, limit: 1 / length if length > limit else 1,
            ),
            "limit for the factor": (
                "What is too long is multiplied by the limit. The factor is limit / length.",
                lambda length, limit: limit if length > limit else 1,
            ),
            "nothing": ("Nothing is clipped.", lambda length, limit: 1),
            "the wrong way round": (
                "What is short becomes longer, and what is too long stays: the factor is the smaller of "
                "the two, 1 and limit / length.",
                lambda length, limit: max(1, limit / length),
            ),
            "divided by 0": (
                "Right, until all gradients are 0: then you divide by a length of 0. Divide only where the "
                "length is larger than the limit.",
                lambda length, limit: min(1.0, limit / length.item()),
            ),
            "thrown away": (
                "What is too long becomes zero. Only its length is wrong: keep the direction.",
                lambda length, limit: 0 if length > limit else 1,
            ),
        },
    )
    | {
        "each by itself": (
            "Each gradient is clipped by its own length, which changes the direction of the whole. One "
            "factor serves both.",
            lambda weight, bias, limit: (_alone(weight, limit), _alone(bias, limit)),
        ),
        "the bias left out": (
            "The bias is as long as before. The factor shortens both.",
            lambda weight, bias, limit: (_clipped(weight, bias, limit)[0], bias),
        ),
        "number by number": (
            "Every number is cut off at the limit, which turns the gradient. Shorten all by one factor.",
            lambda weight, bias, limit: (weight.clamp(-limit, limit), bias.clamp(-limit, limit)),
        ),
    },
    trainable=False,
)
