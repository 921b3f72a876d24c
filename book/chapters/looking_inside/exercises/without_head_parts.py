"""What `check_without_head` asks with, in parts that can be mistaken."""

import copy
from typing import Any

import torch
from torch import Tensor

from attnlab.inside import heads_changed, zeroed
from bookkit.checking.mistakes import Part
from chapters.looking_inside.exercises.looks import _columns, _own


def _in_a_copy(model: Any, words: Tensor, layer: int, head: int) -> Tensor:
    model = copy.deepcopy(model)
    attention = model.layers[layer].self_attention
    with torch.no_grad():
        _columns(attention, _own(attention, head))
    return model(words)  # type: ignore[no-any-return]


def _without(
    model: Any,
    words: Tensor,
    layer: int,
    head: int,
    *,
    silence: Part = lambda heads, head: zeroed(head)(heads),
    place: Part = lambda layer, head: (layer, head),
) -> Tensor:
    layer, head = place(layer, head)
    with heads_changed(model.layers[layer].self_attention, lambda heads: silence(heads, head)):
        return model(words)  # type: ignore[no-any-return]
