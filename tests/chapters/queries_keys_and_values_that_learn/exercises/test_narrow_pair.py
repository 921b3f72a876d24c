"""The exercise `narrow_pair`, tried as readers would."""

import exercise_cases
import pytest
import torch
from exercise_cases import judged_as

from attnlab.runtime import generator
from chapters.queries_keys_and_values_that_learn.exercises import (
    check_narrow_pair,
)

narrowed = check_narrow_pair.reference


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


def with_pair(change):
    """What `change` makes of the three factors, as a pair."""

    def code(to_query, to_key, width):
        left, sizes, right = torch.linalg.svd(to_query @ to_key.mT, full_matrices=False)
        return change(left, sizes, right, width)

    return code


def longest_columns(to_query, to_key, width):
    lengths = to_query.square().sum(0) * to_key.square().sum(0)
    return to_query[:, lengths.topk(width).indices], to_key[:, lengths.topk(width).indices]


RIGHT = {
    check_narrow_pair: exercise_cases.named(with_roots, without_the_square, by_eigenvectors, list_of_two)
}


NAMED = {
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
    }
}


UNKNOWN = {
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
    }
}


test_right_code_is_accepted, test_a_learners_mistake_is_named, test_an_unknown_fault_is_rejected = judged_as(
    RIGHT, NAMED, UNKNOWN
)
