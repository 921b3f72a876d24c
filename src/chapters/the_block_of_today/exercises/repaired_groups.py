"""Repair an attention whose groups are dealt out in turns, and whose values are turned."""

import torch
from torch import Tensor
from torch.nn import functional as F

from attnlab.today.model import turned
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.inputs import draw, whole
from bookkit.checking.mistakes import Mistakes, Part, in_parts


def _for_heads(vectors: Tensor, shared: int) -> Tensor:
    """Of each group, once for each head that shares it: 0, 0, 0, 1, 1, 1."""
    return vectors.repeat_interleave(shared, dim=1)


def turned_halves(vectors: Tensor, places: Tensor) -> Tensor:
    """`turned_halves(query, places)` turns (…, T, d_k) by places (T,), as the chapter does."""
    d_k = vectors.shape[-1]
    return turned(
        vectors, places[:, None] * 10000.0 ** (-torch.arange(0, d_k, 2, device=places.device) / d_k)
    )


def _as_it_is(vectors: Tensor, places: Tensor) -> Tensor:
    return vectors


def _attended(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    return F.scaled_dot_product_attention(query, key, value, is_causal=True)


def _groups(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    places: Tensor,
    *,
    for_heads: Part = _for_heads,
    of_queries: Part = turned_halves,
    of_keys: Part = turned_halves,
    of_values: Part = _as_it_is,
    attended: Part = _attended,
    back: Part = _as_it_is,
) -> Tensor:
    shared = query.shape[1] // key.shape[1]
    query, key, value = of_queries(query, places), of_keys(key, places), of_values(value, places)
    found: Tensor = back(attended(query, for_heads(key, shared), for_heads(value, shared)), places)
    return found  # (B, heads, T, d_k)


def _in_turns(vectors: Tensor, shared: int) -> Tensor:
    """As the colleague has it: 0, 1, 0, 1, 0, 1."""
    return vectors.repeat(1, shared, 1, 1)


def _by_neighbours(vectors: Tensor, places: Tensor) -> Tensor:
    halves = turned_halves(torch.cat([vectors[..., 0::2], vectors[..., 1::2]], dim=-1), places)
    return torch.stack(halves.chunk(2, dim=-1), dim=-1).flatten(-2)


def _by_hand(query: Tensor, key: Tensor, value: Tensor, size: float, hidden: int = 1) -> Tensor:
    scores = query @ key.mT / size
    past = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).triu(hidden)
    return scores.masked_fill(past, -torch.inf).softmax(-1) @ value


MISTAKES: Mistakes = (
    {
        "still broken": (
            "Both faults are still there. Which heads share a group: neighbours, or every second one? And "
            "must all three be turned?",
            lambda *inputs: _groups(*inputs, for_heads=_in_turns, of_values=turned_halves),
        ),
    }
    | in_parts(
        _groups,
        for_heads={
            "groups dealt out in turns": (
                "The values stay as they are now. One fault is left: `repeat` deals the groups out in turns, "
                "0, 1, 0, 1, 0, 1. Neighbouring heads share one: 0, 0, 0, 1, 1, 1, by `repeat_interleave`.",
                _in_turns,
            ),
            "groups in reverse": (
                "The last heads have the first group. Heads and groups are counted from the same end.",
                lambda vectors, shared: _for_heads(vectors.flip(1), shared),
            ),
            "the first group for all": (
                "All heads have the first group. Each group serves its own heads.",
                lambda vectors, shared: vectors[:, :1].expand(-1, shared * vectors.shape[1], -1, -1),
            ),
            "the mean of the groups": (
                "All heads have the mean of the groups. Each group serves its own heads.",
                lambda vectors, shared: vectors.mean(1, keepdim=True).expand(
                    -1, shared * vectors.shape[1], -1, -1
                ),
            ),
        },
        of_values={
            "values still turned": (
                "The groups are right now. One fault is left: the values are turned. Places belong in the "
                "scores, so only queries and keys are.",
                turned_halves,
            ),
        },
        of_queries={
            "queries not turned": (
                "The queries are no longer turned. They must be, as the keys are: then a score depends on "
                "how far apart the two stand.",
                _as_it_is,
            ),
            "queries turned in neighbours": (
                "Queries turn neighbouring columns, and keys halves. Both must do the same.",
                _by_neighbours,
            ),
        },
        of_keys={
            "keys not turned": (
                "The keys are no longer turned. They must be, as the queries are.",
                _as_it_is,
            ),
        },
        attended={
            "not causal": (
                "Each piece sees those that come after it: `is_causal=True`.",
                lambda query, key, value: F.scaled_dot_product_attention(query, key, value),
            ),
            "itself hidden": (
                "No piece sees itself, and the first sees nothing. Hide only what comes after.",
                lambda query, key, value: _by_hand(query, key, value, query.shape[-1] ** 0.5, hidden=0),
            ),
            "not scaled": (
                "The scores are not divided by √d_k, which `F.scaled_dot_product_attention` does for you.",
                lambda query, key, value: _by_hand(query, key, value, 1.0),
            ),
            "scaled twice": (
                "The scores are divided by √d_k twice: `F.scaled_dot_product_attention` does it already.",
                lambda query, key, value: _by_hand(query, key, value, query.shape[-1]),
            ),
            "keys mixed": (
                "It is the keys that are mixed by the weights. Mix the values.",
                lambda query, key, value: _attended(query, key, key),
            ),
        },
        back={
            "what was found is turned": (
                "What attention found is turned. Places belong in the scores: turn queries and keys alone.",
                turned_halves,
            ),
        },
    )
    | {
        "nothing turned": (
            "Nothing is turned any more. Queries and keys say where they stand: turn both.",
            lambda *inputs: _groups(*inputs, of_queries=_as_it_is, of_keys=_as_it_is),
        ),
        "neighbours": (
            "Queries and keys turn neighbouring columns. Here column i turns with column i + d_k/2, as "
            "`turned_halves` does.",
            lambda *inputs: _groups(*inputs, of_queries=_by_neighbours, of_keys=_by_neighbours),
        ),
    }
)

check_repaired_groups = Exercise(
    "repaired_groups",
    difficulty=3,
    minutes=20,
    takes=("query", "key", "value", "places"),
    returns=("found",),
    reference=_groups,
    cases=(
        # The broken code passes the first of these: one group, and a value at place 0 does not turn.
        Case("right for one piece at place 0", *draw(81, (1, 2, 1, 4), (1, 1, 1, 4), (1, 1, 1, 4)), whole(0)),
        Case(
            "right for heads with keys of their own",
            *draw(84, (1, 2, 3, 4), (1, 2, 3, 4), (1, 2, 3, 4)),
            whole(0, 1, 2),
        ),
        Case(
            "right for six heads in two groups",
            *draw(87, (1, 6, 4, 4), (1, 2, 4, 4), (1, 2, 4, 4)),
            whole(0, 1, 2, 3),
        ),
        Case(
            "right for a batch that begins elsewhere",
            *draw(90, (2, 6, 3, 8), (2, 3, 3, 8), (2, 3, 3, 8), dtype=torch.float64),
            whole(5, 6, 7),
        ),
    ),
    mistakes=MISTAKES,
)
