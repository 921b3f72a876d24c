"""What `check_induction_head` asks with, in parts that can be mistaken."""

import math

import torch
from torch import Tensor, nn

from attnlab.inside import heads_changed, zeroed
from attnlab.shapes import Lengths
from bookkit.checking.mistakes import Part
from chapters.looking_inside.exercises.looks import _attentions, _looks, _repeated_loss


def _costs(model: nn.Module, words: Tensor, periods: Lengths) -> Tensor:
    """(layers, heads): by how much the loss on the repeated part grows without each head."""
    whole_loss, rows = _repeated_loss(model, words, periods), []
    for attention in _attentions(model):
        row = []
        for head in range(attention.heads):
            with heads_changed(attention, zeroed(head)):
                row.append(_repeated_loss(model, words, periods) - whole_loss)
        rows.append(row)
    return torch.tensor(rows, device="cpu")


def _place(of_heads: Tensor) -> tuple[int, int]:
    """The layer and the head of the largest number."""
    layer, head = divmod(int(of_heads.argmax()), of_heads.shape[1])
    return layer, head


def _induction_head(
    model: nn.Module, words: Tensor, periods: Lengths, *, rank: Part = lambda costs: costs
) -> tuple[int, int]:
    """Of the heads that look there, the one whose removal costs most."""
    looks = _looks(model, words, periods)
    costs = _costs(model, words, periods)
    return _place(rank(costs).masked_fill(looks < looks.amax() / 2, -math.inf))
