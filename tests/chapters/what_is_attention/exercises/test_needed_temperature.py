"""The exercise `needed_temperature`, tried as readers would."""

import math

import numpy as np
import pytest
import torch
from exercise_cases import changed, judged_as

from chapters.what_is_attention.exercises import (
    check_needed_temperature,
)

temperature_of = check_needed_temperature.reference


def test_the_temperature_gives_the_share():
    for gap, keys, share in [(1.0, 2, 0.99), (0.3, 7, 0.5), (10.0, 1000, 0.9)]:
        scores = torch.zeros(keys, dtype=torch.float64)
        scores[0] = gap
        weights = (scores / temperature_of(gap, keys, share)).softmax(-1)
        assert weights[0].item() == pytest.approx(share)


def bisected(gap, keys, share):
    low, high = 1e-6, 1e6
    for _ in range(200):
        middle = math.sqrt(low * high)
        held = 1 / (1 + (keys - 1) * math.exp(-gap / middle))
        low, high = (middle, high) if held > share else (low, middle)
    return low


TEMPERATURES = {
    "log of one other": lambda gap, keys, share: gap / math.log(share / ((1 - share) / (keys - 1))),
    "tensor": lambda gap, keys, share: gap / (torch.tensor(share).double().logit() + math.log(keys - 1)),
    "numpy": lambda gap, keys, share: gap / (np.log(share) - np.log1p(-share) + np.log(keys - 1)),
    "bisected": bisected,
}


RIGHT = {check_needed_temperature: TEMPERATURES}


NAMED = {
    check_needed_temperature: {
        "the best key counted among the others": lambda gap, keys, share: (
            gap / math.log(keys * share / (1 - share))
        ),
        "two keys only": lambda gap, keys, share: gap / math.log(share / (1 - share)),
        "the best key's own share forgotten": lambda gap, keys, share: (
            gap / math.log((keys - 1) / (1 - share))
        ),
        "upside down": lambda gap, keys, share: math.log(share * (keys - 1) / (1 - share)) / gap,
        "others divided, not multiplied": lambda gap, keys, share: (
            gap / math.log(share / ((1 - share) * (keys - 1)))
        ),
        "negative": lambda gap, keys, share: gap / math.log((1 - share) / (keys - 1) / share),
    }
}


UNKNOWN = {
    check_needed_temperature: {
        "one key too many": lambda gap, keys, share: temperature_of(gap, keys + 2, share),
        "log1p": lambda gap, keys, share: gap / math.log1p(share * (keys - 1) / (1 - share)),
        "share squared": lambda gap, keys, share: temperature_of(gap, keys, share**2),
        "rounded": changed(temperature_of, lambda temperature: round(temperature, 1)),
    }
}


test_right_code_is_accepted, test_a_learners_mistake_is_named, test_an_unknown_fault_is_rejected = judged_as(
    RIGHT, NAMED, UNKNOWN
)
