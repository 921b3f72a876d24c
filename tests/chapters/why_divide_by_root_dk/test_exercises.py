"""“Why divide by √dₖ?”: many right ways, learners' mistakes, and faults that no catalogue holds."""

import functools
import itertools
import math
import operator

import exercise_cases
import numpy as np
import torch
from exercise_cases import changed, combined, judged_as, named, weighing_by
from torch.nn import functional as F

from chapters.why_divide_by_root_dk.exercises import (
    check_attention_shapes,
    check_repaired_attention,
    check_scaled_scores,
    check_score_spread,
    check_softmax_jacobian,
    check_start_without_divisor,
)

scores_of, jacobian_of = check_scaled_scores.reference, check_softmax_jacobian.reference
spread_of, attention = check_score_spread.reference, check_repaired_attention.reference
SHAPES = check_attention_shapes.shapes


softmax = functools.partial(torch.softmax, dim=-1)


def scaled_by(divisor, weigh=softmax):
    return weighing_by(lambda query, key: weigh(query @ key.mT / divisor(query, key)))


broken_attention = scaled_by(lambda query, key: math.sqrt(key.shape[-2]))


def test_the_shapes_are_what_pytorch_says():
    query, key, value = torch.rand(8, 4, 50, 64), torch.rand(8, 4, 200, 64), torch.rand(8, 4, 200, 32)
    query.requires_grad_()
    scores = query @ key.mT / math.sqrt(64)
    weights = scores.softmax(-1)
    (weights @ value).sum().backward()
    names = {"query": query, "key": key, "value": value, "scores": scores, "weights": weights}
    names |= {"jacobian": torch.autograd.functional.jacobian, "one_row": scores[0, 0, 0], "softmax": softmax}
    exercise_cases.assert_right_shapes(check_attention_shapes, names)


def test_the_broken_code_fails_and_its_one_passing_case_is_the_clue():
    exercise_cases.assert_still_broken(check_repaired_attention, broken_attention, "✓✗✗✗✗✗")


def test_the_broken_code_trains_anyway():
    generator = torch.Generator().manual_seed(0)
    query, key, value = (torch.randn(6, 4, generator=generator).requires_grad_() for _ in range(3))
    wanted = torch.randn(6, 4, generator=generator)
    exercise_cases.assert_trains(
        lambda: F.mse_loss(broken_attention(query, key, value)[0], wanted), query, key, value
    )


# --- right, in other words ---


def filled_dot(query, key):
    result = torch.empty(*query.shape[:-1], key.shape[-2], dtype=query.dtype)
    for j in range(key.shape[-2]):
        result[..., j] = (query * key[..., j : j + 1, :]).sum(-1)
    return result


ALL_PRODUCTS = exercise_cases.PRODUCTS | {
    "cosine": lambda query, key: (
        F.cosine_similarity(query.unsqueeze(-2), key.unsqueeze(-3), dim=-1)
        * query.norm(dim=-1).unsqueeze(-1)
        * key.norm(dim=-1).unsqueeze(-2)
    ),
    "filled in": filled_dot,
}


def in_place_on_its_own(product, query, key):
    result = product(query, key)
    result /= math.sqrt(key.shape[-1])
    return result


SCALINGS = {
    "query divided first": lambda product, query, key: product(query / math.sqrt(query.shape[-1]), key),
    "key multiplied first": lambda product, query, key: product(query, key * key.shape[-1] ** -0.5),
    "shared out": lambda product, query, key: product(
        query / query.shape[-1] ** 0.25, key / key.shape[-1] ** 0.25
    ),
    "root of a tensor": lambda product, query, key: product(query, key) / torch.tensor(query.size(-1)).sqrt(),
    "in float64": lambda product, query, key: (
        product(query.double(), key.double()) / query.shape[-1] ** 0.5
    ).to(query.dtype),
    "in place on its own result": in_place_on_its_own,
}


def jacobian_entry_by_entry(p):
    size = p.shape[-1]
    result = p.new_zeros(*p.shape, size)
    for i, j in itertools.product(range(size), repeat=2):
        result[..., i, j] = p[..., i] * (float(i == j) - p[..., j])
    return result


FROM_PROBABILITIES = {
    "eye": lambda p: p.unsqueeze(-1) * (torch.eye(p.shape[-1], dtype=p.dtype) - p.unsqueeze(-2)),
    "einsum": lambda p: torch.diag_embed(p) - torch.einsum("...i,...j->...ij", p, p),
    "@": lambda p: p.diag_embed() - p[..., :, None] @ p[..., None, :],
    "entry by entry": jacobian_entry_by_entry,
}


def flat(one_row):
    def jacobian(scores):
        rows = [one_row(row) for row in scores.reshape(-1, scores.shape[-1])]
        return torch.stack(rows).view(*scores.shape, scores.shape[-1])

    return jacobian


def by_autograd(row):
    row = row.clone().requires_grad_()
    return torch.stack([torch.autograd.grad(p, row, retain_graph=True)[0] for p in row.softmax(-1)])


JACOBIANS = combined(changed, exercise_cases.SOFTMAXES, FROM_PROBABILITIES) | {
    "autograd.grad": flat(by_autograd),
    "vmap of jacrev": lambda scores: (
        torch.func.vmap(torch.func.jacrev(softmax))(scores.reshape(-1, scores.shape[-1]))
    ).view(*scores.shape, scores.shape[-1]),
}
SPREADS = {
    "root of the variance": lambda d_k, q, k: math.sqrt(d_k * q**2 * k**2),
    "sum of variances": lambda d_k, q, k: sum((q * k) ** 2 for _ in range(d_k)) ** 0.5,
    "tensor of one": lambda d_k, q, k: torch.tensor([d_k * q * q * k * k]).sqrt(),
    "float64 tensor": lambda d_k, q, k: torch.tensor(d_k, dtype=torch.float64).sqrt() * q * k,
    "numpy": lambda d_k, q, k: np.sqrt(d_k) * q * k,
    "float32 of numpy": lambda d_k, q, k: np.float32(math.sqrt(d_k) * q * k),
    "hypot": lambda d_k, q, k: math.hypot(*[q * k] * d_k),
    "exp of logs": lambda d_k, q, k: math.exp(0.5 * math.log(d_k) + math.log(q) + math.log(k)),
}


def fused_at_once(query, key, value):
    identity = torch.eye(key.shape[-2], dtype=key.dtype).expand(*key.shape[:-1], key.shape[-2])
    both = F.scaled_dot_product_attention(query, key, torch.cat([value, identity], dim=-1))
    return both.split([value.shape[-1], key.shape[-2]], dim=-1)


def transposed_throughout(query, key, value):
    weights = (key @ query.mT * query.shape[-1] ** -0.5).softmax(-2)
    return (value.mT @ weights).mT, weights.mT


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


def attention_by(product, softmax):
    return weighing_by(lambda query, key: softmax(product(query, key) / query.shape[-1] ** 0.5))


RIGHT = {
    check_scaled_scores: combined(
        lambda product, scaling: functools.partial(scaling, product), ALL_PRODUCTS, SCALINGS
    ),
    check_attention_shapes: {
        "lists": {expression: list(shape) for expression, shape in SHAPES.items()},
        "torch.Size, in another order": {name: torch.Size(SHAPES[name]) for name in reversed(SHAPES)},
        "a function": lambda: dict(SHAPES),
    },
    check_score_spread: SPREADS,
    check_repaired_attention: combined(attention_by, ALL_PRODUCTS, exercise_cases.SOFTMAXES)
    | exercise_cases.in_other_words(attention)
    | named(exercise_cases.fused, fused_at_once, transposed_throughout),
    check_softmax_jacobian: JACOBIANS,
    check_start_without_divisor: STARTS,
}

# --- as learners got it wrong ---


def key_reshaped(query, key):
    m, d_k = key.shape[-2:]
    return query @ key.reshape(*key.shape[:-2], d_k, m) / math.sqrt(d_k)


def divided_in_place(query, key):
    query /= math.sqrt(query.shape[-1])
    return query @ key.mT


NAMED = {
    check_scaled_scores: {
        "divided by d_k": lambda query, key: query @ key.mT / query.shape[-1],
        "root of the keys": lambda query, key: query @ key.mT / math.sqrt(key.shape[-2]),
        "reshaped": key_reshaped,
        "rounded root": lambda query, key: query @ key.mT / int(query.shape[-1] ** 0.5),
        "inner axes turned": lambda query, key: query @ key.transpose(1, 2) / math.sqrt(query.shape[-1]),
        "changes its inputs": divided_in_place,
        "query and key swapped": lambda query, key: key @ (query / query.shape[-1] ** 0.5).mT,
    },
    check_attention_shapes: {
        "a single number with an axis": SHAPES | {"scores.std()": (1,)},
        "axis kept": SHAPES | {"weights.sum(-1)": (8, 4, 50, 1)},
        "d_k for d_v": SHAPES | {"weights @ value": (8, 4, 50, 64)},
        "Jacobian as a vector": SHAPES | {"jacobian(softmax, one_row)": (200,)},
        "gradient of one number": SHAPES | {"query.grad": ()},
        "query and key swapped": SHAPES
        | {"query @ key.mT": (8, 4, 200, 50), "scores.softmax(-1)": (8, 4, 200, 50)}
        | {"weights.sum(-1)": (8, 4, 200)},
    },
    check_score_spread: {
        "the variance": lambda d_k, q, k: d_k * (q * k) ** 2,
        "d_k without its root": lambda d_k, q, k: sum(q * k for _ in range(d_k)),
        "root of the spreads": lambda d_k, q, k: math.sqrt(d_k * q * k),
        "variances averaged": lambda d_k, q, k: math.sqrt(d_k * (q**2 + k**2) / 2),
        "ignored input": lambda d_k, q, k: math.sqrt(d_k) * q**2,
        "no d_k": lambda d_k, q, k: q * k,
    },
    check_repaired_attention: {
        "not scaled": scaled_by(lambda query, key: 1),
        "root of d_v": lambda query, key, value: scaled_by(lambda *_: value.shape[-1] ** 0.5)(
            query, key, value
        ),
        "root of the queries": scaled_by(lambda query, key: math.sqrt(query.shape[-2])),
        "softmax over the queries": scaled_by(
            lambda query, key: math.sqrt(key.shape[-1]), functools.partial(torch.softmax, dim=-2)
        ),
        "both roots": scaled_by(lambda query, key: math.sqrt(key.shape[-1]) * math.sqrt(key.shape[-2])),
        "results swapped": lambda query, key, value: exercise_cases.fused(query, key, value)[::-1],
        "overflow": scaled_by(
            lambda query, key: math.sqrt(key.shape[-1]),
            lambda scores: scores.exp() / scores.exp().sum(-1, keepdim=True),
        ),
    },
    check_softmax_jacobian: {
        "only the diagonal": lambda scores: scores.softmax(-1) * (1 - scores.softmax(-1)),
        "no softmax": FROM_PROBABILITIES["einsum"],
        "p_i(1 - p_j) everywhere": lambda scores: (
            scores.softmax(-1)[..., :, None] @ (1 - scores.softmax(-1))[..., None, :]
        ),
        "softmax over dim=0": lambda scores: FROM_PROBABILITIES["@"](torch.softmax(scores, 0)),
        "every row by every row": torch.func.jacrev(softmax),
        "of log-softmax": lambda scores: (
            torch.eye(scores.shape[-1], dtype=scores.dtype) - scores.softmax(-1).unsqueeze(-2)
        ),
    },
    check_start_without_divisor: {
        "independent": lambda d_k, source: drawn_start(d_k, source).sign(),
        "small components": lambda d_k, source: tuple(drawn_start(d_k, source) / d_k**0.25),
        "tied": lambda d_k, source: [torch.eye(16, d_k) * math.sqrt(d_k)] * 2,
        "grows with the width": sharing(0.6),
        "grows slowly": sharing(0.3),
    },
}

# --- wrong, in ways that the catalogue does not hold ---

UNKNOWN = {
    check_start_without_divisor: {
        "one vector of each": lambda d_k, source: drawn_start(d_k, source)[:, 0],
        "a single tensor": lambda d_k, source: torch.randn(16, d_k, generator=source),
        "too many keys": lambda d_k, source: torch.randn(2, 32, d_k, generator=source),
        "made for one width": lambda d_k, source: torch.randn(2, 16, 64, generator=source),
    },
    check_scaled_scores: exercise_cases.faults_of_scores(scores_of)
    | {
        "last component dropped": lambda query, key: scores_of(query[..., :-1], key[..., :-1]),
        "components reversed": lambda query, key: scores_of(query, key.flip(-1)),
        "too few bits inside": changed(
            scores_of, lambda scores: scores.to(torch.float8_e4m3fn).to(scores.dtype)
        ),
        "cube root": lambda query, key: query @ key.mT / query.shape[-1] ** (1 / 3),
        "log of softmax": changed(scores_of, lambda scores: scores.log_softmax(-1)),
        "softmax without scaling": lambda query, key: (query @ key.mT).softmax(-1),
    },
    check_score_spread: {
        "half": changed(spread_of, lambda spread: spread / 2),
        "one degree of freedom less": lambda d_k, q, k: math.sqrt(d_k - 1) * q * k,
        "mean of the spreads": lambda d_k, q, k: math.sqrt(d_k) * (q + k) / 2,
        "zero": lambda d_k, q, k: 0.0,
        "always 8": lambda d_k, q, k: 8,
        "quotient": lambda d_k, q, k: math.sqrt(d_k) * q / k,
        "negative": changed(spread_of, operator.neg),
        "rounded": changed(spread_of, lambda spread: float(round(spread))),
        "not a number": lambda d_k, q, k: math.nan,
    },
    check_repaired_attention: exercise_cases.faults_of_trainable_attention(attention)
    | {
        "keys for queries": lambda query, key, value: attention(key, key, value),
        "weights before the softmax": lambda query, key, value: (
            attention(query, key, value)[0],
            scores_of(query, key),
        ),
        "cosine": lambda query, key, value: attention(F.normalize(query, dim=-1), key, value),
    },
    check_softmax_jacobian: {
        "halved": changed(jacobian_of, lambda jacobian: jacobian / 2),
        "columns reversed": changed(jacobian_of, lambda jacobian: jacobian.flip(-1)),
        "at a temperature": lambda scores: jacobian_of(2 * scores),
        "squared": changed(jacobian_of, lambda jacobian: jacobian @ jacobian),
        "absolute": changed(jacobian_of, torch.abs),
        "of the sigmoid": lambda scores: torch.diag_embed(scores.sigmoid() * (1 - scores.sigmoid())),
        "outer product": lambda scores: scores.softmax(-1)[..., None] * scores.softmax(-1)[..., None, :],
        "norm": changed(jacobian_of, lambda jacobian: jacobian.norm(dim=(-2, -1))),
        "clamped scores": lambda scores: jacobian_of(scores.clamp(-1, 1)),
        "upper half": changed(jacobian_of, torch.triu),
    },
}

test_right_code_is_accepted, test_a_learners_mistake_is_named, test_an_unknown_fault_is_rejected = judged_as(
    RIGHT, NAMED, UNKNOWN
)
