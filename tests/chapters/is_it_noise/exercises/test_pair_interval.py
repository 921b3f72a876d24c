"""The exercise `pair_interval`, tried as readers would."""

import statistics

import torch
from exercise_cases import changed, judged_as, named

from chapters.is_it_noise.exercises import check_pair_interval


def by_hand(first, second, factor):
    apart = [y - x for x, y in zip(first.tolist(), second.tolist(), strict=True)]
    half = factor * statistics.stdev(apart) / len(apart) ** 0.5
    return statistics.mean(apart) - half, statistics.mean(apart) + half


def by_covariance(first, second, factor):
    (one, both), (_, other) = torch.stack([first, second]).cov().tolist()
    error = ((one + other - 2 * both) / len(first)) ** 0.5
    middle = second.mean() - first.mean()
    return middle - factor * error, middle + factor * error


def in_one_row(first, second, factor):
    apart = second - first
    ends = torch.tensor([-factor, factor], dtype=apart.dtype)
    return torch.unbind(apart.mean() + ends * apart.std() / len(apart) ** 0.5)


def reckoned(
    middle=lambda x, y: y.mean() - x.mean(),
    spread=lambda x, y: (y - x).std(),
    error=lambda s, n: s / n**0.5,
    half=lambda e, factor: e * factor,
):
    """A reader's interval, in which one step may be another."""

    def code(first, second, factor):
        reach = half(error(spread(first, second), first.numel()), factor)
        return middle(first, second) - reach, middle(first, second) + reach

    return code


RIGHT = {check_pair_interval: named(by_hand, by_covariance, in_one_row)}
NAMED = {
    check_pair_interval: {
        "first minus second": reckoned(middle=lambda x, y: x.mean() - y.mean()),
        "the best of each": reckoned(middle=lambda x, y: y.amin() - x.amin()),
        "medians": reckoned(middle=lambda x, y: torch.sort(y - x).values[(len(x) - 1) // 2]),
        "the first pair alone": reckoned(middle=lambda x, y: (y - x)[0]),
        "not paired": reckoned(spread=lambda x, y: torch.sqrt(x.var() + y.var())),
        "the spread of one side": reckoned(spread=lambda x, y: x.std()),
        "the spread of the other side": reckoned(spread=lambda x, y: y.std()),
        "divided by n": reckoned(spread=lambda x, y: (y - x).std(unbiased=False)),
        "the variance": reckoned(spread=lambda x, y: (y - x).var()),
        "no root": reckoned(error=lambda s, n: s / n),
        "the spread, not the error": reckoned(error=lambda s, n: s),
        "the root of n - 1": reckoned(error=lambda s, n: s / (n - 1) ** 0.5),
        "two groups": reckoned(error=lambda s, n: s / (n + n) ** 0.5),
        "no factor": reckoned(half=lambda e, factor: e),
        "1.96 for any number": reckoned(half=lambda e, factor: e * 1.96),
        "half of it": reckoned(half=lambda e, factor: e * factor / 2),
        "results swapped": lambda *inputs: by_hand(*inputs)[::-1],
        "first minus second & no root": reckoned(
            middle=lambda x, y: x.mean() - y.mean(), error=lambda s, n: s / n
        ),
    }
}
UNKNOWN = {
    check_pair_interval: {
        "a hundredth too high": changed(by_covariance, lambda ends: [1.01 * each for each in ends]),
        "around 0": lambda first, second, factor: (-factor * second.std(), factor * second.std()),
    }
}
test_right, test_named, test_unknown = judged_as(RIGHT, NAMED, UNKNOWN)
