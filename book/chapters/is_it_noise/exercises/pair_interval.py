"""An interval for the difference of two variants that were trained from the same seeds."""

import torch

from attnlab.runtime import generator
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from chapters.is_it_noise.exercises.pair_interval_parts import MISTAKES, _interval


def _case(label: str, seeds: int, alike: float, factor: float, number: int) -> Case:
    """With losses of two variants, the more alike the more they share."""
    drawn = torch.randn(3, seeds, generator=generator(number), dtype=torch.float64, device="cpu")
    shared, own, other = drawn
    first = 1.7 + 0.05 * (alike * shared + (1 - alike) * own)
    second = 1.66 + 0.05 * (alike * shared + (1 - alike) * other)
    return Case(label, first, second, factor)


check_pair_interval = Exercise(
    "pair_interval",
    difficulty=2,
    minutes=15,
    takes=("first", "second", "factor"),
    returns=("low", "high"),
    reference=_interval,
    cases=(
        _case("right for three pairs", 3, 0.5, 4.303, 1),
        _case("pairs that are much alike make it narrow", 6, 0.95, 2.571, 2),
        _case("pairs that are not alike leave it wide", 6, 0.0, 2.571, 3),
        _case("right for twenty pairs", 20, 0.8, 2.093, 4),
    ),
    mistakes=MISTAKES,
    trainable=False,
)
