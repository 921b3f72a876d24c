"""Right answers to the exercises, in other words than the book's: each must be accepted."""

import torch
from torch.nn import functional as F

from attnlab.runtime import generator
from bookkit.other_words import PRODUCTS, SOFTMAXES, combined, fused, named
from chapters.queries_keys_and_values_that_learn.exercises import (
    check_narrow_pair,
    check_narrowest_heads,
    check_repaired_roles,
    check_self_attention,
)

# --- shared ---


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
    return fused(query, key, value, scale=1.0)


def word_by_word(words, to_query, to_key, to_value):
    key, value = words @ to_key, words @ to_value
    rows = [(key @ (words[..., [place], :] @ to_query).mT).mT.softmax(-1) for place in range(words.shape[-2])]
    weights = torch.cat(rows, -2)
    return weights @ value, weights


ATTENTIONS = combined(attention_by, PRODUCTS, SOFTMAXES) | named(
    by_one_matrix, by_linear, all_at_once, word_by_word
)


# --- narrow_pair ---


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


# --- narrowest_heads ---


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


ACCEPTED = {
    check_self_attention: ATTENTIONS,
    check_repaired_roles: ATTENTIONS,
    check_narrow_pair: named(with_roots, without_the_square, by_eigenvectors, list_of_two),
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
