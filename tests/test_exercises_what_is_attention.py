"""“What is attention?”: the solutions, many right ways to write them, and faults that no catalogue holds."""

import itertools
import math

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from attnlab.exercises.checker import judge
from attnlab.exercises.puzzle import judge_shapes
from attnlab.exercises.what_is_attention import (
    GATE_SHAPES,
    NEEDED_TEMPERATURE,
    REPAIRED_REGRESSION,
    SOFT_LOOKUP,
)


def variants(*parts):
    """Every combination of one entry from each dictionary, under their names."""
    return [
        pytest.param(*(code for _, code in choice), id=", ".join(name for name, _ in choice))
        for choice in itertools.product(*(part.items() for part in parts))
    ]


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


@pytest.mark.parametrize(
    ("exercise", "solution"),
    [
        (SOFT_LOOKUP, solved_lookup),
        (NEEDED_TEMPERATURE, solved_temperature),
        (REPAIRED_REGRESSION, solved_regression),
    ],
)
def test_the_solution_is_accepted(exercise, solution):
    assert judge(exercise, solution).passed


def test_the_shapes_are_what_pytorch_says():
    query, key, value = torch.rand(8, 1, 16), torch.rand(8, 10, 16), torch.rand(8, 10, 64)
    names = {"query": query, "key": key, "value": value, "weights": (query @ key.mT).softmax(-1)}
    names |= {"features": torch.rand(8, 64), "attention": torch.rand(8, 64)}
    shapes = {expression: eval(expression, names).shape for expression in GATE_SHAPES.shapes}
    assert judge_shapes(GATE_SHAPES, shapes).passed
    gated, summed = list(shapes)[-2:]
    torch.testing.assert_close(eval(summed, names), eval("weights @ value", names).squeeze(1))
    assert shapes[gated] == value.shape


def test_the_temperature_gives_the_share():
    for gap, keys, share in [(1.0, 2, 0.99), (0.3, 7, 0.5), (10.0, 1000, 0.9)]:
        scores = torch.zeros(keys, dtype=torch.float64)
        scores[0] = gap
        weights = (scores / NEEDED_TEMPERATURE.reference(gap, keys, share)).softmax(-1)
        assert weights[0].item() == pytest.approx(share)


def test_the_broken_code_fails_and_its_one_passing_case_is_the_clue():
    report = judge(REPAIRED_REGRESSION, broken_regression)
    assert report.mistake == "still broken"
    assert [line.split()[0] for line in report.lines[:5]] == ["✓", "✗", "✗", "✗", "✗"]


def test_the_broken_code_learns_its_bandwidth_anyway():
    generator = torch.Generator().manual_seed(0)
    key, query = (6 * torch.rand(40, 1, generator=generator) for _ in range(2))
    bandwidth = torch.tensor(3.0, requires_grad=True)
    optimiser = torch.optim.Adam([bandwidth], lr=0.1)
    losses = []
    for _ in range(100):
        loss = F.mse_loss(broken_regression(query, key, key.sin(), bandwidth)[0], query.sin())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0] / 10


# --- right, in other words ---


def looped_dot(query, key):
    if query.dim() > 2:
        return torch.stack([looped_dot(*pair) for pair in zip(query, key, strict=True)])
    return torch.stack([torch.stack([torch.dot(one, other) for other in key]) for one in query])


PRODUCTS = {
    "mT": lambda query, key: query @ key.mT,
    "transpose": lambda query, key: torch.matmul(query, key.transpose(-2, -1)),
    "key first": lambda query, key: (key @ query.mT).mT,
    "einsum": lambda query, key: torch.einsum("...nd,...md->...nm", query, key),
    "sum": lambda query, key: (query.unsqueeze(-2) * key.unsqueeze(-3)).sum(-1),
    "loops": looped_dot,
}  # fmt: skip


def shifted_exp(scores):
    powers = torch.exp(scores - scores.max(dim=-1, keepdim=True).values)
    return powers / powers.sum(-1, keepdim=True)


SOFTMAXES = {
    "torch": lambda scores: torch.softmax(scores, dim=-1),
    "module": torch.nn.Softmax(dim=-1),
    "shifted": shifted_exp,
    "log": lambda scores: scores.log_softmax(-1).exp(),
    "logsumexp": lambda scores: (scores - scores.logsumexp(-1, keepdim=True)).exp(),
    "in float64": lambda scores: scores.double().softmax(-1).to(scores.dtype),
    "numpy": lambda scores: torch.from_numpy(np_softmax(scores.numpy())),
}  # fmt: skip


def np_softmax(scores):
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


@pytest.mark.parametrize(("product", "softmax"), variants(PRODUCTS, SOFTMAXES))
def test_other_right_lookups_are_accepted(product, softmax):
    def lookup(query, key, value, temperature):
        weights = softmax(product(query, key) / temperature)
        return weights @ value, weights

    report = judge(SOFT_LOOKUP, lookup)
    assert report.passed, report


def fused(query, key, value, temperature):
    identity = torch.eye(key.shape[-2], dtype=key.dtype).expand(*key.shape[:-1], key.shape[-2])
    return tuple(
        F.scaled_dot_product_attention(query, key, mixed, scale=1 / temperature)
        for mixed in (value, identity)
    )


def cooled_query(query, key, value, temperature):
    return solved_lookup(query / temperature, key, value, 1)


def one_query_at_a_time(query, key, value, temperature):
    rows = [solved_lookup(query[..., i : i + 1, :], key, value, temperature) for i in range(query.shape[-2])]
    outputs, weights = zip(*rows, strict=True)
    return torch.cat(outputs, -2), torch.cat(weights, -2)


def gated_and_summed(query, key, value, temperature):
    weights = solved_lookup(query, key, value, temperature)[1]
    return (weights.unsqueeze(-1) * value.unsqueeze(-3)).sum(-2), weights


@pytest.mark.parametrize(
    "lookup",
    [
        fused,
        cooled_query,
        one_query_at_a_time,
        gated_and_summed,
        lambda *inputs: list(solved_lookup(*inputs)),
    ],
    ids=["fused", "cooled query", "one query at a time", "gated and summed", "list"],
)
def test_lookups_by_other_ways_are_accepted(lookup):
    report = judge(SOFT_LOOKUP, lookup)
    assert report.passed, report


def bisected(gap, keys, share):
    low, high = 1e-6, 1e6
    for _ in range(200):
        middle = math.sqrt(low * high)
        held = 1 / (1 + (keys - 1) * math.exp(-gap / middle))
        low, high = (middle, high) if held > share else (low, middle)
    return low


TEMPERATURES = {
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


@pytest.mark.parametrize("temperature", TEMPERATURES)
def test_other_right_temperatures_are_accepted(temperature):
    report = judge(NEEDED_TEMPERATURE, TEMPERATURES[temperature])
    assert report.passed, report


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
    "shifted": lambda squared, width: shifted_exp(-squared / (2 * width**2)),
}  # fmt: skip


@pytest.mark.parametrize(("distance", "kernel"), variants(DISTANCES, KERNELS))
def test_other_right_regressions_are_accepted(distance, kernel):
    def regression(query, key, value, bandwidth):
        weights = kernel(distance(query, key), bandwidth)
        return weights @ value, weights

    report = judge(REPAIRED_REGRESSION, regression)
    assert report.passed, report


# --- wrong, in ways that the catalogue does not hold ---


def reweighted(solution, change):
    def code(query, key, value, *more):
        weights = change(solution(query, key, value, *more)[1])
        return weights @ value, weights

    return code


CHANGES = {
    "uniform but for the best": lambda weights: weights.where(weights == weights.amax(-1, keepdim=True), 0.1),
    "keys reversed": lambda weights: weights.flip(-1),
    "future hidden": torch.tril,
    "dropout": lambda weights: F.dropout(weights, 0.1),
    "rounded": lambda weights: weights.round(decimals=1),
    "one hundredth too large": lambda weights: weights * 1.01,
    "squared": torch.square,
}  # fmt: skip
UNKNOWN_LOOKUPS = {name: reweighted(solved_lookup, change) for name, change in CHANGES.items()} | {
    "weights before the softmax": lambda query, key, value, temperature: (
        solved_lookup(query, key, value, temperature)[0],
        query @ key.mT / temperature,
    ),
    "output alone": lambda *inputs: solved_lookup(*inputs)[0],
    "cosine": lambda query, key, value, temperature: solved_lookup(
        F.normalize(query, dim=-1), F.normalize(key, dim=-1), value, temperature
    ),
    "values over the temperature": lambda query, key, value, temperature: solved_lookup(
        query, key, value / temperature, temperature
    ),
    "last key forgotten": lambda query, key, value, temperature: solved_lookup(
        query, key[..., :-1, :], value[..., :-1, :], temperature
    ),
    "temperature plus one": lambda query, key, value, temperature: solved_lookup(
        query, key, value, temperature + 1
    ),
    "scores added": lambda query, key, value, temperature: solved_lookup(query + 1, key, value, temperature),
}  # fmt: skip
UNKNOWN_TEMPERATURES = {
    "doubled": lambda gap, keys, share: 2 * solved_temperature(gap, keys, share),
    "one key too many": lambda gap, keys, share: solved_temperature(gap, keys + 2, share),
    "log1p": lambda gap, keys, share: gap / math.log1p(share * (keys - 1) / (1 - share)),
    "always the first": lambda gap, keys, share: 0.2176,
    "zero": lambda gap, keys, share: 0.0,
    "not a number": lambda gap, keys, share: math.nan,
    "share squared": lambda gap, keys, share: solved_temperature(gap, keys, share**2),
    "rounded": lambda gap, keys, share: round(solved_temperature(gap, keys, share), 1),
}  # fmt: skip
UNKNOWN_REGRESSIONS = {name: reweighted(solved_regression, change) for name, change in CHANGES.items()} | {
    "Epanechnikov's kernel": lambda query, key, value, width: reweighted(
        solved_regression, lambda weights: (1 - torch.cdist(query, key) / width).clamp(min=0)
    )(query, key, value, width),
    "dot product": lambda query, key, value, width: solved_lookup(query, key, value, width**2),
    "bandwidth detached": lambda query, key, value, width: solved_regression(
        query, key, value, width.detach()
    ),
    "bandwidth as a number": lambda query, key, value, width: solved_regression(
        query, key, value, width.item()
    ),
    "largest component": lambda query, key, value, width: reweighted(
        solved_regression,
        lambda weights: (-(torch.cdist(query, key, p=math.inf) ** 2) / (2 * width**2)).softmax(-1),
    )(query, key, value, width),
    "values halved": lambda query, key, value, width: solved_regression(query, key, value / 2, width),
}  # fmt: skip
UNKNOWN = [
    pytest.param(exercise, code, id=f"{exercise.name}-{name}")
    for exercise, faults in [
        (SOFT_LOOKUP, UNKNOWN_LOOKUPS),
        (NEEDED_TEMPERATURE, UNKNOWN_TEMPERATURES),
        (REPAIRED_REGRESSION, UNKNOWN_REGRESSIONS),
    ]
    for name, code in faults.items()
]


@pytest.mark.parametrize(("exercise", "code"), UNKNOWN)
def test_a_fault_that_no_catalogue_holds_is_rejected_and_given_no_wrong_name(exercise, code):
    report = judge(exercise, code)
    assert report.state == "not yet"
    assert report.mistake is None
    text = " ".join(repr(report).split())
    assert not [mistake.name for mistake in exercise.mistakes if mistake.sentence in text]
    assert "→" in text
