"""An experiment: choose the bandwidth of a kernel regression by its points alone."""

import math
from collections.abc import Callable
from numbers import Real
from typing import Any

import torch
from torch import Tensor

from attnlab.runtime import generator
from attnlab.shapes import Keys, Values
from bookkit.checking.answers import WrongTypeError
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from chapters.what_is_attention.exercises.attention_in_parts import _regression, _squared_distance

# What a bandwidth may miss the wave by, over what the best one does. Choosing by leaving points out, one
# or a fold or half of them at a time, came to 1.6 at most, in twenty ways to divide each case.
ALLOWED = 1.8


WIDTHS = [0.005 * 1.15**step for step in range(50)]  # to 4.7


def _noisy_wave(seed: int, speed: float, noise: float) -> list[Any]:
    """400 points of sin(speed · x) between 0 and 6, and the speed, which only the check is told."""
    source = generator(seed)
    key = 6 * torch.rand(400, 1, generator=source, device="cpu")
    value = (speed * key).sin() + noise * torch.randn(400, 1, generator=source, device="cpu")
    return [key, value, speed]


def _missed(key: Keys, value: Values, speed: float, bandwidth: float) -> float:
    """How far the answers are from the wave itself, without the noise."""
    query = torch.linspace(0, 6, 301, device="cpu").unsqueeze(-1)
    output, _ = _regression(query, key, value, bandwidth)
    return (output - (speed * query).sin()).square().mean().sqrt().item()


def _side(choose: Callable[..., Any], key: Keys, value: Values, speed: float) -> Any:
    """-1 where the bandwidth that `choose(key, value)` returns is too narrow, 1 where it is too wide."""
    chosen = choose(key, value)
    if not (isinstance(chosen, Real) or (isinstance(chosen, Tensor) and chosen.numel() == 1)):
        return chosen
    if not 0 < float(chosen) < math.inf:
        raise WrongTypeError(f"A bandwidth is a positive number, and this is {float(chosen):g}.")
    misses = {width: _missed(key, value, speed, width) for width in WIDTHS}
    best = min(misses, key=lambda width: misses[width])
    if _missed(key, value, speed, float(chosen)) <= ALLOWED * misses[best]:
        return 0
    return -1 if float(chosen) < best else 1


def _left_out(key: Keys, value: Values) -> float:
    """The bandwidth at which the points best predict each other."""
    oneself = torch.eye(len(key), device="cpu").bool()

    def missed(bandwidth: float) -> float:
        scores = -_squared_distance(key, key) / (2 * bandwidth**2)
        output = scores.masked_fill(oneself, -math.inf).softmax(-1) @ value
        return (output - value).square().mean().item()

    return min(WIDTHS, key=missed)


check_learned_bandwidth = Exercise(
    "learned_bandwidth",
    difficulty=3,
    minutes=40,
    takes=("key", "value", "speed"),
    returns=("too narrow (-1) or too wide (1)",),
    reference=_left_out,
    ask=_side,
    trainable=False,
    cases=(
        Case("right for a slow wave under much noise", *_noisy_wave(31, 0.5, 1.0)),
        Case("right for a fast wave", *_noisy_wave(52, 8.0, 0.6)),
    ),
    mistakes={
        "chosen on its own points": (
            "Your bandwidth is far too narrow each time. A point that is asked for its own value always "
            "finds it, the better the narrower. Let a point be predicted by the others alone.",
            lambda key, value: 1e-3,
        ),
        "much too wide": (
            "Your bandwidth is far too wide each time: it flattens every wave. Compare the error of several, "
            "down to a hundredth.",
            lambda key, value: 6.0,
        ),
        "fits the slow wave alone": (
            "Your bandwidth suits the slow wave and is too wide for the others. It has to be chosen anew "
            "from each set of points, down to narrow ones.",
            lambda key, value: 0.5,
        ),
        "fits the fast wave alone": (
            "Your bandwidth suits a fast wave and is too narrow for a slow one. Choose it anew from each set "
            "of points; and if each point has a say in its own answer, narrow always looks better.",
            lambda key, value: 0.04,
        ),
        "a compromise, or the worst": (
            "Your bandwidth is too narrow for the slow wave and too wide for the fast one. One number can't "
            "suit both: choose it anew from each set of points. If you do, is it the smallest error that you "
            "take, and not the largest?",
            lambda key, value: 0.17,
        ),
        "with its error": (
            "You return two things, as min does with pairs. The bandwidth alone is asked for.",
            lambda key, value: (0.5, 1.0),
        ),
    },
)
