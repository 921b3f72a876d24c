"""The exercise `start_without_divisor`, tried as readers would."""

import math

import pytest
import torch
from exercise_cases import judged_as

from chapters.why_divide_by_root_dk.exercises import (
    check_start_without_divisor,
)

# Each answer is a training.
pytestmark = pytest.mark.thorough


def drawn_start(d_k, source):
    return torch.randn(2, 16, d_k, generator=source)


def sharing(own):
    """Keys that are one vector but for a small part of their own."""

    def start(d_k, source):
        query, key = drawn_start(d_k, source)
        return query, math.sqrt(1 - own**2) * key[:1] + own * key

    return start


def every_other_component(d_k, source):
    query, key = drawn_start(d_k, source)
    query[:, ::2] = key[:, 1::2] = 0
    return [math.sqrt(2) * query, math.sqrt(2) * key.double()]


def leaning_away(d_k, source):
    """Both in the first component alone, which the queries hardly have."""
    query, key = drawn_start(d_k, source)
    key[:, 0], key[:, 1:] = math.sqrt(d_k), 0.01 * key[:, 1:]
    return query, key


STARTS = {
    "every other component": every_other_component,
    "one key for all": sharing(0.0),
    "keys with a little of their own": sharing(0.02),
    "keys of ones": lambda d_k, source: (drawn_start(d_k, source)[0], torch.ones(16, d_k)),
    "keys along one axis": leaning_away,
}


RIGHT = {check_start_without_divisor: STARTS}


NAMED = {
    check_start_without_divisor: {
        "independent": lambda d_k, source: drawn_start(d_k, source).sign(),
        "small components": lambda d_k, source: tuple(drawn_start(d_k, source) / d_k**0.25),
        "large components": lambda d_k, source: drawn_start(d_k, source) * 2,
        "tied": lambda d_k, source: [torch.eye(16, d_k) * math.sqrt(d_k)] * 2,
        "grows with the width": sharing(0.6),
        "grows slowly": sharing(0.3),
    }
}


UNKNOWN = {
    check_start_without_divisor: {
        "one vector of each": lambda d_k, source: drawn_start(d_k, source)[:, 0],
        "a single tensor": lambda d_k, source: torch.randn(16, d_k, generator=source),
        "too many keys": lambda d_k, source: torch.randn(2, 32, d_k, generator=source),
        "made for one width": lambda d_k, source: torch.randn(2, 16, 64, generator=source),
    }
}


test_right_code_is_accepted, test_a_learners_mistake_is_named, test_an_unknown_fault_is_rejected = judged_as(
    RIGHT, NAMED, UNKNOWN
)
