"""Mistakes of a causal mask: scores -> weights, where a query sees itself and what came before."""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from attnlab.shapes import Mask, Scores, Weights
from bookkit.checking.mistakes import Mistakes
from bookkit.checking.mistakes.weighing import softmax


def visible(scores: Scores, change: Callable[[Tensor], Tensor] = torch.tril) -> Mask:
    """`visible(scores)` is the mask that `change` makes of a square of ones.

    Where queries are fewer than keys, these are its last rows.
    """
    n, m = scores.shape[-2:]
    return change(torch.ones(m, m, device="cpu"))[m - n :].bool()


def under(mask: Mask, scores: Scores, value: float = -math.inf) -> Weights:
    """`under(mask, scores)` are the weights where what is hidden gets the score -inf."""
    return softmax(scores.masked_fill(~mask, value))


def causal_weights(scores: Scores) -> Weights:
    """`causal_weights(scores)` is the right way."""
    return under(visible(scores), scores)


def under_another(
    change: Callable[[Tensor], Tensor], value: float = -math.inf
) -> Callable[[Scores], Weights]:
    """`under_another(torch.triu)` weighs under another mask than tril."""
    return lambda scores: under(visible(scores, change), scores, value)


def lowered(scores: Scores) -> Scores:
    """`lowered(scores)` are so low where hidden that no weight is left, and no row is NaN."""
    return scores.masked_fill(~visible(scores), -1e9)


CAUSAL: Mistakes = {
    "no mask": (
        "There is no causal mask: each word sees those that it should predict.",
        softmax,
    ),
    "one word too many": (
        "The mask is off by one: each word sees the next, which it should predict.",
        under_another(lambda ones: ones.tril(1)),
    ),
    "not itself": (
        "The mask is off by one: a word does not see itself, and the first sees nothing, which is 0 / 0.",
        under_another(lambda ones: ones.tril(-1)),
    ),
    "mask turned": (
        "The mask is turned on its side: each word sees itself and what comes after.",
        under_another(torch.triu),
    ),
    "mask reversed": (
        "The mask is reversed: what may be seen is hidden, and what comes after is seen.",
        under_another(lambda ones: 1 - ones.tril()),
    ),
    "mask reversed, in one call": (
        "The mask is reversed. F.scaled_dot_product_attention wants True where a word may be seen, and "
        "nn.MultiheadAttention where it may not.",
        lambda scores: under_another(lambda ones: 1 - ones.tril())(scores).nan_to_num(),
    ),
    "mask times -inf": (
        "The mask is multiplied by -inf, and 0 times -inf is NaN. masked_fill puts -inf where it belongs.",
        lambda scores: scores * math.nan,
    ),
    "hidden after the softmax": (
        "What is hidden is set to 0 after the softmax, so that weights no longer sum to 1. Give it the score "
        "-inf before.",
        lambda scores: softmax(scores) * visible(scores),
    ),
    "hidden scores 0": (
        "What is hidden gets the score 0, which is a score like any other. Give it -inf.",
        under_another(torch.tril, value=0),
    ),
    "mask added": (
        "The mask is added to the scores: True counts as 1, which favours a word a little and hides none.",
        lambda scores: softmax(scores + visible(scores)),
    ),
    "softmax twice": (
        "The softmax is applied twice, so that every weight comes out much like the next, hidden or not.",
        lambda scores: softmax(causal_weights(scores)),
    ),
    "softmax over the queries": (
        "The softmax runs over the queries, dim=-2. Each query shares its weight out over the keys: dim=-1.",
        lambda scores: lowered(scores).softmax(-2),
    ),
    "softmax over the heads": (
        "The softmax runs over the heads, dim=1. Each head shares its weight out over the keys: dim=-1.",
        lambda scores: lowered(scores).softmax(1),
    ),
    "softmax over the batch": (
        "The softmax runs over the batch, dim=0. Each query shares its weight out over the keys: dim=-1.",
        lambda scores: lowered(scores).softmax(0),
    ),
    "no softmax": (
        "The softmax is missing: these weights are the scores themselves.",
        lambda scores: scores * visible(scores),
    ),
}
