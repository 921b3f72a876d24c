"""What `check_without_head` asks with, in parts that can be mistaken."""

from typing import Any

from torch import Tensor

from attnlab.inside import heads_changed, zeroed
from bookkit.checking.mistakes import Part


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
