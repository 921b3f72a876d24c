"""Right answers to the exercises, in other words than the book's: each must be accepted."""

import functools
import itertools
import math

import numpy as np
import torch
from torch.nn import functional as F

from bookkit.other_words import (
    PRODUCTS,
    SOFTMAXES,
    changed,
    combined,
    fused,
    in_other_words,
    named,
    weighing_by,
)
from chapters.why_divide_by_root_dk.exercises import (
    check_attention_shapes,
    check_repaired_attention,
    check_scaled_scores,
    check_score_spread,
    check_softmax_jacobian,
    check_start_without_divisor,
)

# --- shared ---


softmax = functools.partial(torch.softmax, dim=-1)


def filled_dot(query, key):
    result = torch.empty(*query.shape[:-1], key.shape[-2], dtype=query.dtype)
    for j in range(key.shape[-2]):
        result[..., j] = (query * key[..., j : j + 1, :]).sum(-1)
    return result


ALL_PRODUCTS = PRODUCTS | {
    "cosine": lambda query, key: (
        F.cosine_similarity(query.unsqueeze(-2), key.unsqueeze(-3), dim=-1)
        * query.norm(dim=-1).unsqueeze(-1)
        * key.norm(dim=-1).unsqueeze(-2)
    ),
    "filled in": filled_dot,
}


# --- scaled_scores ---


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


# --- attention_shapes ---


SHAPES = check_attention_shapes.shapes


# --- score_spread ---


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


# --- repaired_attention ---


attention = check_repaired_attention.reference


def fused_at_once(query, key, value):
    identity = torch.eye(key.shape[-2], dtype=key.dtype).expand(*key.shape[:-1], key.shape[-2])
    both = F.scaled_dot_product_attention(query, key, torch.cat([value, identity], dim=-1))
    return both.split([value.shape[-1], key.shape[-2]], dim=-1)


def transposed_throughout(query, key, value):
    weights = (key @ query.mT * query.shape[-1] ** -0.5).softmax(-2)
    return (value.mT @ weights).mT, weights.mT


def attention_by(product, softmax):
    return weighing_by(lambda query, key: softmax(product(query, key) / query.shape[-1] ** 0.5))


# --- softmax_jacobian ---


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


JACOBIANS = combined(changed, SOFTMAXES, FROM_PROBABILITIES) | {
    "autograd.grad": flat(by_autograd),
    "vmap of jacrev": lambda scores: (
        torch.func.vmap(torch.func.jacrev(softmax))(scores.reshape(-1, scores.shape[-1]))
    ).view(*scores.shape, scores.shape[-1]),
}


# --- start_without_divisor ---


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
ACCEPTED = {
    check_scaled_scores: combined(
        lambda product, scaling: functools.partial(scaling, product), ALL_PRODUCTS, SCALINGS
    ),
    check_attention_shapes: {
        "lists": {expression: list(shape) for expression, shape in SHAPES.items()},
        "torch.Size, in another order": {name: torch.Size(SHAPES[name]) for name in reversed(SHAPES)},
        "a function": lambda: dict(SHAPES),
    },
    check_score_spread: SPREADS,
    check_repaired_attention: combined(attention_by, ALL_PRODUCTS, SOFTMAXES)
    | in_other_words(attention)
    | named(fused, fused_at_once, transposed_throughout),
    check_softmax_jacobian: JACOBIANS,
    check_start_without_divisor: STARTS,
}
