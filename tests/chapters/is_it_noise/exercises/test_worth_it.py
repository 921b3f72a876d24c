"""The exercise `worth_it`, tried as readers would."""

import math

import pytest
import torch
from exercise_cases import judged_as, words

from chapters.is_it_noise.bank import student
from chapters.is_it_noise.exercises import check_worth_it
from chapters.is_it_noise.exercises.worth_it_parts import (
    NARROWEST,
    SAID,
    SPREAD,
    SPREAD_OF_ONE,
    TRUTH,
    WIDEST,
)
from chapters.is_it_noise.models import Variant, judged, trained


def around(middle, half):
    return lambda: (middle - half, middle + half)


RIGHT = {
    check_worth_it: {
        "as narrow as asked for": around(TRUTH, 0.49 * WIDEST),
        "a little beside": around(TRUTH + 0.3 * WIDEST, 0.4 * WIDEST),
        "of fifty pairs": around(TRUTH, 2 * SPREAD / 50**0.5),
        "in a tensor": lambda: torch.tensor([TRUTH - WIDEST / 4, TRUTH + WIDEST / 4]),
    }
}
NAMED = {
    check_worth_it: {
        "the wrong way round": around(TRUTH, -WIDEST / 4),
        "no number": around(math.nan, math.nan),
        "far too wide": around(TRUTH, 2 * 2.3 * SPREAD_OF_ONE),
        "too wide": around(TRUTH, 0.55 * WIDEST),
        "a single point": around(TRUTH, 0),
        "too narrow": around(TRUTH, 0.4 * NARROWEST),
        "the sign turned": around(-TRUTH, WIDEST / 3),
        "0 is the whole story": around(0.001, WIDEST / 3),
        "misses the truth": around(1.9 * TRUTH, WIDEST / 4),
    }
}
UNKNOWN: dict = {}
test_right, test_named, _ = judged_as(RIGHT, NAMED, UNKNOWN)


@pytest.mark.parametrize(
    ("work", "said"),
    [
        (lambda: 3.0, "Two numbers are expected, and float came."),
        (lambda: (1.0, 2.0, 3.0), "the ends of an interval, and 3 came."),
        (lambda: ("low", "high"), "The ends of the interval must be numbers."),
    ],
)
def test_what_is_no_interval_is_told(work, said):
    report = check_worth_it.judge(work)
    assert not report.passed
    assert said in words(report)


def test_what_is_asked_for_takes_few_pairs_and_many_trainings_that_are_not():
    def half(spread, n, freedom):
        return student(freedom) * spread / n**0.5

    assert half(SPREAD, 10, 9) < WIDEST / 2
    assert half(2**0.5 * SPREAD_OF_ONE, 30, 58) > WIDEST / 2
    # 0, and the sign turned, lie far outside.
    assert abs(TRUTH) > WIDEST
    assert {*SAID} == {*check_worth_it.mistakes}


@pytest.mark.thorough
def test_a_few_pairs_say_what_hundreds_say():
    rates = Variant(updates=60, rate=5e-3), Variant(updates=60, rate=6e-3)
    apart = []
    for seed in range(8):
        before, after = (judged(trained(each, seed)[0])[0] for each in rates)
        apart.append(after - before)
    apart = torch.tensor(apart)
    half = student(7) * apart.std() / 8**0.5
    assert check_worth_it.judge(around(float(apart.mean()), float(half))).passed
