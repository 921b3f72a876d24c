"""Repair a causal mask that is right for one word alone."""

import math
from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from attnlab.attention import masked_softmax
from attnlab.scores import scaled_dot
from attnlab.shapes import Keys, Lengths, Mask, Queries, Scores, Values, Weights
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.inputs import draw, whole
from bookkit.checking.mistakes import Mistakes, but, in_parts, mixed, swapped
from bookkit.checking.mistakes.weighing import WEIGHING, softmax
from chapters.who_may_look_where.exercises.masks_in_parts import Table, _ones


def _hidden(
    scores: Scores, hidden: Mask, value: float = -math.inf, weigh: Callable[[Scores], Weights] = softmax
) -> Weights:
    return weigh(scores.masked_fill(hidden, value))


def _decoder(
    query: Queries,
    key: Keys,
    value: Values,
    lengths: Lengths,
    *,
    future: Table = lambda n: _ones(n).triu(1),
    filler: Table = lambda places, lengths: places >= lengths[:, None],
    join: Table = lambda future, filler: future | filler[:, None],
    hide: Callable[..., Weights] = _hidden,
) -> tuple[Tensor, Weights]:
    n = query.shape[-2]
    hidden = join(future(n), filler(torch.arange(n, device="cpu"), lengths))  # (B, n, n)
    return mixed(hide(scaled_dot(query, key), hidden), value)


def _broken(query: Queries, key: Keys, value: Values, lengths: Lengths) -> tuple[Tensor, Weights]:
    return _decoder(
        query, key, value, lengths, future=lambda n: _ones(n).triu(), hide=partial(_hidden, value=-1e9)
    )


# Those that are in no one part.
_ALONE: Mistakes = {
    "still broken": (
        "The fault that it came with is still there. A single word is right by accident: what does the "
        "first row of the mask hide, and what does -1e9 make of a row that hides everything?",
        _broken,
    ),
    "NaN in the first row": (
        "-∞ in the place of -1e9 only shows what was wrong before: the first word may look at nothing. "
        "Which places does `triu()` mark?",
        partial(_decoder, future=lambda n: _ones(n).triu()),
    ),
    "zeros in the first row": (
        "The first word now gets zeros. It should look at itself: the diagonal must not be hidden.",
        lambda query, key, value, lengths: mixed(
            masked_softmax(
                scaled_dot(query, key),
                ~_ones(query.shape[-2]).triu()
                & (torch.arange(query.shape[-2], device="cpu") < lengths[:, None])[:, None],
            ),
            value,
        ),
    ),
}

MISTAKES: Mistakes = (
    _ALONE
    | in_parts(
        _decoder,
        future={
            "one place ahead": (
                "Now it is off by one the other way: every word sees the word after it. `triu(1)` begins "
                "just above the diagonal.",
                lambda n: _ones(n).triu(2),
            ),
            "not causal": ("Now nothing hides the future.", lambda n: ~_ones(n)),
            "one place of the past hidden": (
                "Now still more is hidden: `triu(-1)` begins below the diagonal, `triu(1)` above it.",
                lambda n: _ones(n).triu(-1),
            ),
            "the past hidden": (
                "Now the past is hidden and the future seen. In this code True means hidden.",
                lambda n: _ones(n).tril(-1),
            ),
        },
        filler={
            "filler seen": ("The filler is seen: what hid it is gone.", lambda places, lengths: places < 0),
            "one place of filler too many": (
                "One place of filler is seen: a text of length 3 ends at place 2.",
                lambda places, lengths: places > lengths[:, None],
            ),
            "one word too few": (
                "The last word of each text is hidden, too.",
                lambda places, lengths: places >= lengths[:, None] - 1,
            ),
            "first length for all": (
                "Every text is masked by the first one's length.",
                lambda places, lengths: (places >= lengths[:1, None]).expand(len(lengths), -1),
            ),
        },
        join={
            "both for either": (
                "A key is hidden only where both masks hide it. What either hides must be hidden: `|`.",
                lambda future, filler: future & filler[:, None],
            ),
            "on the queries": (
                "The filler is hidden as a query. It is its columns that must go: (B, 1, n).",
                lambda future, filler: future | filler[:, :, None],
            ),
            "not unsqueezed": (
                "(B, n) is taken for (n, n), or does not fit: the mask of the filler needs an axis for the "
                "queries, filler[:, None].",
                lambda future, filler: (future | filler).expand(len(filler), -1, -1),
            ),
        },
        hide=in_parts(_hidden, weigh=but(WEIGHING, "softmax over dim=1", "overflow", "one maximum for all"))
        | {
            "hidden after the softmax": (
                "What is hidden is set to 0 after the softmax, so that the weights no longer sum to 1.",
                lambda scores, hidden: scores.softmax(-1).masked_fill(hidden, 0),
            ),
            "score 0": (
                "What is hidden gets the score 0. That is a score like any other: e^0 = 1 is a good share.",
                partial(_hidden, value=0.0),
            ),
        },
    )
    | swapped(_decoder, "output", "weights")
)


def _texts(seed: int, n: int, lengths: Lengths) -> list[Tensor]:
    batch = len(lengths)
    return [*draw(seed, (batch, n, 4), (batch, n, 4), (batch, n, 3)), lengths]


check_repaired_mask = Exercise(
    "repaired_mask",
    difficulty=3,
    minutes=15,
    takes=("query", "key", "value", "lengths"),
    returns=("output", "weights"),
    reference=_decoder,
    cases=(
        # The broken code passes the first of these, which is the clue: -1e9 over a single key is weight 1.
        Case("right for a text of one word", *_texts(101, 1, whole(1))),
        Case("right for a text of two words", *_texts(111, 2, whole(2))),
        Case("right for a text with filler", *_texts(121, 5, whole(3))),
        Case("right for three texts", *_texts(131, 4, whole(4, 1, 3))),
        Case("right for as many texts as places", *_texts(141, 3, whole(2, 3, 1))),
    ),
    mistakes=MISTAKES,
)
