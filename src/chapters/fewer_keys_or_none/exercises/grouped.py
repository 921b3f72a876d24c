"""Let several heads read the same keys and values."""

import math
from functools import partial

from torch import Tensor

from attnlab.shapes import Keys, Queries, Values
from bookkit.checking.attempts import Case, refusing
from bookkit.checking.exercise import Exercise
from bookkit.checking.inputs import draw
from bookkit.checking.mistakes import Mistakes, Part, but, in_parts
from bookkit.checking.mistakes.causal import CAUSAL, causal_weights
from bookkit.checking.mistakes.weighing import DIVISORS


def _each_in_turn(kept: Tensor, heads: int) -> Tensor:
    return kept.repeat_interleave(heads // kept.shape[1], dim=1)  # (B, heads, T, d_k)


def _grouped(
    query: Queries,
    key: Keys,
    value: Values,
    *,
    asked: Part = lambda query, groups: query,
    shared: Part = _each_in_turn,
    shared_values: Part | None = None,
    divisor: Part = lambda query, key: math.sqrt(query.shape[-1]),
    weigh: Part = causal_weights,
    found: Part = lambda output, groups: output,
) -> Tensor:
    heads, groups = query.shape[1], key.shape[1]
    query = asked(query, groups)
    key, value = shared(key, heads), (shared_values or shared)(value, heads)  # (B, heads, T, d_k)
    output: Tensor = weigh(query @ key.mT / divisor(query, key)) @ value
    return found(output, groups)  # type: ignore[no-any-return]


def _in_rounds(kept: Tensor, heads: int) -> Tensor:
    return kept.repeat(1, heads // kept.shape[1], 1, 1)


def _in_groups(queries: Tensor, groups: int) -> Tensor:
    return queries.view(len(queries), groups, -1, *queries.shape[2:])  # (B, groups, heads of one, T, d_k)


def _averaged(queries: Tensor, groups: int) -> Tensor:
    """Each head of a group becomes their mean."""
    apart = _in_groups(queries, groups)
    return apart.mean(2, keepdim=True).expand_as(apart).flatten(1, 2)


def _numbers_turned(queries: Tensor, groups: int) -> Tensor:
    return _in_groups(queries, groups).transpose(1, 2).flatten(1, 2)


MISTAKES: Mistakes = in_parts(
    _grouped,
    shared={
        "heads and groups mixed": (
            "With groups 0 and 1, heads 0, 1, 2, 3 read groups 0, 1, 0, 1. Neighbours share: 0, 0, 1, 1. "
            "`repeat` goes round and round, `repeat_interleave` repeats each before the next.",
            _in_rounds,
        ),
        "groups averaged": (
            "All heads read the mean of the groups. Each group has keys and values of its own, and heads "
            "of its own.",
            lambda kept, heads: kept.mean(1, keepdim=True).expand(-1, heads, -1, -1),
        ),
        "groups added up": (
            "All heads read the sum of the groups. Each group has keys and values of its own, and heads "
            "of its own.",
            lambda kept, heads: kept.sum(1, keepdim=True).expand(-1, heads, -1, -1),
        ),
        "the first group for all": (
            "All heads read the first group. Where there are more, heads // groups neighbours share one.",
            lambda kept, heads: kept[:, :1].expand(-1, heads, -1, -1),
        ),
        "groups in reverse": (
            "The first heads read the last group. They read the first.",
            lambda kept, heads: _each_in_turn(kept.flip(1), heads),
        ),
    },
    shared_values={
        "values mixed": (
            "The keys go to the right heads, and the values to others: they, too, need `repeat_interleave`.",
            _in_rounds,
        ),
        "values of the first group for all": (
            "The keys go to the right heads, and all read the *values* of the first group.",
            lambda kept, heads: kept[:, :1].expand(-1, heads, -1, -1),
        ),
    },
    asked={
        "queries averaged": (
            "The queries of a group are averaged, so that its heads all find the same. They share keys and "
            "values; each goes on asking its own question.",
            _averaged,
        )
    },
    found={
        "what was found averaged": (
            "What the heads of a group find is averaged. Each keeps its own.",
            _averaged,
        ),
        "heads in another order": (
            "The heads come back in another order. Heads that share a group are neighbours, before and "
            "after.",
            _numbers_turned,
        ),
    },
    divisor=but(DIVISORS, "root of d_k + 1", "root of the keys", "rounded root", "8 for every width"),
    weigh=but(CAUSAL, "mask reversed, in one call"),
) | {
    "keys not shared, values alone": (
        "The keys are mixed up: only the values go to the right heads. The keys, too, need "
        "`repeat_interleave`.",
        partial(_grouped, shared=_in_rounds, shared_values=_each_in_turn),
    )
}


check_grouped = Exercise(
    "grouped",
    difficulty=2,
    minutes=20,
    takes=("query", "key", "value"),
    returns=("output",),
    reference=_grouped,
    ask=refusing("enable_gqa"),
    cases=(
        Case("right where each head has keys of its own", *draw(1, *[(1, 2, 3, 2)] * 3)),
        Case("right where all share one", *draw(4, (1, 3, 4, 2), *[(1, 1, 4, 2)] * 2)),
        Case("right where two share one", *draw(7, (1, 4, 3, 2), *[(1, 2, 3, 2)] * 2)),
        Case("right where three share one, in a batch", *draw(10, (2, 6, 5, 4), *[(2, 2, 5, 4)] * 2)),
        Case("right where two share one of three", *draw(13, (3, 6, 4, 8), *[(3, 3, 4, 8)] * 2)),
    ),
    mistakes=MISTAKES,
)
