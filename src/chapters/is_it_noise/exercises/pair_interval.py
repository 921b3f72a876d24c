"""An interval for the difference of two variants that were trained from the same seeds."""

import torch
from torch import Tensor

from attnlab.runtime import generator
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.mistakes import Mistakes, Part, in_parts, swapped


def _spread(first: Tensor, second: Tensor) -> Tensor:
    return (second - first).std()


def _interval(
    first: Tensor,
    second: Tensor,
    factor: float,
    *,
    apart: Part = lambda first, second: (second - first).mean(),
    spread: Part = _spread,
    error: Part = lambda spread, count: spread / count**0.5,
    half: Part = lambda error, factor: factor * error,
) -> tuple[Tensor, Tensor]:
    """The ends of the interval: the mean difference, factor standard errors of the differences around it."""
    middle = apart(first, second)
    reach = half(error(spread(first, second), len(first)), factor)
    return middle - reach, middle + reach


MISTAKES: Mistakes = in_parts(
    _interval,
    apart={
        "first minus second": (
            "The sign is turned, or lost in an `abs()`: asked for is how much more the second has, "
            "`second - first`.",
            lambda first, second: (first - second).mean(),
        ),
        "the best of each": (
            "You compare the best of each side. Compare means: the best is what luck has left.",
            lambda first, second: second.min() - first.min(),
        ),
        "medians": (
            "The middle is a median. The standard error belongs to the mean of the differences.",
            lambda first, second: (second - first).median(),
        ),
        "the first pair alone": (
            "The middle is the first pair's difference. Take the mean over all of them.",
            lambda first, second: second[0] - first[0],
        ),
    },
    spread={
        "not paired": (
            "You add up the variances of both sides, as if their seeds had nothing in common. First subtract "
            "seed by seed, then take the spread of the differences.",
            lambda first, second: (first.var() + second.var()) ** 0.5,
        ),
        "the spread of one side": (
            "This is how far one side's trainings lie apart. Take the spread of the differences.",
            lambda first, second: first.std(),
        ),
        "the spread of the other side": (
            "This is how far the second side's trainings lie apart. Take the spread of the differences.",
            lambda first, second: second.std(),
        ),
        "divided by n": (
            "You divide the squares by n. The mean was found from the same few numbers, so it is n - 1: "
            "`std()` does that by itself.",
            lambda first, second: (second - first).std(correction=0),
        ),
        "the variance": (
            "This is a variance, a square of nats. Take its root.",
            lambda first, second: (second - first).var(),
        ),
    },
    error={
        "no root": (
            "You divide by n. The error of a mean falls with the root of n.",
            lambda spread, count: spread / count,
        ),
        "the spread, not the error": (
            "Your interval says where the next pair falls. Asked for is where the mean lies: divide by √n.",
            lambda spread, count: spread,
        ),
        "the root of n - 1": (
            "`std()` has divided by n - 1 already. The error of the mean is that, by √n.",
            lambda spread, count: spread / (count - 1) ** 0.5,
        ),
        "two groups": (
            "You count each pair as two trainings. There are n differences, and n is what counts.",
            lambda spread, count: spread / (2 * count) ** 0.5,
        ),
    },
    half={
        "no factor": (
            "These are one standard error each way, which holds the truth two times in three. Multiply by "
            "`factor`.",
            lambda error, factor: error,
        ),
        "1.96 for any number": (
            "1.96 is for a spread that is known. From few pairs it is a guess itself: use `factor`.",
            lambda error, factor: 1.96 * error,
        ),
        "half of it": (
            "Your interval is half as wide as it should be: `factor` errors on *either* side.",
            lambda error, factor: factor * error / 2,
        ),
    },
) | swapped(_interval, "low", "high")


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
