"""The exercise `larger_rate`, tried as readers would."""

import math

import torch
from exercise_cases import judged_as, named

from chapters.epochs_batches_iterations.exercises import (
    check_larger_rate,
)


def by_halves(train, rate):
    """From far too long a step downwards, until the loss rises again."""
    rate, loss = 16 * rate, math.inf
    while (shorter := train(100, rate / 2)) < loss or not math.isfinite(loss):
        rate, loss = rate / 2, shorter
    return rate


def by_golden_section(train, rate):
    low, high = math.log(rate / 4), math.log(16 * rate)
    for _ in range(20):
        a, b = high - 0.618 * (high - low), low + 0.618 * (high - low)
        left, right = (train(100, math.exp(point)) for point in (a, b))
        low, high = (low, b) if left <= right or not math.isfinite(right) else (a, high)
    return torch.tensor(math.exp((low + high) / 2))


def as_good_as_the_small(train, rate):
    wanted = train(25, rate)
    return next(rate * factor for factor in (1, 2, 4, 8) if train(100, rate * factor) < 1.1 * wanted)


def searched_with_the_small_batches(train, rate):
    return min((rate * 2**step for step in range(-1, 5)), key=lambda each: train(25, each))


def test_twice_the_rate_is_named_alike():
    assert check_larger_rate.judge(lambda train, rate: rate * math.sqrt(4)).mistake == "twice"


RIGHT = {check_larger_rate: named(by_halves, by_golden_section, as_good_as_the_small)}


NAMED = {
    check_larger_rate: {
        "four times": lambda train, rate: rate * 100 / 25,
        "twice": searched_with_the_small_batches,
        "the same rate": lambda train, rate: rate,
        "a quarter": lambda train, rate: rate / 4,
        "far too large": lambda train, rate: min(train(100, rate * 2**step) for step in range(5)),
    }
}


UNKNOWN = {
    check_larger_rate: {
        "three times": lambda train, rate: 3 * rate,
        "a rate of its own": lambda train, rate: 0.005,
    }
}


test_right_code_is_accepted, test_a_learners_mistake_is_named, test_an_unknown_fault_is_rejected = judged_as(
    RIGHT, NAMED, UNKNOWN
)
