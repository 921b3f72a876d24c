"""The mistakes that `check_repaired_mask` knows by name."""

from functools import partial

import torch
from torch import Tensor

from attnlab.attention import masked_softmax
from attnlab.scores import scaled_dot
from attnlab.shapes import Keys, Lengths, Queries, Values, Weights
from bookkit.checking.mistakes import Mistakes, but, in_parts, mixed, swapped
from bookkit.checking.mistakes.weighing import WEIGHING
from chapters.who_may_look_where.exercises.masks_in_parts import _ones
from chapters.who_may_look_where.exercises.repaired_mask_parts import _decoder, _hidden


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
