"""“Why divide by √d_k?”: the solutions, many right ways to write them, and faults that no catalogue holds."""

import itertools
import math
from functools import partial

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from attnlab import attention, scores
from attnlab.exercises.checker import judge
from attnlab.exercises.why_divide_by_root_dk import (
    ATTENTION_SHAPES,
    REPAIRED_ATTENTION,
    SCALED_SCORES,
    SCORE_SPREAD,
    SOFTMAX_JACOBIAN,
)


def variants(*parts):
    """Every combination of one entry from each dictionary, under their names."""
    return [
        pytest.param(*(code for _, code in choice), id=", ".join(name for name, _ in choice))
        for choice in itertools.product(*(part.items() for part in parts))
    ]


# --- the solutions, as the chapter gives them ---


def solved_scores(query, key):
    d_k = query.shape[-1]
    return query @ key.transpose(-2, -1) / math.sqrt(d_k)


def solved_jacobian(scores):
    p = torch.softmax(scores, dim=-1)
    return torch.diag_embed(p) - p.unsqueeze(-1) * p.unsqueeze(-2)


def solved_spread(d_k, query_spread, key_spread):
    return math.sqrt(d_k) * query_spread * key_spread


def broken_attention(query, key, value):
    size = key.shape[-2]
    scores = query @ key.transpose(-2, -1) / math.sqrt(size)
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights


def solved_attention(query, key, value):
    size = key.shape[-1]
    scores = query @ key.transpose(-2, -1) / math.sqrt(size)
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights


@pytest.mark.parametrize(
    ("exercise", "solution"),
    [
        (SCALED_SCORES, solved_scores),
        (SOFTMAX_JACOBIAN, solved_jacobian),
        (SCORE_SPREAD, solved_spread),
        (REPAIRED_ATTENTION, solved_attention),
    ],
)
def test_the_solution_is_accepted(exercise, solution):
    assert judge(exercise, solution).passed


def test_the_shapes_are_what_pytorch_says():
    query, key, value = torch.rand(8, 4, 50, 64), torch.rand(8, 4, 200, 64), torch.rand(8, 4, 200, 32)
    query.requires_grad_()
    scores = query @ key.mT / math.sqrt(64)
    weights = scores.softmax(-1)
    (weights @ value).sum().backward()
    names = {"query": query, "key": key, "value": value, "scores": scores, "weights": weights}
    names |= {"jacobian": torch.autograd.functional.jacobian, "one_row": scores[0, 0, 0]}
    names |= {"softmax": partial(torch.softmax, dim=-1)}
    for expression, shape in ATTENTION_SHAPES.shapes.items():
        assert eval(expression, names).shape == shape, expression


def test_attnlabs_own_functions_are_accepted():
    assert judge(SCALED_SCORES, scores.scaled_dot).passed
    assert judge(REPAIRED_ATTENTION, attention.attend).passed


def test_the_broken_code_fails_and_its_one_passing_case_is_the_clue():
    report = judge(REPAIRED_ATTENTION, broken_attention)
    assert report.mistake == "still broken"
    assert [line.split()[0] for line in report.lines[:5]] == ["✓", "✗", "✗", "✗", "✗"]


def test_the_broken_code_trains_anyway():
    generator = torch.Generator().manual_seed(0)
    query, key, value = (torch.randn(6, 4, generator=generator).requires_grad_() for _ in range(3))
    wanted = torch.randn(6, 4, generator=generator)
    optimiser = torch.optim.Adam([query, key, value], lr=0.1)
    losses = []
    for _ in range(100):
        loss = F.mse_loss(broken_attention(query, key, value)[0], wanted)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    # Six values for six queries fit anything; the loss only has to fall a long way, not to any one number.
    assert losses[-1] < losses[0] / 10


# --- right, in other words ---


def looped_dot(query, key):
    if query.dim() > 2:
        return torch.stack([looped_dot(*pair) for pair in zip(query, key, strict=True)])
    return torch.stack([torch.stack([torch.dot(one, other) for other in key]) for one in query])


def mapped_dot(query, key):
    product = torch.vmap(torch.vmap(torch.dot, in_dims=(None, 0)), in_dims=(0, None))
    for _ in range(query.dim() - 2):
        product = torch.vmap(product)
    return product(query, key)


def filled_dot(query, key):
    result = torch.empty(*query.shape[:-1], key.shape[-2], dtype=query.dtype)
    for j in range(key.shape[-2]):
        result[..., j] = (query * key[..., j : j + 1, :]).sum(-1)
    return result


def batched_dot(query, key):
    flat = (
        torch.bmm(query.flatten(0, -3), key.flatten(0, -3).mT)
        if query.dim() > 2
        else torch.mm(query, key.t())
    )
    return flat.view(*query.shape[:-1], key.shape[-2])


PRODUCTS = {
    "@ transpose": lambda query, key: query @ key.transpose(-2, -1),
    "@ mT": lambda query, key: query @ key.mT,
    "key first": lambda query, key: (key @ query.mT).mT,
    "einsum": lambda query, key: torch.einsum("...nd,...md->...nm", query, key),
    "sum": lambda query, key: (query.unsqueeze(-2) * key.unsqueeze(-3)).sum(-1),
    "cosine": lambda query, key: (
        F.cosine_similarity(query.unsqueeze(-2), key.unsqueeze(-3), dim=-1)
        * query.norm(dim=-1).unsqueeze(-1)
        * key.norm(dim=-1).unsqueeze(-2)
    ),
    "one component at a time": lambda query, key: sum(
        query[..., i].unsqueeze(-1) * key[..., i].unsqueeze(-2) for i in range(query.shape[-1])
    ),
    "loops": looped_dot,
    "vmap": mapped_dot,
    "filled in": filled_dot,
    "bmm": batched_dot,
}  # fmt: skip


def in_float64(product, query, key):
    return (product(query.double(), key.double()) / query.shape[-1] ** 0.5).to(query.dtype)


def in_place_on_its_own(product, query, key):
    result = product(query, key)
    result /= math.sqrt(key.shape[-1])
    return result


def shared_out(product, query, key):
    part = query.shape[-1] ** 0.25
    return product(query / part, key / part)


SCALINGS = {
    "divided at the end": lambda product, query, key: product(query, key) / math.sqrt(query.shape[-1]),
    "query divided first": lambda product, query, key: product(query / math.sqrt(query.shape[-1]), key),
    "key multiplied first": lambda product, query, key: product(query, key * key.shape[-1] ** -0.5),
    "shared out": shared_out,
    "root of a tensor": lambda product, query, key: product(query, key) / torch.tensor(query.size(-1)).sqrt(),
    "in float64": in_float64,
    "in place on its own result": in_place_on_its_own,
}  # fmt: skip


@pytest.mark.parametrize(("product", "scaling"), variants(PRODUCTS, SCALINGS))
def test_other_right_scaled_scores_are_accepted(product, scaling):
    report = judge(SCALED_SCORES, lambda query, key: scaling(product, query, key))
    assert report.passed, report


def shifted_exp(scores):
    powers = torch.exp(scores - scores.amax(-1, keepdim=True))
    return powers / powers.sum(-1, keepdim=True)


PROBABILITIES = {
    "torch": lambda scores: torch.softmax(scores, dim=-1),
    "shifted": shifted_exp,
    "log": lambda scores: scores.log_softmax(-1).exp(),
    "logsumexp": lambda scores: (scores - scores.logsumexp(-1, keepdim=True)).exp(),
    "in float64": lambda scores: scores.double().softmax(-1).to(scores.dtype),
}  # fmt: skip


def jacobian_entry_by_entry(p):
    size = p.shape[-1]
    result = p.new_zeros(*p.shape, size)
    for i, j in itertools.product(range(size), repeat=2):
        result[..., i, j] = p[..., i] * (float(i == j) - p[..., j])
    return result


JACOBIANS = {
    "diag_embed": lambda p: torch.diag_embed(p) - p.unsqueeze(-1) * p.unsqueeze(-2),
    "eye": lambda p: p.unsqueeze(-1) * (torch.eye(p.shape[-1], dtype=p.dtype) - p.unsqueeze(-2)),
    "einsum": lambda p: torch.diag_embed(p) - torch.einsum("...i,...j->...ij", p, p),
    "@": lambda p: p.diag_embed() - p[..., :, None] @ p[..., None, :],
    "entry by entry": jacobian_entry_by_entry,
}  # fmt: skip


@pytest.mark.parametrize(("softmax", "jacobian"), variants(PROBABILITIES, JACOBIANS))
def test_other_right_jacobians_are_accepted(softmax, jacobian):
    report = judge(SOFTMAX_JACOBIAN, lambda scores: jacobian(softmax(scores)))
    assert report.passed, report


def flat(one_row):
    def jacobian(scores):
        rows = [one_row(row) for row in scores.reshape(-1, scores.shape[-1])]
        return torch.stack(rows).view(*scores.shape, scores.shape[-1])

    return jacobian


def by_autograd(row):
    row = row.clone().requires_grad_()
    return torch.stack([torch.autograd.grad(p, row, retain_graph=True)[0] for p in row.softmax(-1)])


def by_numpy(row):
    p = row.double().softmax(-1).numpy()
    return torch.from_numpy(np.diag(p) - np.outer(p, p)).to(row.dtype)


@pytest.mark.parametrize(
    "jacobian",
    [
        flat(by_autograd),
        flat(by_numpy),
        flat(lambda row: torch.autograd.functional.jacobian(lambda x: x.softmax(-1), row)),
        flat(torch.func.jacrev(lambda x: x.softmax(-1))),
        flat(torch.func.jacfwd(lambda x: x.softmax(-1))),
    ],
    ids=["autograd.grad", "numpy", "autograd.functional", "jacrev", "jacfwd"],
)
def test_jacobians_by_autograd_are_accepted(jacobian):
    report = judge(SOFTMAX_JACOBIAN, jacobian)
    assert report.passed, report


SPREADS = {
    "root of the variance": lambda d_k, q, k: math.sqrt(d_k * q**2 * k**2),
    "power": lambda d_k, q, k: d_k**0.5 * q * k,
    "sum of variances": lambda d_k, q, k: sum((q * k) ** 2 for _ in range(d_k)) ** 0.5,
    "tensor": lambda d_k, q, k: torch.tensor(float(d_k)).sqrt() * q * k,
    "tensor of one": lambda d_k, q, k: torch.tensor([d_k * q * q * k * k]).sqrt(),
    "float64 tensor": lambda d_k, q, k: torch.tensor(d_k, dtype=torch.float64).sqrt() * q * k,
    "numpy": lambda d_k, q, k: np.sqrt(d_k) * q * k,
    "float32 of numpy": lambda d_k, q, k: np.float32(math.sqrt(d_k) * q * k),
    "hypot": lambda d_k, q, k: math.hypot(*[q * k] * d_k),
    "exp of logs": lambda d_k, q, k: math.exp(0.5 * math.log(d_k) + math.log(q) + math.log(k)),
}  # fmt: skip


@pytest.mark.parametrize("spread", SPREADS)
def test_other_right_spreads_are_accepted(spread):
    report = judge(SCORE_SPREAD, SPREADS[spread])
    assert report.passed, report


def fused(query, key, value):
    # With the identity as values, what comes out is the weights.
    identity = torch.eye(key.shape[-2], dtype=key.dtype).expand(*key.shape[:-1], key.shape[-2])
    return (
        F.scaled_dot_product_attention(query, key, value),
        F.scaled_dot_product_attention(query, key, identity),
    )


def fused_at_once(query, key, value):
    identity = torch.eye(key.shape[-2], dtype=key.dtype).expand(*key.shape[:-1], key.shape[-2])
    both = F.scaled_dot_product_attention(query, key, torch.cat([value, identity], dim=-1))
    return both.split([value.shape[-1], key.shape[-2]], dim=-1)


def returned_as_list(query, key, value):
    return list(solved_attention(query, key, value))


def transposed_throughout(query, key, value):
    weights = (key @ query.mT * query.shape[-1] ** -0.5).softmax(-2)
    return (value.mT @ weights).mT, weights.mT


def one_query_at_a_time(query, key, value):
    rows = [solved_attention(query[..., i : i + 1, :], key, value) for i in range(query.shape[-2])]
    outputs, weights = zip(*rows, strict=True)
    return torch.cat(outputs, -2), torch.cat(weights, -2)


@pytest.mark.parametrize(
    "attention", [fused, fused_at_once, returned_as_list, transposed_throughout, one_query_at_a_time]
)
def test_other_right_attention_is_accepted(attention):
    report = judge(REPAIRED_ATTENTION, attention)
    assert report.passed, report


@pytest.mark.parametrize(("product", "softmax"), variants(PRODUCTS, PROBABILITIES))
def test_attention_from_other_right_parts_is_accepted(product, softmax):
    def attention(query, key, value):
        weights = softmax(product(query, key) / query.shape[-1] ** 0.5)
        return weights @ value, weights

    report = judge(REPAIRED_ATTENTION, attention)
    assert report.passed, report


# --- wrong, in ways that the catalogue does not hold ---

right = solved_scores
UNKNOWN_SCORES = {
    "last component dropped": lambda query, key: right(query[..., :-1], key[..., :-1]),
    "components reversed": lambda query, key: right(query, key.flip(-1)),
    "keys reversed": lambda query, key: right(query, key.flip(-2)),
    "sign lost": lambda query, key: right(query, key).abs(),
    "sign turned": lambda query, key: -right(query, key),
    "clamped": lambda query, key: right(query, key).clamp(-0.5, 0.5),
    "shifted": lambda query, key: right(query, key) + 0.01,
    "one hundredth too large": lambda query, key: right(query, key) * 1.01,
    "rounded": lambda query, key: right(query, key).round(decimals=1),
    "centred": lambda query, key: right(query, key) - right(query, key).mean(-1, keepdim=True),
    "future hidden": lambda query, key: right(query, key).tril(),
    "first head for all": lambda query, key: right(query, key)[..., :1, :, :].expand_as(right(query, key))
    if query.dim() > 3
    else right(query, key),
    "too few bits inside": lambda query, key: right(query, key).to(torch.float8_e4m3fn).to(query.dtype),
    "cube root": lambda query, key: query @ key.mT / query.shape[-1] ** (1 / 3),
    "added instead of multiplied": lambda query, key: query + key,
    "log of softmax": lambda query, key: right(query, key).log_softmax(-1),
    "softmax without scaling": lambda query, key: (query @ key.mT).softmax(-1),
    "multiplied and swapped": lambda query, key: key @ query.mT * query.shape[-1] ** 0.5,
}  # fmt: skip
UNKNOWN_JACOBIANS = {
    "halved": lambda scores: solved_jacobian(scores) / 2,
    "columns reversed": lambda scores: solved_jacobian(scores).flip(-1),
    "at a temperature": lambda scores: solved_jacobian(2 * scores),
    "squared": lambda scores: solved_jacobian(scores) @ solved_jacobian(scores),
    "absolute": lambda scores: solved_jacobian(scores).abs(),
    "of the sigmoid": lambda scores: torch.diag_embed(scores.sigmoid() * (1 - scores.sigmoid())),
    "outer product": lambda scores: scores.softmax(-1)[..., None] * scores.softmax(-1)[..., None, :],
    "norm": lambda scores: solved_jacobian(scores).norm(dim=(-2, -1)),
    "clamped scores": lambda scores: solved_jacobian(scores.clamp(-1, 1)),
    "upper half": lambda scores: solved_jacobian(scores).triu(),
}  # fmt: skip
UNKNOWN_SPREADS = {
    "half": lambda d_k, q, k: math.sqrt(d_k) * q * k / 2,
    "one degree of freedom less": lambda d_k, q, k: math.sqrt(d_k - 1) * q * k,
    "one more": lambda d_k, q, k: math.sqrt(d_k + 1) * q * k,
    "mean of the spreads": lambda d_k, q, k: math.sqrt(d_k) * (q + k) / 2,
    "zero": lambda d_k, q, k: 0.0,
    "always 8": lambda d_k, q, k: 8,
    "quotient": lambda d_k, q, k: math.sqrt(d_k) * q / k,
    "negative": lambda d_k, q, k: -math.sqrt(d_k) * q * k,
    "rounded": lambda d_k, q, k: float(round(math.sqrt(d_k) * q * k)),
    "not a number": lambda d_k, q, k: math.nan,
}  # fmt: skip


def reweighted(change):
    def attention(query, key, value):
        weights = change(solved_attention(query, key, value)[1])
        return weights @ value, weights

    return attention


UNKNOWN_ATTENTION = {
    "hard": reweighted(lambda weights: (weights == weights.amax(-1, keepdim=True)).to(weights.dtype)),
    "uniform": reweighted(lambda weights: torch.full_like(weights, 1 / weights.shape[-1])),
    "future hidden": reweighted(torch.tril),
    "last key forgotten": lambda query, key, value: solved_attention(
        query, key[..., :-1, :], value[..., :-1, :]
    ),
    "values halved": lambda query, key, value: solved_attention(query, key, value / 2),
    "keys for queries": lambda query, key, value: solved_attention(key, key, value),
    "weights before the softmax": lambda query, key, value: (
        solved_attention(query, key, value)[0],
        solved_scores(query, key),
    ),
    "weights detached": lambda query, key, value: (
        solved_attention(query, key, value)[0],
        solved_attention(query, key, value)[1].detach(),
    ),
    "output alone": lambda query, key, value: solved_attention(query, key, value)[0],
    "dropout": reweighted(lambda weights: F.dropout(weights, 0.1)),
    "cosine": lambda query, key, value: solved_attention(F.normalize(query, dim=-1), key, value),
    "values reversed": lambda query, key, value: solved_attention(query, key, value.flip(-2)),
}  # fmt: skip
UNKNOWN = [
    pytest.param(exercise, code, id=f"{exercise.name}-{name}")
    for exercise, faults in [
        (SCALED_SCORES, UNKNOWN_SCORES),
        (SOFTMAX_JACOBIAN, UNKNOWN_JACOBIANS),
        (SCORE_SPREAD, UNKNOWN_SPREADS),
        (REPAIRED_ATTENTION, UNKNOWN_ATTENTION),
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
