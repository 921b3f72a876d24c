"""Write RMSNorm."""

from collections.abc import Callable

import torch
from torch import Tensor

from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.inputs import exact
from bookkit.checking.mistakes import but, in_parts
from chapters.keeping_numbers_in_range.exercises.norms import (
    _LABELS,
    _NORM_CASES,
    _SIZES,
    _layer_norm,
    _mean_square,
    _root,
)


def _rms_norm(
    x: Tensor,
    gain: Tensor,
    eps: float,
    *,
    size: Callable[[Tensor, float], Tensor] = _root,
    finish: Callable[[Tensor, Tensor], Tensor] = lambda normal, gain: gain * normal,
) -> Tensor:
    return finish(x / size(x, eps), gain)


check_rms_norm = Exercise(
    "rms_norm",
    difficulty=2,
    minutes=5,
    takes=("x", "gain", "eps"),
    returns=("normal",),
    reference=_rms_norm,
    cases=[
        Case(label.replace("gain and bias", "a gain").replace("equal numbers", "zeros"), x, gain, eps)
        for label, (x, gain, _, eps) in zip(
            _LABELS,
            (*_NORM_CASES[:3], (exact([0, 0, 0], [1, 1, 4]), *_NORM_CASES[3][1:]), _NORM_CASES[4]),
            strict=True,
        )
    ],
    mistakes=in_parts(
        _rms_norm,
        size=but(_SIZES, "no eps")
        | {
            "no eps": (
                "ε is missing, so that a vector of zeros is divided by 0.",
                lambda x, eps: _mean_square(x).sqrt(),
            ),
            "variance": (
                "You divide by the root of the variance, as layer norm does. Here no mean is taken away, and "
                "the squares are those of x as it came.",
                lambda x, eps: (x.var(-1, keepdim=True, correction=0) + eps).sqrt(),
            ),
            "root first": (
                "The root comes last: the mean of the squares, and then its root. You have the root of "
                "each square.",
                lambda x, eps: x.square().sqrt().mean(-1, keepdim=True),
            ),
        },
        finish={
            "no gain": ("The gain is missing.", lambda normal, gain: normal),
            "gain added": ("The gain multiplies; you add it.", lambda normal, gain: normal + gain),
        },
    )
    | {
        "mean taken away": (
            "This is layer norm without a bias: here no mean is taken away.",
            lambda x, gain, eps: _layer_norm(x, gain, torch.zeros_like(gain), eps),
        ),
        "gain first": (
            "The gain comes before the norm, which divides by it again. It comes last.",
            lambda x, gain, eps: _rms_norm(gain * x, torch.ones_like(gain), eps),
        ),
    },
)
