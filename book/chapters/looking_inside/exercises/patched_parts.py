"""What `check_patched` asks with, in parts that can be mistaken."""

from typing import Any, TypeAlias

import torch
from torch import Tensor

from attnlab.inside import heads_changed
from bookkit.checking.mistakes import Part
from chapters.looking_inside.exercises.looks import _replaced

_Pair: TypeAlias = tuple[int, int]


def _found(model: Any, words: Tensor, layer: int) -> Tensor:
    """What the layer's heads find, (B, n, heads, d_k)."""
    kept: list[Tensor] = []

    def keep(heads: Tensor) -> Tensor:
        kept.append(heads.detach().clone())
        return heads

    with heads_changed(model.layers[layer].self_attention, keep), torch.no_grad():
        model(words)
    return kept[0]


def _difference(logits: Tensor, first: int, second: int) -> Tensor:
    return logits[0, -1, first] - logits[0, -1, second]


def _patched(
    model: Any,
    words: Tensor,
    other: Tensor,
    layer: int,
    head: int,
    pair: _Pair,
    *,
    put: Part = lambda heads, found, head: _replaced(heads, (..., head, slice(None)), found[:, :, head]),
    read: Part = _difference,
    runs: Part = lambda words, other: (words, other),
    place: Part = lambda layer, head: (layer, head),
) -> tuple[Tensor, Tensor]:
    words, other = runs(words, other)
    layer, head = place(layer, head)
    found = _found(model, other, layer)
    with torch.no_grad():
        before = read(model(words), *pair)
        with heads_changed(model.layers[layer].self_attention, lambda heads: put(heads, found, head)):
            return before, read(model(words), *pair)
