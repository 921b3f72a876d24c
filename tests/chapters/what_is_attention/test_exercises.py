"""“What is attention?”: the solutions, many right ways to write them, and faults that no catalogue holds."""

import math

import exercise_cases
import numpy as np
import pytest
import torch
from exercise_cases import cases, changed, combined, weighing_by
from torch.nn import functional as F

from chapters.what_is_attention.exercises import (
    GATE_SHAPES,
    NEEDED_TEMPERATURE,
    REPAIRED_REGRESSION,
    SOFT_LOOKUP,
)

# --- the solutions, as the chapter gives them ---


def solved_lookup(query, key, value, temperature):
    weights = torch.softmax(query @ key.mT / temperature, dim=-1)
    return weights @ value, weights


def solved_temperature(gap, keys, share):
    one_other = (1 - share) / (keys - 1)
    return gap / math.log(share / one_other)


def broken_regression(query, key, value, bandwidth):
    distance = torch.cdist(query, key)
    weights = (-distance / (2 * bandwidth**2)).softmax(-1)
    return weights @ value, weights


def solved_regression(query, key, value, bandwidth):
    distance = torch.cdist(query, key)
    weights = (-distance.square() / (2 * bandwidth**2)).softmax(-1)
    return weights @ value, weights


def test_the_shapes_are_what_pytorch_says():
    query, key, value = torch.rand(8, 1, 16), torch.rand(8, 10, 16), torch.rand(8, 10, 64)
    names = {"query": query, "key": key, "value": value, "weights": (query @ key.mT).softmax(-1)}
    names |= {"features": torch.rand(8, 64), "attention": torch.rand(8, 64)}
    exercise_cases.assert_right_shapes(GATE_SHAPES, names)
    gated, summed = list(GATE_SHAPES.shapes)[-2:]
    torch.testing.assert_close(eval(summed, names), eval("weights @ value", names).squeeze(1))
    assert GATE_SHAPES.shapes[gated] == value.shape


def test_the_temperature_gives_the_share():
    for gap, keys, share in [(1.0, 2, 0.99), (0.3, 7, 0.5), (10.0, 1000, 0.9)]:
        scores = torch.zeros(keys, dtype=torch.float64)
        scores[0] = gap
        weights = (scores / NEEDED_TEMPERATURE.reference(gap, keys, share)).softmax(-1)
        assert weights[0].item() == pytest.approx(share)


def test_the_broken_code_fails_and_its_one_passing_case_is_the_clue():
    exercise_cases.assert_still_broken(REPAIRED_REGRESSION, broken_regression, "✓✗✗✗✗")


def test_the_broken_code_learns_its_bandwidth_anyway():
    generator = torch.Generator().manual_seed(0)
    key, query = (6 * torch.rand(40, 1, generator=generator) for _ in range(2))
    bandwidth = torch.tensor(3.0, requires_grad=True)
    exercise_cases.assert_trains(
        lambda: F.mse_loss(broken_regression(query, key, key.sin(), bandwidth)[0], query.sin()), bandwidth
    )


# --- right, in other words ---


def np_softmax(scores):
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def lookup_by(product, softmax):
    return weighing_by(lambda query, key, temperature: softmax(product(query, key) / temperature))


NUMPY = {"numpy": lambda scores: torch.from_numpy(np_softmax(scores.numpy()))}
LOOKUPS = (
    combined(lookup_by, exercise_cases.PRODUCTS, exercise_cases.SOFTMAXES | NUMPY)
    | exercise_cases.in_other_words(solved_lookup)
    | {
        "solution": solved_lookup,
        "fused": lambda query, key, value, temperature: exercise_cases.fused(
            query, key, value, scale=1 / temperature
        ),
        "cooled query": lambda query, key, value, temperature: solved_lookup(
            query / temperature, key, value, 1
        ),
    }
)


def bisected(gap, keys, share):
    low, high = 1e-6, 1e6
    for _ in range(200):
        middle = math.sqrt(low * high)
        held = 1 / (1 + (keys - 1) * math.exp(-gap / middle))
        low, high = (middle, high) if held > share else (low, middle)
    return low


TEMPERATURES = {
    "solution": solved_temperature,
    "sum of logs": lambda gap, keys, share: (
        gap / (math.log(share) + math.log(keys - 1) - math.log(1 - share))
    ),
    "minus": lambda gap, keys, share: -gap / math.log((1 - share) / (share * (keys - 1))),
    "1 / share": lambda gap, keys, share: gap / -math.log((1 / share - 1) / (keys - 1)),
    "tensor": lambda gap, keys, share: gap / torch.log(torch.tensor(share * (keys - 1) / (1 - share))),
    "numpy": lambda gap, keys, share: gap / np.log(share * (keys - 1) / (1 - share)),
    "logit": lambda gap, keys, share: gap / (torch.logit(torch.tensor(share)) + math.log(keys - 1)),
    "bisected": bisected,
}  # fmt: skip


def expanded_square(query, key):
    squares = query.square().sum(-1).unsqueeze(-1) + key.square().sum(-1).unsqueeze(-2)
    return squares - 2 * query @ key.mT


DISTANCES = {
    "cdist squared": lambda query, key: torch.cdist(query, key) ** 2,
    "differences": lambda query, key: (query.unsqueeze(-2) - key.unsqueeze(-3)).square().sum(-1),
    "expanded": expanded_square,
    # Without the query's own square, which the softmax does not see.
    "key's square alone": lambda query, key: key.square().sum(-1).unsqueeze(-2) - 2 * query @ key.mT,
    "norm": lambda query, key: torch.linalg.vector_norm(query[..., None, :] - key[..., None, :, :], dim=-1)
    ** 2,
}  # fmt: skip
KERNELS = {
    "softmax": lambda squared, width: (-squared / (2 * width**2)).softmax(-1),
    "half outside": lambda squared, width: (-0.5 * squared / width.square()).softmax(-1),
    "normalised kernel": lambda squared, width: F.normalize((-squared / (2 * width**2)).exp(), p=1, dim=-1),
    "shifted": lambda squared, width: exercise_cases.shifted_exp(-squared / (2 * width**2)),
}  # fmt: skip


def regression_by(distance, kernel):
    return weighing_by(lambda query, key, width: kernel(distance(query, key), width))


REGRESSIONS = (
    {"solution": solved_regression}
    | combined(regression_by, DISTANCES, KERNELS)
    | exercise_cases.in_other_words(solved_regression)
)


@cases((SOFT_LOOKUP, LOOKUPS), (NEEDED_TEMPERATURE, TEMPERATURES), (REPAIRED_REGRESSION, REGRESSIONS))
def test_right_code_is_accepted(exercise, code):
    exercise_cases.assert_accepted(exercise, code)


# --- wrong, in ways that the catalogue does not hold ---

UNKNOWN_LOOKUPS = exercise_cases.faults_of_attention(solved_lookup) | {
    "weights before the softmax": lambda query, key, value, temperature: (
        solved_lookup(query, key, value, temperature)[0],
        query @ key.mT / temperature,
    ),
    "cosine": lambda query, key, value, temperature: solved_lookup(
        F.normalize(query, dim=-1), F.normalize(key, dim=-1), value, temperature
    ),
    "values over the temperature": lambda query, key, value, temperature: solved_lookup(
        query, key, value / temperature, temperature
    ),
    "temperature plus one": lambda query, key, value, temperature: solved_lookup(
        query, key, value, temperature + 1
    ),
    "scores added": lambda query, key, value, temperature: solved_lookup(query + 1, key, value, temperature),
}  # fmt: skip
UNKNOWN_TEMPERATURES = {
    "doubled": changed(solved_temperature, lambda temperature: 2 * temperature),
    "one key too many": lambda gap, keys, share: solved_temperature(gap, keys + 2, share),
    "log1p": lambda gap, keys, share: gap / math.log1p(share * (keys - 1) / (1 - share)),
    "always the first": lambda gap, keys, share: 0.2176,
    "zero": lambda gap, keys, share: 0.0,
    "not a number": lambda gap, keys, share: math.nan,
    "share squared": lambda gap, keys, share: solved_temperature(gap, keys, share**2),
    "rounded": changed(solved_temperature, lambda temperature: round(temperature, 1)),
}  # fmt: skip
UNKNOWN_REGRESSIONS = exercise_cases.faults_of_trainable_attention(solved_regression) | {
    "Epanechnikov's kernel": weighing_by(
        lambda query, key, width: (1 - torch.cdist(query, key) / width).clamp(min=0)
    ),
    "dot product": lambda query, key, value, width: solved_lookup(query, key, value, width**2),
    "bandwidth detached": lambda query, key, value, width: solved_regression(
        query, key, value, width.detach()
    ),
    "bandwidth as a number": lambda query, key, value, width: solved_regression(
        query, key, value, width.item()
    ),
    "largest component": weighing_by(
        lambda query, key, width: (-(torch.cdist(query, key, p=math.inf) ** 2) / (2 * width**2)).softmax(-1)
    ),
}  # fmt: skip


@cases(
    (SOFT_LOOKUP, UNKNOWN_LOOKUPS),
    (NEEDED_TEMPERATURE, UNKNOWN_TEMPERATURES),
    (REPAIRED_REGRESSION, UNKNOWN_REGRESSIONS),
)
def test_a_fault_that_no_catalogue_holds_is_rejected_and_given_no_wrong_name(exercise, code):
    exercise_cases.assert_rejected_without_a_name(exercise, code)
