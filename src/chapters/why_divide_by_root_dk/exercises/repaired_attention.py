"""Repair an attention that divides by the wrong root."""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from attnlab.scores import dot
from attnlab.shapes import Keys, Queries, Scores, Values, Weights
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.inputs import draw, exact
from bookkit.checking.mistakes import but, in_parts, mixed, swapped
from bookkit.checking.mistakes.weighing import DIVISORS, PRODUCTS, WEIGHING, softmax
from chapters.why_divide_by_root_dk.exercises.scaled import _scaled


def _attention(
    query: Queries,
    key: Keys,
    value: Values,
    *,
    score: Callable[..., Scores] = _scaled,
    weigh: Callable[..., Weights] = softmax,
) -> tuple[Tensor, Weights]:
    return mixed(weigh(score(query, key)), value)


def _large() -> list[Tensor]:
    """Drawn inputs whose rows of scores lie thousands apart, and differ little within."""
    query, key, value = draw(35, (3, 6), (5, 6), (5, 4), dtype=torch.float64)
    # All keys agree in one component, and with it a query moves all of its scores alike.
    query[:, -1], key[:, -1] = torch.tensor([4096, 0, -4096], device="cpu"), 1
    return [query, key, value]


check_repaired_attention = Exercise(
    "repaired_attention",
    difficulty=2,
    minutes=10,
    takes=("query", "key", "value"),
    returns=("output", "weights"),
    reference=_attention,
    cases=(
        # The broken code passes the first of these, which is the clue.
        Case("right for 4 keys of width 4", *draw(21, (2, 4), (4, 4), (4, 3))),
        Case("right for 2 keys of width 4", exact([1, 2, 0, -1]), *draw(24, (2, 4), (2, 3))),
        Case("right for 9 keys of width 6", *draw(26, (5, 6), (9, 6), (9, 7))),
        Case("right for a batch with heads", *draw(29, (2, 3, 5, 8), (2, 3, 7, 8), (2, 3, 7, 6))),
        Case("right for large scores", *_large()),
        Case("right in float64", *draw(32, (4, 3, 10), (4, 6, 10), (4, 6, 5), dtype=torch.float64)),
    ),
    mistakes=in_parts(
        _attention,
        score=in_parts(
            _scaled,
            divisor={
                "still broken": (
                    "The fault that it came with is still there. The first case passes because one of its "
                    "sizes happens to be d_k: which one is it, and where does the code use it?",
                    lambda query, key: math.sqrt(key.shape[-2]),
                ),
                "both roots": (
                    "The root of d_k came beside the old divisor, not into its place: the number of keys "
                    "still counts.",
                    lambda query, key: math.sqrt(query.shape[-1] * key.shape[-2]),
                ),
            }
            | but(DIVISORS, "root of the keys"),
            compare=PRODUCTS,
        ),
        weigh=WEIGHING,
    )
    | {
        "root of d_v": (
            "Now the scores are divided by the root of value.shape[-1]. Values take no part in the scores.",
            lambda query, key, value: mixed(softmax(dot(query, key) / math.sqrt(value.shape[-1])), value),
        ),
        "divided after the softmax": (
            "You divide the weights by √d_k, after the softmax, so that they no longer sum to 1. Divide the "
            "scores, before it.",
            lambda query, key, value: mixed(softmax(dot(query, key)) / math.sqrt(query.shape[-1]), value),
        ),
    }
    | swapped(_attention, "output", "weights"),
)
