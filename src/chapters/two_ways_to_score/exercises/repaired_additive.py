"""Repair an additive attention whose softmax runs over the wrong axis."""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from attnlab.scores import additive
from attnlab.shapes import Keys, Queries, Scores, Values, Weights
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.inputs import exact
from bookkit.checking.mistakes import but, in_parts, mixed, swapped
from bookkit.checking.mistakes.weighing import WEIGHING, softmax
from chapters.two_ways_to_score.exercises.additive_in_parts import _scores, _sized


def _large(seed: int, *shapes: tuple[int, ...]) -> list[Tensor]:
    """Drawn inputs with scores in the thousands; in float64, since rounding grows with them."""
    *others, vector = _sized(seed, *shapes, dtype=torch.float64)
    return [*others, 4096 * vector]


def _attend(
    query: Queries,
    key: Keys,
    value: Values,
    *weights: Tensor,
    score: Callable[..., Scores] = _scores,
    weigh: Callable[..., Weights] = softmax,
) -> tuple[Tensor, Weights]:
    return mixed(weigh(score(query, key, *weights)), value)


check_repaired_additive = Exercise(
    "repaired_additive",
    difficulty=3,
    minutes=10,
    takes=("query", "key", "value", "query_weight", "key_weight", "vector"),
    returns=("output", "weights"),
    reference=_attend,
    cases=(
        # The broken code passes the first of these, which is the clue: its scores are [[a, b], [b, a]].
        Case(
            "right for two queries and two keys that mirror each other",
            exact([1, 0], [0, 1]),
            exact([1, 0], [0, 1]),
            exact([1, 2, 3], [0, -1, 2]),
            exact([1, 0], [0, 1]),
            exact([1, 0], [0, 1]),
            torch.ones(2),
        ),
        Case(
            "right for four queries and four keys", *_sized(31, (4, 3), (4, 2), (4, 6), (5, 3), (5, 2), (5,))
        ),
        Case("right for more keys than queries", *_sized(37, (3, 5), (7, 2), (7, 6), (4, 5), (4, 2), (4,))),
        Case(
            "right with two more axes in front",
            *_sized(43, (2, 3, 5, 7), (2, 3, 6, 4), (2, 3, 6, 8), (9, 7), (9, 4), (9,)),
        ),
        Case("right for large scores", *_large(55, (3, 5), (4, 2), (4, 6), (6, 5), (6, 2), (6,))),
        Case(
            "right in float64",
            *_sized(49, (4, 3, 8), (4, 6, 5), (4, 6, 2), (7, 8), (7, 5), (7,), dtype=torch.float64),
        ),
    ),
    mistakes=in_parts(
        _attend,
        weigh={
            "still broken": (
                "The fault that it came with is still there. Add up each query's weights: do they come to 1? "
                "Then say of each axis of `scores` what it counts.",
                lambda scores: scores.softmax(-2),
            ),
            "dim=0 of the turned scores": (
                "The softmax runs over dim=0 of scores whose rows are the keys. Those are the keys of a "
                "single matrix only: with a batch in front the axes shift. Count from the end.",
                lambda scores: scores.mT.softmax(0).mT,
            ),
            "dim=1 of the turned scores": (
                "The softmax runs over dim=1 of scores whose rows are the keys: the queries, or with a batch "
                "in front whatever comes next. Count from the end.",
                lambda scores: scores.mT.softmax(1).mT,
            ),
            "reshaped": (
                "The scores are reshaped where they should be turned: reshape leaves the numbers in their "
                "order, so they land in other places.",
                lambda scores: scores.mT.reshape(scores.shape).softmax(-1),
            ),
        }
        | but(WEIGHING, "softmax over the queries"),
        score={
            "scaled": (
                "Now the scores are divided by the root of the number of hidden units as well. The additive "
                "score has no divisor.",
                lambda *inputs: additive(*inputs) / math.sqrt(len(inputs[-1])),
            ),
            "query and key swapped": (
                "The query meets the key's matrix, and the key the query's. Each has one of its own, as wide "
                "as it is.",
                lambda query, key, *weights: _scores(key, query, *weights).mT,
            ),
        },
    )
    | swapped(_attend, "output", "weights"),
)
