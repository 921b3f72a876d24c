"""Repair an attention whose padding mask lies on the wrong axis."""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from attnlab.scores import scaled_dot
from attnlab.shapes import Keys, Lengths, Queries, Scores, Values, Weights
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.inputs import draw, whole
from bookkit.checking.mistakes import Mistakes, Part, but, in_parts, mixed, swapped
from bookkit.checking.mistakes.weighing import HIDING, WEIGHING, softmax


def _hidden(scores: Scores, shown: Tensor, weigh: Callable[[Scores], Weights] = softmax) -> Weights:
    return weigh(scores.masked_fill(~shown, -math.inf))


def _masked(
    query: Queries,
    key: Keys,
    value: Values,
    lengths: Lengths,
    show: Part = lambda places, lengths: places < lengths[:, None],  # (batch, m)
    place: Part = lambda shown, heads: shown[:, None, None],  # (batch, 1, 1, m)
    hide: Part = _hidden,
) -> tuple[Tensor, Weights]:
    shown = place(show(torch.arange(key.shape[-2], device="cpu"), lengths), query.shape[1])
    return mixed(hide(scaled_dot(query, key), shown), value)


_SHOWN: Mistakes = {
    "one too many shown": (
        "One padded key is still seen: the last position of a text of length 3 is 2.",
        lambda places, lengths: places <= lengths[:, None],
    ),
    "one too few shown": (
        "The last token of each text is hidden, too.",
        lambda places, lengths: places < lengths[:, None] - 1,
    ),
    "first length for all": (
        "Every example is masked by the first one's length.",
        lambda places, lengths: places < lengths[:1, None],
    ),
    "longest for all": (
        "Every example is masked by the longest one's length.",
        lambda places, lengths: places < lengths.max().view(1, 1),
    ),
}


_PLACED: Mistakes = {
    "still broken": (
        "The mask's batch lies under the heads: (batch, 1, m) is read as (heads, n, m) of every example. "
        "It needs an axis of length 1 for the heads and one for the queries.",
        lambda shown, heads: shown.unsqueeze(1),
    ),
    "not unsqueezed": (
        "(batch, m) is taken for (n, m). It needs two axes of length 1, between the batch and the keys.",
        lambda shown, heads: shown,
    ),
    "on the queries": (
        "(batch, 1, n, 1) hides queries. It is the keys that must not be seen: (batch, 1, 1, m).",
        lambda shown, heads: shown[:, None, :, None],
    ),
    "on queries and keys": (
        "The mask hides queries as well as keys, and one that may see nothing is NaN. Hide the keys alone.",
        lambda shown, heads: shown[:, None, :, None] & shown[:, None, None],
    ),
    "tiled": (
        "repeat and view deal the masks out wrongly. An axis of length 1 for the heads needs no copies.",
        lambda shown, heads: shown.repeat(heads, 1).view(len(shown), heads, 1, -1),
    ),
}


def _reviews(seed: int, heads: int, queries: int, lengths: Lengths, keys: int) -> list[Tensor]:
    batch = len(lengths)
    return [
        *draw(seed, (batch, heads, queries, 4), (batch, heads, keys, 4), (batch, heads, keys, 3)),
        lengths,
    ]


_QUERY, *_OTHERS = draw(91, (2, 2, 3, 4), (2, 2, 5, 4), (2, 2, 5, 3), dtype=torch.float64)


check_padding_mask = Exercise(
    "padding_mask",
    difficulty=3,
    minutes=10,
    takes=("query", "key", "value", "lengths"),
    returns=("output", "weights"),
    reference=_masked,
    cases=(
        # The broken code passes the first of these, which is the clue; in the second it runs and is wrong.
        Case("right for 1 text and 2 heads", *_reviews(41, 2, 3, whole(3), 4)),
        Case("right for 2 texts and 2 heads", *_reviews(51, 2, 3, whole(4, 2), 4)),
        Case("right for 3 texts and 2 heads", *_reviews(61, 2, 5, whole(6, 1, 4), 6)),
        Case("right for 2 texts and 1 head", *_reviews(71, 1, 3, whole(2, 5), 5)),
        # In float64, since rounding grows with the scores.
        Case("right for large scores", 1024 * _QUERY, *_OTHERS, whole(3, 5)),
        Case("right for as many queries as texts", *_reviews(81, 2, 4, whole(4, 3, 2, 1), 4)),
    ),
    mistakes=in_parts(
        _masked,
        show=_SHOWN,
        place=_PLACED,
        hide=but(HIDING, "softmax over the queries") | in_parts(_hidden, weigh=WEIGHING),
    )
    | swapped(_masked, "output", "weights"),
)
