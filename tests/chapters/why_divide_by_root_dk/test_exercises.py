"""“Why divide by √dₖ?”: the solutions, many right ways to write them, and faults that no catalogue holds."""

import itertools
import math
import operator
from functools import partial

import exercise_cases
import numpy as np
import torch
from exercise_cases import cases, changed, combined, named, weighing_by
from torch.nn import functional as F

from attnlab import attention, scores
from chapters.why_divide_by_root_dk.exercises import (
    ATTENTION_SHAPES,
    REPAIRED_ATTENTION,
    SCALED_SCORES,
    SCORE_SPREAD,
    SOFTMAX_JACOBIAN,
)

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


def test_the_shapes_are_what_pytorch_says():
    query, key, value = torch.rand(8, 4, 50, 64), torch.rand(8, 4, 200, 64), torch.rand(8, 4, 200, 32)
    query.requires_grad_()
    scores = query @ key.mT / math.sqrt(64)
    weights = scores.softmax(-1)
    (weights @ value).sum().backward()
    names = {"query": query, "key": key, "value": value, "scores": scores, "weights": weights}
    names |= {"jacobian": torch.autograd.functional.jacobian, "one_row": scores[0, 0, 0]}
    names |= {"softmax": partial(torch.softmax, dim=-1)}
    exercise_cases.assert_right_shapes(ATTENTION_SHAPES, names)


def test_the_broken_code_fails_and_its_one_passing_case_is_the_clue():
    exercise_cases.assert_still_broken(REPAIRED_ATTENTION, broken_attention, "✓✗✗✗✗")


def test_the_broken_code_trains_anyway():
    generator = torch.Generator().manual_seed(0)
    query, key, value = (torch.randn(6, 4, generator=generator).requires_grad_() for _ in range(3))
    wanted = torch.randn(6, 4, generator=generator)
    exercise_cases.assert_trains(
        lambda: F.mse_loss(broken_attention(query, key, value)[0], wanted), query, key, value
    )


# --- right, in other words ---


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


ALL_PRODUCTS = exercise_cases.PRODUCTS | {
    "cosine": lambda query, key: (
        F.cosine_similarity(query.unsqueeze(-2), key.unsqueeze(-3), dim=-1)
        * query.norm(dim=-1).unsqueeze(-1)
        * key.norm(dim=-1).unsqueeze(-2)
    ),
    "one component at a time": lambda query, key: sum(
        query[..., i].unsqueeze(-1) * key[..., i].unsqueeze(-2) for i in range(query.shape[-1])
    ),
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


SCORES = {"solution": solved_scores, "attnlab": scores.scaled_dot} | combined(
    lambda product, scaling: partial(scaling, product), ALL_PRODUCTS, SCALINGS
)


def jacobian_entry_by_entry(p):
    size = p.shape[-1]
    result = p.new_zeros(*p.shape, size)
    for i, j in itertools.product(range(size), repeat=2):
        result[..., i, j] = p[..., i] * (float(i == j) - p[..., j])
    return result


FROM_PROBABILITIES = {
    "diag_embed": lambda p: torch.diag_embed(p) - p.unsqueeze(-1) * p.unsqueeze(-2),
    "eye": lambda p: p.unsqueeze(-1) * (torch.eye(p.shape[-1], dtype=p.dtype) - p.unsqueeze(-2)),
    "einsum": lambda p: torch.diag_embed(p) - torch.einsum("...i,...j->...ij", p, p),
    "@": lambda p: p.diag_embed() - p[..., :, None] @ p[..., None, :],
    "entry by entry": jacobian_entry_by_entry,
}  # fmt: skip


def jacobian_by(softmax, jacobian):
    return lambda scores: jacobian(softmax(scores))


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


JACOBIANS = combined(jacobian_by, exercise_cases.SOFTMAXES, FROM_PROBABILITIES) | {
    "solution": solved_jacobian,
    "autograd.grad": flat(by_autograd),
    "numpy": flat(by_numpy),
    "autograd.functional": flat(lambda row: torch.autograd.functional.jacobian(lambda x: x.softmax(-1), row)),
    "jacrev": flat(torch.func.jacrev(lambda x: x.softmax(-1))),
    "jacfwd": flat(torch.func.jacfwd(lambda x: x.softmax(-1))),
}
SPREADS = {
    "solution": solved_spread,
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


def fused_at_once(query, key, value):
    identity = torch.eye(key.shape[-2], dtype=key.dtype).expand(*key.shape[:-1], key.shape[-2])
    both = F.scaled_dot_product_attention(query, key, torch.cat([value, identity], dim=-1))
    return both.split([value.shape[-1], key.shape[-2]], dim=-1)


def transposed_throughout(query, key, value):
    weights = (key @ query.mT * query.shape[-1] ** -0.5).softmax(-2)
    return (value.mT @ weights).mT, weights.mT


def attention_by(product, softmax):
    return weighing_by(lambda query, key: softmax(product(query, key) / query.shape[-1] ** 0.5))


ATTENTION = (
    {"solution": solved_attention, "attnlab": attention.attend}
    | named(exercise_cases.fused, fused_at_once, transposed_throughout)
    | exercise_cases.in_other_words(solved_attention)
    | combined(attention_by, ALL_PRODUCTS, exercise_cases.SOFTMAXES)
)


@cases(
    (SCALED_SCORES, SCORES),
    (SOFTMAX_JACOBIAN, JACOBIANS),
    (SCORE_SPREAD, SPREADS),
    (REPAIRED_ATTENTION, ATTENTION),
)
def test_right_code_is_accepted(exercise, code):
    exercise_cases.assert_accepted(exercise, code)


# --- wrong, in ways that the catalogue does not hold ---

UNKNOWN_SCORES = exercise_cases.faults_of_scores(solved_scores) | {
    "last component dropped": lambda query, key: solved_scores(query[..., :-1], key[..., :-1]),
    "components reversed": lambda query, key: solved_scores(query, key.flip(-1)),
    "clamped": changed(solved_scores, lambda scores: scores.clamp(-0.5, 0.5)),
    "first head for all": changed(
        solved_scores,
        lambda scores: scores[..., :1, :, :].expand_as(scores) if scores.dim() > 3 else scores,
    ),
    "too few bits inside": changed(
        solved_scores, lambda scores: scores.to(torch.float8_e4m3fn).to(scores.dtype)
    ),
    "cube root": lambda query, key: query @ key.mT / query.shape[-1] ** (1 / 3),
    "added instead of multiplied": lambda query, key: query + key,
    "log of softmax": changed(solved_scores, lambda scores: scores.log_softmax(-1)),
    "softmax without scaling": lambda query, key: (query @ key.mT).softmax(-1),
    "multiplied and swapped": lambda query, key: key @ query.mT * query.shape[-1] ** 0.5,
}  # fmt: skip
UNKNOWN_JACOBIANS = {
    "halved": changed(solved_jacobian, lambda jacobian: jacobian / 2),
    "columns reversed": changed(solved_jacobian, lambda jacobian: jacobian.flip(-1)),
    "at a temperature": lambda scores: solved_jacobian(2 * scores),
    "squared": changed(solved_jacobian, lambda jacobian: jacobian @ jacobian),
    "absolute": changed(solved_jacobian, torch.abs),
    "of the sigmoid": lambda scores: torch.diag_embed(scores.sigmoid() * (1 - scores.sigmoid())),
    "outer product": lambda scores: scores.softmax(-1)[..., None] * scores.softmax(-1)[..., None, :],
    "norm": changed(solved_jacobian, lambda jacobian: jacobian.norm(dim=(-2, -1))),
    "clamped scores": lambda scores: solved_jacobian(scores.clamp(-1, 1)),
    "upper half": changed(solved_jacobian, torch.triu),
}  # fmt: skip
UNKNOWN_SPREADS = {
    "half": changed(solved_spread, lambda spread: spread / 2),
    "one degree of freedom less": lambda d_k, q, k: math.sqrt(d_k - 1) * q * k,
    "one more": lambda d_k, q, k: math.sqrt(d_k + 1) * q * k,
    "mean of the spreads": lambda d_k, q, k: math.sqrt(d_k) * (q + k) / 2,
    "zero": lambda d_k, q, k: 0.0,
    "always 8": lambda d_k, q, k: 8,
    "quotient": lambda d_k, q, k: math.sqrt(d_k) * q / k,
    "negative": changed(solved_spread, operator.neg),
    "rounded": changed(solved_spread, lambda spread: float(round(spread))),
    "not a number": lambda d_k, q, k: math.nan,
}  # fmt: skip


UNKNOWN_ATTENTION = exercise_cases.faults_of_trainable_attention(solved_attention) | {
    "keys for queries": lambda query, key, value: solved_attention(key, key, value),
    "weights before the softmax": lambda query, key, value: (
        solved_attention(query, key, value)[0],
        solved_scores(query, key),
    ),
    "cosine": lambda query, key, value: solved_attention(F.normalize(query, dim=-1), key, value),
}  # fmt: skip


@cases(
    (SCALED_SCORES, UNKNOWN_SCORES),
    (SOFTMAX_JACOBIAN, UNKNOWN_JACOBIANS),
    (SCORE_SPREAD, UNKNOWN_SPREADS),
    (REPAIRED_ATTENTION, UNKNOWN_ATTENTION),
)
def test_a_fault_that_no_catalogue_holds_is_rejected_and_given_no_wrong_name(exercise, code):
    exercise_cases.assert_rejected_without_a_name(exercise, code)
