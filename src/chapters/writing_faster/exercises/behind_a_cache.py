"""Repair an attention that sees only the first key of its cache."""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional as F

from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.inputs import draw
from bookkit.checking.mistakes import Mistakes, Part, in_answer, in_parts

Found = tuple[Tensor, Tensor, Tensor]


def _last_of_both(new: int, kept: int, device: torch.device) -> Tensor:
    """The last query sees the last key: True where column j may be seen from row i, (T, n + T)."""
    return torch.ones(new, kept + new, dtype=torch.bool, device=device).tril(kept)


def _behind(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    kept_keys: Tensor,
    kept_values: Tensor,
    *,
    together: Part = lambda kept, new: torch.cat([kept, new], dim=2),
    visible: Part = _last_of_both,
) -> Found:
    keys, values = together(kept_keys, key), together(kept_values, value)  # (B, heads, n + T, d_k)
    mask = visible(query.shape[2], kept_keys.shape[2], query.device)
    found = F.scaled_dot_product_attention(query, keys, values, mask)
    return found, keys, values


def _moved(by: int) -> Callable[[int, int, torch.device], Tensor]:
    def visible(new: int, kept: int, device: torch.device) -> Tensor:
        return torch.ones(new, kept + new, dtype=torch.bool, device=device).tril(kept + by)

    return visible


def _first_of_both(new: int, kept: int, device: torch.device) -> Tensor:
    """The colleague's, by `is_causal=True`."""
    return torch.ones(new, kept + new, dtype=torch.bool, device=device).tril()


def _all_of_them(new: int, kept: int, device: torch.device) -> Tensor:
    return torch.ones(new, kept + new, dtype=torch.bool, device=device)


MISTAKES: Mistakes = in_parts(
    _behind,
    visible={
        "still broken": (
            "The fault is still there: `is_causal=True` lines up the first query with the first key, so that "
            "one new query sees one key. It must line up the *last* of both.",
            _first_of_both,
        ),
        "not causal": (
            "Right for one query. Of several, each now sees those after it. Line up the last query with the "
            "last key: `tril(n)`, of (T, n + T).",
            _all_of_them,
        ),
        "causal only where nothing is kept": (
            "Right for one query, and where nothing is kept. Of several queries behind a cache, each now "
            "sees those after it: line up the last query with the last key.",
            lambda new, kept, device: (_all_of_them if kept else _first_of_both)(new, kept, device),
        ),
        "causal only for several": (
            "Right for one query, and where nothing is kept. For several queries behind a cache, the first "
            "query is still lined up with the first key.",
            lambda new, kept, device: (_all_of_them if new == 1 else _first_of_both)(new, kept, device),
        ),
        "one key too many": (
            "Each query sees one key too many, the one behind its own. The n keys that are kept come before: "
            "`tril(n)`.",
            _moved(1),
        ),
        "itself hidden": (
            "No query sees its own key. The n keys that are kept come before it, and its own is in sight, "
            "too: `tril(n)`.",
            _moved(-1),
        ),
        "moved by the new": (
            "You move the edge by T, the number of new pieces. Before the first of them stand the n that are "
            "kept: `tril(n)`.",
            lambda new, kept, device: _moved(new - kept)(new, kept, device),
        ),
        "moved the other way": (
            "You move the edge to the left, and so hide what is kept. A positive number moves it to the "
            "right: `tril(n)`.",
            lambda new, kept, device: _moved(-2 * kept)(new, kept, device),
        ),
        "what is kept hidden": (
            "The new keys are seen rightly, and what the cache keeps is hidden. All of it may be seen.",
            lambda new, kept, device: (
                _last_of_both(new, kept, device).triu(kept)
                | (_last_of_both(new, kept, device) & (torch.arange(kept + new, device=device) >= kept))
            ),
        ),
        "only what is kept": (
            "The new keys are hidden. Each query sees its own, and those of the new that come before it.",
            lambda new, kept, device: (torch.arange(kept + new, device=device) < max(kept, 1)).expand(
                new, -1
            ),
        ),
        "True means hidden": (
            "Your mask is True where nothing may be seen. In `F.scaled_dot_product_attention` True means: "
            "may be seen.",
            lambda new, kept, device: ~_last_of_both(new, kept, device),
        ),
    },
    together={
        "new ones in front": (
            "The new keys and values stand before those that are kept. They come behind: `torch.cat([kept, "
            "new], dim=2)`.",
            lambda kept, new: torch.cat([new, kept], dim=2),
        ),
        "nothing put together": (
            "The new keys and values are not put behind those that are kept.",
            lambda kept, new: kept if kept.shape[2] else new,
        ),
    },
) | in_answer(
    _behind,
    {
        "handed on without the new": (
            "What was found is right, and what you hand on is the cache of before. The new keys and values "
            "belong in it.",
            lambda right: (
                right[0],
                *(each[:, :, : each.shape[2] - right[0].shape[2]] for each in right[1:]),
            ),
        ),
        "only the new handed on": (
            "What was found is right, and you hand on the new keys and values alone. The next piece must see "
            "all of them.",
            lambda right: (right[0], *(each[:, :, -right[0].shape[2] :] for each in right[1:])),
        ),
        "values before keys": (
            "All three are right, in the wrong order: found, keys, values.",
            lambda right: (right[0], right[2], right[1]),
        ),
    },
)


def _case(label: str, seed: int, batch: int, kept: int, new: int, **more: torch.dtype) -> Case:
    shapes = [(batch, 2, length, 4) for length in (new, new, new, kept, kept)]
    return Case(label, *draw(seed, *shapes, **more))


check_behind_a_cache = Exercise(
    "behind_a_cache",
    difficulty=2,
    minutes=15,
    takes=("query", "key", "value", "kept_keys", "kept_values"),
    returns=("found", "keys", "values"),
    reference=_behind,
    cases=(
        # The broken code passes the first of these.
        _case("right where nothing is kept", 11, 1, 0, 4),
        _case("right for one piece behind a cache", 21, 1, 3, 1),
        _case("right for several pieces behind a cache", 31, 1, 2, 3),
        _case("right for a batch", 41, 2, 5, 2, dtype=torch.float64),
    ),
    mistakes=MISTAKES,
)
