"""An experiment: find the learning rate for a batch four times as large."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import torch

from attnlab.runtime import generator
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.mistakes import Part

_READ, _SMALL, _LARGE = 2000, 25, 100  # examples read in a training, and the two batch sizes


# Percent of the small batches' loss. Right rates come to 84 to 105, the nearest wrong ones to 127 and 138.
_AS_GOOD = 115


def _training(scale: float) -> Callable[[int, float], float]:
    """`train(batch_size, rate)`: a line learns from 2000 examples, and its loss on new ones is told.

    Inputs of another scale want another rate: no number is right for all.
    """
    source = generator(61)
    inputs = torch.randn(2 * _READ, 6, generator=source, dtype=torch.float64, device="cpu")
    noise = torch.randn(2 * _READ, generator=source, dtype=torch.float64, device="cpu")
    targets = inputs.sum(-1) + noise
    inputs = scale * inputs

    def train(batch_size: int, rate: float) -> float:
        weight = torch.zeros(6, dtype=torch.float64, device="cpu")
        for start in range(0, _READ, batch_size):
            x, y = inputs[start : start + batch_size], targets[start : start + batch_size]
            weight = weight - rate * 2 * x.T @ (x @ weight - y) / len(x)
        return float((inputs[_READ:] @ weight - targets[_READ:]).square().mean())

    return train


def _larger_rate(train: Callable[[int, float], float], rate: float) -> float:
    rates = [rate * 2 ** (step / 2) for step in range(-2, 9)]
    return min(rates, key=lambda each: train(_LARGE, each))


def _percent(choose: Part, rate: float, scale: float) -> Any:
    """The large batches' loss in percent of the small ones'. What is as good counts as as good."""
    train = _training(scale)
    chosen = choose(train, rate)
    if chosen is ...:
        return ...
    percent = 100 * train(_LARGE, float(chosen)) / train(_SMALL, rate)
    return max(_AS_GOOD, round(min(percent, 1000))) if math.isfinite(percent) else 1000


def _times(factor: float) -> Part:
    return lambda train, rate: factor * rate


check_larger_rate = Exercise(
    "larger_rate",
    difficulty=4,
    minutes=40,
    takes=("rate", "scale"),
    returns=("percent_of_the_loss",),
    reference=_larger_rate,
    ask=_percent,
    trainable=False,
    cases=(
        Case("as good where the small batches took short steps", 0.01, 1.0),
        Case("as good where the small batches took long steps", 0.003, 10.0),
    ),
    mistakes={
        "four times": (
            "You multiply by 4, as the batch, or by more. The linear scaling rule is right for short steps. "
            "Where they were long already it falls apart. Try several, and take what `train` tells you.",
            _times(4),
        ),
        "the same rate": (
            "You keep the rate. A quarter as many updates with steps as long as before don't get as far.",
            _times(1),
        ),
        "twice": (
            "Where the steps were short, twice the old rate (the root of 4, or what suits batches of another "
            "size) is not far enough. Measure, with the batches of 100 that the rate is for.",
            _times(2),
        ),
        "a quarter": ("A larger batch has a better gradient: it can take longer steps.", _times(0.25)),
        "the worst": (
            "You take the rate with the highest loss: the lowest is the best.",
            lambda train, rate: max((rate * 2**step for step in range(-1, 4)), key=partial(train, _LARGE)),
        ),
        "far too large": (
            "With this rate both trainings fall apart. Do you return a rate, or the loss that it led to?",
            lambda train, rate: min(train(_LARGE, rate * 2**step) for step in range(5)),
        ),
    },
)
