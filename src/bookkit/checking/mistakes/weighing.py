"""Mistakes of attention itself: how queries meet keys, what divides the scores, how they become weights."""

import math

import torch
from torch import Tensor
from torch.nn import functional as F

from attnlab.shapes import Queries, Scores, Weights
from bookkit.checking.mistakes import Mistakes

# --- how queries meet keys: (query, key) -> scores ------------------------------------------------

PRODUCTS: Mistakes = {
    "every axis turned": (
        "Right for single matrices; but with a batch in front, key.T turns the batch axes as well. "
        "key.transpose(-2, -1) swaps just the last two.",
        lambda query, key: query @ key.permute(*range(key.dim())[::-1]),
    ),
    "first axes turned": (
        "Right for single matrices; but transpose(0, 1) swaps the first two axes, which with a batch in "
        "front are not the ones you mean. Count from the end: transpose(-2, -1).",
        lambda query, key: query @ key.transpose(0, 1),
    ),
    "inner axes turned": (
        "Right for a batch of matrices; but transpose(1, 2) counts from the front. A single matrix has no "
        "axis 2, and behind two axes in front they are others. Count from the end: transpose(-2, -1).",
        lambda query, key: query @ key.transpose(1, 2),
    ),
    "not transposed": (
        "The key must be turned before `@`: (n, d_k) times (d_k, m). key.transpose(-2, -1) does it.",
        lambda query, key: query @ key,
    ),
    "reshaped": (
        "The key is reshaped where it should be turned. reshape reads the same numbers in the same order, so "
        "they land in other places; key.transpose(-2, -1) moves them.",
        lambda query, key: query @ key.reshape(*key.shape[:-2], key.shape[-1], key.shape[-2]),
    ),
    "element by element": (
        "`*` multiplies element by element. For every query with every key, it takes a matrix product: `@`.",
        lambda query, key: query * key,
    ),
    "cosine": (
        "You divide by the lengths of the vectors, which gives their cosine. No score here asks for that.",
        lambda query, key: F.normalize(query, dim=-1) @ F.normalize(key, dim=-1).mT,
    ),
}

# --- what is made of the right scores: scores -> answer -------------------------------------------

SCORES: Mistakes = {
    "query and key swapped": (
        "These are the right scores, turned on their side: row i, column j must hold query i and key j.",
        lambda scores: scores.mT,
    ),
    "softmax as well": (
        "These are the attention weights: softmax of the scores. Return the scores before the softmax.",
        lambda scores: scores.softmax(-1),
    ),
    "summed over the keys": (
        "There is one number for each query where there should be one for each query and key: a sum over the "
        "keys too many.",
        lambda scores: scores.sum(-1),
    ),
    "zeros": (
        "These are all zeros, of the right shape. Is the product computed at all?",
        torch.zeros_like,
    ),
}

# --- what scores are divided by: (query, key) -> divisor, where √d_k is right ------------------------


def _heads(query: Queries) -> int:
    return query.shape[-3] if query.dim() > 3 else 1


DIVISORS: Mistakes = {
    "not scaled": (
        "The scores are the plain products q·k. What is left to do is the division by √d_k.",
        lambda query, key: 1,
    ),
    "multiplied": (
        "The scores are the products q·k times √d_k: did you multiply where you meant to divide?",
        lambda query, key: 1 / math.sqrt(query.shape[-1]),
    ),
    "divided by d_k": (
        "The products are divided by d_k itself, not by its root (dividing the query by √d_k and the key by "
        "√d_k as well comes to the same).",
        lambda query, key: query.shape[-1],
    ),
    "divided by d_k squared": (
        "The products are divided by d_k²: a square where you meant the square root?",
        lambda query, key: query.shape[-1] ** 2,
    ),
    "fourth root": (
        "The products are divided by the fourth root of d_k: if you meant to share the scaling between query "
        "and key, only one of them got its part.",
        lambda query, key: query.shape[-1] ** 0.25,
    ),
    "root of the queries": (
        "You divide by the root of the number of queries, query.shape[-2]. d_k is the length of one vector, "
        "the last axis.",
        lambda query, key: math.sqrt(query.shape[-2]),
    ),
    "root of the keys": (
        "You divide by the root of the number of keys, key.shape[-2]. d_k is the length of one vector, the "
        "last axis.",
        lambda query, key: math.sqrt(key.shape[-2]),
    ),
    "root of the first axis": (
        "You divide by the root of shape[0], which is the batch as soon as there is one. d_k is the last "
        "axis, shape[-1].",
        lambda query, key: math.sqrt(query.shape[0]),
    ),
    "root of the second axis": (
        "You divide by the root of shape[1]. That is d_k for a single matrix only: with a batch in front the "
        "axes shift. Count from the end: shape[-1].",
        lambda query, key: math.sqrt(query.shape[1]),
    ),
    "root of d_model": (
        "You divide by the root of d_model, the width of all heads together. Each product runs over one "
        "head's d_k numbers, so that is what it grows with.",
        lambda query, key: math.sqrt(query.shape[-1] * _heads(query)),
    ),
    "root of every element": (
        "You divide by the root of query.numel(), the number of all elements. d_k is the length of one "
        "vector, the last axis.",
        lambda query, key: math.sqrt(query.numel()),
    ),
    "root of d_k + 1": (
        "You divide by the root of d_k + 1: one too many.",
        lambda query, key: math.sqrt(query.shape[-1] + 1),
    ),
    "rounded root": (
        "You divide by √d_k without its decimals. `//`, `int` and `math.isqrt` round down.",
        lambda query, key: math.isqrt(query.shape[-1]),
    ),
    "8 for every width": (
        "You divide by 8, the root of 64, whatever the width. Read d_k off the query: query.shape[-1].",
        lambda query, key: 8,
    ),
}

# --- how scores become weights: scores -> weights -------------------------------------------------


def softmax(scores: Scores) -> Weights:
    """`softmax(scores)` is the right way to weigh."""
    return scores.softmax(-1)


def _powers(scores: Scores) -> Tensor:
    return (scores - scores.amax(-1, keepdim=True)).exp()


def _shares(powers: Tensor) -> Weights:
    return powers / powers.sum(-1, keepdim=True)


WEIGHING: Mistakes = {
    "softmax over the queries": (
        "The softmax runs over the queries, dim=-2. Each query shares its weight out over the keys: dim=-1.",
        lambda scores: scores.softmax(-2),
    ),
    "softmax over dim=0": (
        "The softmax runs over dim=0, which holds the queries or, where there is one, the batch. The keys "
        "are dim=-1.",
        lambda scores: scores.softmax(0),
    ),
    "softmax over dim=1": (
        "The softmax runs over dim=1. Those are the keys of a single matrix only: with a batch in front the "
        "axes shift. Count from the end: dim=-1.",
        lambda scores: scores.softmax(1),
    ),
    "one softmax for all": (
        "All the weights together sum to 1. There is one softmax for each query.",
        lambda scores: scores.flatten(-2).softmax(-1).view_as(scores),
    ),
    "softmax over queries, then keys": (
        "The softmax over the keys is there, but one over the queries comes before it.",
        lambda scores: scores.softmax(-2).softmax(-1),
    ),
    "softmax over keys, then queries": (
        "A softmax over the queries comes after the one over the keys, and undoes its sums.",
        lambda scores: scores.softmax(-1).softmax(-2),
    ),
    "rows divided by their sum": (
        "The softmax runs over the queries, and the rows are then divided by their sums. They add up to 1 "
        "again, but are not the softmax of the scores.",
        lambda scores: _shares(scores.softmax(-2)),
    ),
    "softmax twice": (
        "The softmax is applied twice, so that every weight comes out much like the next.",
        lambda scores: scores.softmax(-1).softmax(-1),
    ),
    "softmax of exp": (
        "You take exp and then softmax, which takes exp once more. One of them is enough.",
        lambda scores: scores.exp().softmax(-1),
    ),
    "no softmax": (
        "The softmax is missing: these weights are the scores themselves.",
        lambda scores: scores,
    ),
    "no exponential": (
        "You divide each score by the sum of the scores. Scores may be negative and may cancel: take exp of "
        "them first.",
        _shares,
    ),
    "not normalised": (
        "You take exp of the scores, and leave out the division by their sum.",
        lambda scores: scores.exp(),
    ),
    "overflow": (
        "Right, but for large scores: there exp is infinite or 0, and inf / inf or 0 / 0 is NaN. Take each "
        "row's largest score away first, or let torch.softmax do it.",
        lambda scores: _shares(scores.exp()),
    ),
    "one maximum for all": (
        "The largest score of all is taken away from every row. In a row far below it every exp is 0, and 0 "
        "/ 0 is NaN: take each row's own largest score away.",
        lambda scores: _shares((scores - scores.max()).exp()),
    ),
    "sum without keepdim": (
        "The sum of each row lies down: without keepdim=True its numbers line up with the columns, and each "
        "weight is divided by another row's sum, or none.",
        lambda scores: _powers(scores) / _powers(scores).sum(-1),
    ),
    "sigmoid": (
        "Sigmoid in place of softmax: each weight lies between 0 and 1, but a row does not sum to 1.",
        lambda scores: scores.sigmoid(),
    ),
    "hard": (
        "This is the hard look-up: one key gets everything. In a soft one each key gets its share.",
        lambda scores: F.one_hot(scores.argmax(-1), scores.shape[-1]).to(scores.dtype),
    ),
    "plain mean": (
        "This is the mean of all values: the query plays no part.",
        lambda scores: torch.full_like(scores, 1 / scores.shape[-1]),
    ),
    "weights turned": (
        "The softmax is right, and then its weights are turned on their side: (…, m, n) in place of (…, n, "
        "m).",
        lambda scores: scores.softmax(-1).mT,
    ),
}

# --- what may not be seen: (scores, shown) -> weights, with `shown` true where a key may be seen ---

HIDING: Mistakes = {
    "no mask": (
        "The mask is gone, and with it the padding is seen again.",
        lambda scores, shown: scores.softmax(-1),
    ),
    "reversed": (
        "The mask is turned round: the padding is seen and the text is hidden.",
        lambda scores, shown: scores.masked_fill(shown, -math.inf).softmax(-1),
    ),
    "hidden after the softmax": (
        "The padding is set to 0 after the softmax, so that the weights no longer sum to 1.",
        lambda scores, shown: scores.softmax(-1) * shown,
    ),
    "score 0": (
        "The padding gets the score 0, not -inf. 0 is a score like any other: e^0 = 1 is a good share.",
        lambda scores, shown: (scores * shown).softmax(-1),
    ),
    "filled with 0": (
        "The weights of the padding come out as 0, but so do all the others: the softmax got lost.",
        lambda scores, shown: scores.masked_fill(~shown, 0),
    ),
    "softmax over the queries": (
        "The softmax runs over the queries, dim=-2. The mask is right; the weights of each query must sum to "
        "1.",
        lambda scores, shown: scores.masked_fill(~shown, -math.inf).softmax(-2).nan_to_num(),
    ),
}
