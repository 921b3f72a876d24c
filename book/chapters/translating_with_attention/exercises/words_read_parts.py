"""What `check_words_read` asks with, in parts that can be mistaken."""

from typing import Any

import torch
from torch import Tensor

from bookkit.checking.mistakes import Part

_ENGLISH = 6  # words


def _each_replaced(source: Tensor, place: int, words: int) -> list[Tensor]:
    """The source with another word in this place: every other word once."""
    changed = []
    for word in range(words):
        if word != source[place]:
            changed.append(source.clone())
            changed[-1][place] = word
    return changed


def _moved(
    model: Any,
    source: Tensor,
    words: int,
    *,
    replaced: Part = _each_replaced,
    changes: Part = lambda logits, whole: (logits - whole).abs().sum(-1),
    name: Part = lambda moved: torch.where(moved.amax(-1) > 1e-6, moved.argmax(-1), -1),
) -> Tensor:
    """For each written word the source word that moves it most, by replacing them one at a time."""
    before = model(source)[0]
    moved = torch.stack(
        [
            torch.stack([changes(model(other)[0], before) for other in replaced(source, place, words)]).sum(0)
            for place in range(len(source))
        ],
        dim=-1,
    )  # (T, S)
    return name(moved)  # type: ignore[no-any-return]
