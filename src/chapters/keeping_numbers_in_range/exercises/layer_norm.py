"""Write layer norm."""

import torch

from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.mistakes import in_parts
from chapters.keeping_numbers_in_range.exercises.norms import (
    _LABELS,
    _NORM_CASES,
    _SIZES,
    _layer_norm,
    _mean,
    _root,
)

check_layer_norm = Exercise(
    "layer_norm",
    difficulty=1,
    minutes=5,
    takes=("x", "gain", "bias", "eps"),
    returns=("normal",),
    reference=_layer_norm,
    cases=[Case(label, *inputs) for label, inputs in zip(_LABELS, _NORM_CASES, strict=True)],
    mistakes=in_parts(
        _layer_norm,
        middle={
            "mean not taken away": (
                "The mean is still there. Take it away before anything is squared.",
                lambda x: 0,
            ),
            "mean over the tokens": (
                "The mean runs over the tokens, axis -2. Layer norm takes each vector by itself: axis -1.",
                lambda x: x.mean(-2, keepdim=True),
            ),
            "one mean for all": (
                "One mean is taken away from everything. Each vector has a mean of its own: mean(-1, "
                "keepdim=True).",
                lambda x: x.mean(),
            ),
            "sum for the mean": (
                "You take away the sum of the numbers, not their mean.",
                lambda x: x.sum(-1, keepdim=True),
            ),
        },
        size=_SIZES,
        finish={
            "no gain": ("The gain is missing.", lambda normal, gain, bias: normal + bias),
            "no bias": ("The bias is missing.", lambda normal, gain, bias: gain * normal),
            "gain and bias swapped": (
                "Gain and bias have changed places: the gain multiplies, the bias is added.",
                lambda normal, gain, bias: bias * normal + gain,
            ),
            "bias before the gain": (
                "The bias is multiplied by the gain as well. First the gain, and then the bias.",
                lambda normal, gain, bias: gain * (normal + bias),
            ),
        },
    )
    | {
        "gain and bias first": (
            "Gain and bias come before the norm, which takes them out again. They come last.",
            lambda x, gain, bias, eps: _layer_norm(
                gain * x + bias, torch.ones_like(gain), torch.zeros_like(bias), eps
            ),
        ),
        "squares around 0": (
            "You square x as it came in. The variance is the mean of the squares once the mean has been "
            "taken away.",
            lambda x, gain, bias, eps: gain * (x - _mean(x)) / _root(x, eps) + bias,
        ),
        "std() and eps": (
            "Two faults in one: `std()` divides by d - 1 unless told otherwise, and ε stands outside the "
            "root.",
            lambda x, gain, bias, eps: gain * (x - _mean(x)) / (x.std(-1, keepdim=True) + eps) + bias,
        ),
        "batch norm": (
            "This is batch norm: mean and variance of each feature over everything else. Layer norm takes "
            "each vector by itself, over axis -1.",
            lambda x, gain, bias, eps: (
                gain * (x - x.flatten(0, -2).mean(0)) / (x.flatten(0, -2).var(0, correction=0) + eps).sqrt()
                + bias
            ),
        ),
    },
)
