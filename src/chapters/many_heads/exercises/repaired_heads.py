"""Repair an attention in heads that is right with one head."""

import math
from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from attnlab.shapes import Scores, Weights
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.inputs import draw
from bookkit.checking.mistakes import Part, but, in_parts
from bookkit.checking.mistakes.heads import SPLITTING
from bookkit.checking.mistakes.weighing import softmax
from chapters.many_heads.exercises.heads import _join, _split


def _in_heads(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    heads: int,
    *,
    split: Part = _split,
    divisor: Part = lambda query, key: math.sqrt(query.shape[-1]),
    weigh: Callable[[Scores], Weights] = softmax,
    join: Part = _join,
) -> Tensor:
    """Attention in heads, without matrices, in parts that can be mistaken."""
    query, key, value = (split(x, heads) for x in (query, key, value))
    return join(weigh(query @ key.mT / divisor(query, key)) @ value)  # type: ignore[no-any-return]


def _dealt_out(x: Tensor, heads: int) -> Tensor:
    return x.reshape(len(x), heads, -1, x.shape[-1] // heads)


def _read_in_order(x: Tensor) -> Tensor:
    return x.reshape(len(x), x.shape[2], -1)


check_repaired_heads = Exercise(
    "repaired_heads",
    difficulty=2,
    minutes=10,
    takes=("query", "key", "value", "heads"),
    returns=("output",),
    reference=_in_heads,
    cases=(
        Case("right for one head", *draw(21, (2, 3, 4), (2, 3, 4), (2, 3, 4)), 1),
        Case("right for two heads", *draw(24, (1, 3, 4), (1, 3, 4), (1, 3, 4)), 2),
        Case("right for more keys than queries", *draw(27, (2, 3, 6), (2, 5, 6), (2, 5, 6)), 2),
        Case("right for three heads", *draw(30, (2, 4, 12), (2, 4, 12), (2, 4, 12)), 3),
        Case("right in float64", *draw(33, *[(2, 5, 6)] * 3, dtype=torch.float64), 3),
    ),
    mistakes=in_parts(_in_heads, split=but(SPLITTING, "view without transpose", "not transposed"))
    | {
        "still broken": (
            "The fault that it came with is still there. With one head, what does `view` deal out, and to "
            "whom? And with two?",
            partial(_in_heads, split=_dealt_out, join=_read_in_order),
        ),
        "mended on the way in": (
            "The heads are cut rightly now. On the way out their answers still have to change places before "
            "they are joined.",
            partial(_in_heads, join=_read_in_order),
        ),
        "mended on the way out": (
            "The answers are joined rightly now. On the way in the words are still dealt out anew.",
            partial(_in_heads, split=_dealt_out),
        ),
        "numbers woven": (
            "The heads are cut rightly, and then their numbers alternate in the output.",
            partial(_in_heads, join=lambda x: x.permute(0, 2, 3, 1).flatten(2)),
        ),
        "root of d_model": (
            "The heads are right now, but the scores are divided by the root of d_model. Each product runs "
            "over d_k numbers.",
            partial(_in_heads, divisor=lambda query, key: math.sqrt(query.shape[-1] * query.shape[1])),
        ),
        "not scaled": (
            "The heads are right now, but the scores are no longer divided by the root of d_k.",
            partial(_in_heads, divisor=lambda query, key: 1),
        ),
        "one head": (
            "You attend in a single head, whatever `heads` says.",
            lambda query, key, value, heads: _in_heads(query, key, value, 1),
        ),
    },
)
