"""What `check_cached_step` asks with, in parts that can be mistaken."""

import math
from typing import TypeAlias

import torch
from torch import Tensor

from bookkit.checking.mistakes import Part
from bookkit.checking.mistakes.causal import causal_weights

Kept: TypeAlias = tuple[Tensor, Tensor]  # the keys (B, t, d) and the values (B, t, d) of t words


def _behind(kept: Kept, new: Kept) -> Kept:
    return torch.cat([kept[0], new[0]], dim=1), torch.cat([kept[1], new[1]], dim=1)


def _step(
    words: Tensor,
    kept: Kept,
    table: Tensor,
    w_q: Tensor,
    w_k: Tensor,
    w_v: Tensor,
    *,
    place: Part = lambda table, before, n: table[before : before + n],
    ask: Part = lambda x, words: x,
    new: Part = lambda x, words, w_k, w_v: (x @ w_k, x @ w_v),
    store: Part = _behind,
    read: Part = lambda stored, kept, new, w_k, w_v: stored,
    divisor: Part = lambda query, key: math.sqrt(query.shape[-1]),
    weigh: Part = causal_weights,
    keep: Part = lambda stored, kept, new: stored,
) -> tuple[Tensor, Kept]:
    """The next n words through one attention, in parts that can be mistaken."""
    x = words + place(table, kept[0].shape[1], words.shape[1])  # (B, n, d)
    added = new(x, words, w_k, w_v)
    stored = store(kept, added)
    query, (keys, values) = ask(x, words) @ w_q, read(stored, kept, added, w_k, w_v)
    return weigh(query @ keys.mT / divisor(query, keys)) @ values, keep(stored, kept, added)
