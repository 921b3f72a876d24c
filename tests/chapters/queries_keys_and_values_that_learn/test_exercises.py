"""“Queries, keys and values that learn”: right ways, learners' mistakes, faults that no catalogue holds."""

import functools
import math

import exercise_cases
import pytest
import torch
from exercise_cases import combined, judged_as
from torch.nn import functional as F

from attnlab.runtime import generator
from chapters.queries_keys_and_values_that_learn.exercises import (
    check_narrow_pair,
    check_narrowest_heads,
    check_projection_shapes,
    check_repaired_roles,
    check_self_attention,
)

attention, narrowed, SHAPES = (
    check_self_attention.reference,
    check_narrow_pair.reference,
    check_projection_shapes.shapes,
)


def broken_attention(words, to_query, to_key, to_value):
    query = words @ to_query
    key = words @ to_query
    weights = (query @ key.mT).softmax(-1)
    return weights @ (words @ to_value), weights


def test_the_shapes_are_what_pytorch_says():
    words, to_query, to_key = torch.rand(8, 6, 18), torch.rand(18, 4), torch.rand(18, 4)
    to_value = torch.rand(18, 10, requires_grad=True)
    query, key, value = words @ to_query, words @ to_key, words @ to_value
    weights = (query @ key.mT).softmax(-1)
    (weights @ value).sum().backward()
    exercise_cases.assert_right_shapes(check_projection_shapes, locals())


def test_the_broken_code_fails_and_its_one_passing_case_is_the_clue():
    exercise_cases.assert_still_broken(check_repaired_roles, broken_attention, "✓✗✗✗✗✗✗")


def test_the_narrow_pair_is_the_nearest():
    """No small step from it, in either matrix, comes nearer."""
    to_query, to_key = torch.rand(2, 6, 4, generator=generator(0), dtype=torch.float64)
    pair = [matrix.clone().requires_grad_() for matrix in narrowed(to_query, to_key, 2)]
    missed = (pair[0] @ pair[1].mT - to_query @ to_key.mT).square().sum()
    for gradient in torch.autograd.grad(missed, pair):
        assert gradient.abs().max() < 1e-12
    # The two smallest singular values, squared, are what must be missed.
    assert missed.item() == pytest.approx(
        torch.linalg.svdvals(to_query @ to_key.mT)[2:4].square().sum().item()
    )


# --- right, in other words ---


def attention_by(product, softmax):
    def code(words, to_query, to_key, to_value):
        weights = softmax(product(words @ to_query, words @ to_key))
        return weights @ (words @ to_value), weights

    return code


def by_one_matrix(words, to_query, to_key, to_value):
    weights = (words @ (to_query @ to_key.mT) @ words.mT).softmax(-1)
    return weights @ words @ to_value, weights


def by_linear(words, to_query, to_key, to_value):
    query, key, value = (F.linear(words, each.mT) for each in (to_query, to_key, to_value))
    weights = (query @ key.mT).softmax(-1)
    return weights @ value, weights


def all_at_once(words, to_query, to_key, to_value):
    widths = [each.shape[-1] for each in (to_query, to_key, to_value)]
    query, key, value = (words @ torch.cat([to_query, to_key, to_value], -1)).split(widths, -1)
    return exercise_cases.fused(query, key, value, scale=1.0)


def word_by_word(words, to_query, to_key, to_value):
    key, value = words @ to_key, words @ to_value
    rows = [(key @ (words[..., [place], :] @ to_query).mT).mT.softmax(-1) for place in range(words.shape[-2])]
    weights = torch.cat(rows, -2)
    return weights @ value, weights


ATTENTIONS = combined(attention_by, exercise_cases.PRODUCTS, exercise_cases.SOFTMAXES) | exercise_cases.named(
    by_one_matrix, by_linear, all_at_once, word_by_word
)


def with_roots(to_query, to_key, width):
    left, sizes, right = torch.linalg.svd(to_query @ to_key.mT)
    roots = sizes[:width].sqrt()
    return left[:, :width] * roots, right[:width].mT * roots


def without_the_square(to_query, to_key, width):
    """From the two triangles alone: their product is d_k by d_k."""
    (query_axes, query_part), (key_axes, key_part) = torch.linalg.qr(to_query), torch.linalg.qr(to_key)
    left, sizes, right = torch.linalg.svd(query_part @ key_part.mT)
    return query_axes @ (left * sizes)[:, :width], key_axes @ right[:width].mT


def by_eigenvectors(to_query, to_key, width):
    product = to_query @ to_key.mT
    _, axes = torch.linalg.eigh(product.mT @ product)
    return product @ axes[:, -width:], axes[:, -width:]


def list_of_two(to_query, to_key, width):
    return list(with_roots(to_query, to_key, width))


def trained(d_k=2, steps=200, seed=0, last=True):
    """By gradient descent, as the exercise asks."""

    def train(words, chased):
        source = generator(seed)
        pair = [torch.rand(words.shape[-1], d_k, generator=source).sub(0.5) for _ in range(2)]
        sizes = [torch.zeros_like(matrix) for matrix in pair]
        for step in range(steps):
            some = slice(100 * (step % 20), 100 * (step % 20 + 1))
            tracked = [matrix.requires_grad_() for matrix in pair]
            query, key = (words[some] @ matrix for matrix in tracked)
            loss = F.cross_entropy((query @ key.mT).flatten(0, 1), chased[some].flatten())
            gradients = torch.autograd.grad(loss, tracked)
            # RMSprop by hand, since the first of PyTorch's optimizers takes seconds: it loads a compiler.
            sizes = [0.9 * size + 0.1 * slope**2 for size, slope in zip(sizes, gradients, strict=True)]
            pair = [
                (matrix - 0.05 * slope / (size.sqrt() + 1e-8)).detach()
                for matrix, slope, size in zip(tracked, gradients, sizes, strict=True)
            ]
        return tuple(pair)

    return train


def rotated(train):
    """The same scores from another pair."""

    def code(words, chased):
        turn = torch.tensor([[0.6, 0.8], [-0.8, 0.6]])
        to_query, to_key = train(words, chased)
        return to_query @ turn, to_key @ turn

    return code


RIGHT = {
    check_self_attention: ATTENTIONS,
    check_repaired_roles: ATTENTIONS,
    check_narrow_pair: exercise_cases.named(with_roots, without_the_square, by_eigenvectors, list_of_two),
    check_narrowest_heads: {
        "trained": trained(),
        "trained from elsewhere": trained(seed=1),
        "laid out by hand, and turned": rotated(check_narrowest_heads.reference),
        "in double precision": lambda words, chased: [
            matrix.double() for matrix in check_narrowest_heads.reference(words, chased)
        ],
        "as parameters": lambda words, chased: tuple(
            torch.nn.Parameter(matrix) for matrix in check_narrowest_heads.reference(words, chased)
        ),
    },
}

# --- as learners got it wrong ---

WRONG_ATTENTIONS = {
    "keys and queries swapped": lambda words, to_query, to_key, to_value: attention(
        words, to_key, to_query, to_value
    ),
    "values not projected": lambda words, to_query, to_key, to_value: (
        attention(words, to_query, to_key, to_value)[1] @ words,
        attention(words, to_query, to_key, to_value)[1],
    ),
    "keys mixed": lambda words, to_query, to_key, to_value: attention(words, to_query, to_key, to_key),
    "scaled": lambda words, to_query, to_key, to_value: attention(
        words, to_query / math.sqrt(to_query.shape[-1]), to_key, to_value
    ),
    "softmax over the queries": attention_by(
        exercise_cases.PRODUCTS["mT"], functools.partial(torch.softmax, dim=-2)
    ),
    "softmax over dim=1": attention_by(
        exercise_cases.PRODUCTS["mT"], functools.partial(torch.softmax, dim=1)
    ),
    "every axis turned": attention_by(
        lambda query, key: query @ key.permute(*range(key.dim())[::-1]), exercise_cases.SOFTMAXES["torch"]
    ),
    "results swapped": lambda *inputs: attention(*inputs)[::-1],
}


def with_pair(change):
    """What `change` makes of the three factors, as a pair."""

    def code(to_query, to_key, width):
        left, sizes, right = torch.linalg.svd(to_query @ to_key.mT, full_matrices=False)
        return change(left, sizes, right, width)

    return code


def longest_columns(to_query, to_key, width):
    lengths = to_query.square().sum(0) * to_key.square().sum(0)
    return to_query[:, lengths.topk(width).indices], to_key[:, lengths.topk(width).indices]


NAMED = {
    check_projection_shapes: {
        "batch forgotten": SHAPES | {"words @ to_query": (6, 4), "query @ key.mT": (6, 6)},
        "width kept": SHAPES | {"words @ to_query": (8, 6, 18)},
        "numbers where words should be": SHAPES | {"words @ words.mT": (8, 18, 18)},
        "one sum for each game": SHAPES | {"weights.sum(-1)": (8,)},
        "as wide as a key": SHAPES | {"weights @ value": (8, 6, 4)},
        "the narrow side": SHAPES | {"to_query @ to_key.mT": (4, 4)},
        "a matrix for each game": SHAPES | {"to_value.grad": (8, 18, 10)},
    },
    check_self_attention: WRONG_ATTENTIONS | {"one matrix for both": broken_attention},
    check_repaired_roles: WRONG_ATTENTIONS
    | {
        "the other matrix for both": lambda words, to_query, to_key, to_value: attention(
            words, to_key, to_key, to_value
        ),
        "the mean of both": lambda words, to_query, to_key, to_value: attention(
            words, (to_query + to_key) / 2, (to_query + to_key) / 2, to_value
        ),
        "nothing learned": lambda words, to_query, to_key, to_value: attention(
            words, torch.eye(words.shape[-1]).to(words), torch.eye(words.shape[-1]).to(words), to_value
        ),
    },
    check_narrow_pair: {
        "first columns": lambda to_query, to_key, width: (to_query[:, :width], to_key[:, :width]),
        "singular values lost": with_pair(
            lambda left, sizes, right, width: (left[:, :width], right[:width].mT)
        ),
        "roots on one side": with_pair(
            lambda left, sizes, right, width: (left[:, :width] * sizes[:width].sqrt(), right[:width].mT)
        ),
        "longest columns": longest_columns,
        "singular values twice": with_pair(
            lambda left, sizes, right, width: (
                left[:, :width] * sizes[:width],
                right[:width].mT * sizes[:width],
            )
        ),
        "smallest kept": with_pair(
            lambda left, sizes, right, width: (left[:, -width:] * sizes[-width:], right[-width:].mT)
        ),
        "to_query and to_key swapped": lambda to_query, to_key, width: narrowed(to_query, to_key, width)[
            ::-1
        ],
        "Vh for V": with_pair(
            lambda left, sizes, right, width: (left[:, :width] * sizes[:width], right[:, :width])
        ),
    },
    check_narrowest_heads: {
        "one column": trained(d_k=1),
        "more than needed": trained(d_k=6),
        "trained too little": trained(steps=15),
        "finds the chaser": lambda words, chased: trained()(words, chased)[::-1],
        "one matrix for both": lambda words, chased: trained()(words, chased)[1:] * 2,
        "not trained": lambda words, chased: (torch.zeros(words.shape[-1], 2),) * 2,
        "wide and trained too little": trained(d_k=6, steps=2),
    },
}

# --- wrong, in ways that the catalogue does not hold ---


def reweighted(change):
    def code(words, to_query, to_key, to_value):
        weights = change(attention(words, to_query, to_key, to_value)[1])
        return weights @ (words @ to_value), weights

    return code


FAULTS = {name: reweighted(change) for name, change in exercise_cases.WEIGHT_CHANGES.items()} | {
    "output alone": lambda *inputs: attention(*inputs)[0],
    "last word forgotten": lambda words, *matrices: attention(words[..., :-1, :], *matrices),
    "matrices halved": lambda words, *matrices: attention(words, *(each / 2 for each in matrices)),
    "one added": lambda words, to_query, to_key, to_value: attention(words, to_query + 1, to_key, to_value),
    "weights detached": lambda *inputs: (attention(*inputs)[0], attention(*inputs)[1].detach()),
}
UNKNOWN = {
    check_self_attention: FAULTS,
    check_repaired_roles: FAULTS,
    check_narrow_pair: {
        "the whole pair": lambda to_query, to_key, width: (to_query, to_key),
        "the product": lambda to_query, to_key, width: to_query @ to_key.mT,
        "zeros": lambda to_query, to_key, width: (
            torch.zeros_like(to_query[:, :width]),
            torch.zeros_like(to_key[:, :width]),
        ),
        "one hundredth too large": lambda to_query, to_key, width: (
            narrowed(to_query, to_key, width)[0] * 1.01,
            narrowed(to_query, to_key, width)[1],
        ),
    },
    check_narrowest_heads: {
        "turned on their side": lambda words, chased: tuple(
            matrix.mT for matrix in check_narrowest_heads.reference(words, chased)
        ),
        "one matrix": lambda words, chased: check_narrowest_heads.reference(words, chased)[0],
        "in words": lambda words, chased: "two columns",
        "right for six animals alone": lambda words, chased: (
            check_narrowest_heads.reference(words, chased)
            if words.shape[-1] == 18
            else (torch.zeros(words.shape[-1], 2),) * 2
        ),
    },
}

test_right_code_is_accepted, test_a_learners_mistake_is_named, test_an_unknown_fault_is_rejected = judged_as(
    RIGHT, NAMED, UNKNOWN
)
