"""Where a model's heads look, and what it loses: what this chapter's exercises ask with."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from attnlab.attention import MultiHeadAttention
from attnlab.inside import watched
from attnlab.shapes import Lengths
from chapters.looking_inside.circuits import (
    LENGTH,
)


def _own(attention: MultiHeadAttention, head: int) -> slice:
    """Where this head's numbers stand among those of all."""
    width = attention.d_model // attention.heads
    return slice(head * width, (head + 1) * width)


def _replaced(heads: Tensor, where: Any, found: Any) -> Tensor:
    heads = heads.clone()
    heads[where] = found
    return heads


def _columns(attention: MultiHeadAttention, own: slice) -> None:
    attention.out_proj.weight[:, own] = 0


def _hooks(model: nn.Module) -> int:
    """How many hooks are on the model and on what is in it."""
    return sum(len(module._forward_pre_hooks) + len(module._forward_hooks) for module in model.modules())


def _words(*rows: list[int]) -> Tensor:
    return torch.tensor(rows, dtype=torch.int64, device="cpu")


_FIRST, _SECOND = _words([1, 5, 2, 8]), _words([4, 5, 7, 8])


def _repeated(periods: Tensor, words: Tensor) -> Tensor:
    return words.gather(1, torch.arange(LENGTH, device="cpu") % periods[:, None])  # (B, LENGTH)


def _looks(model: nn.Module, words: Tensor, periods: Lengths, back: int = 1) -> Tensor:
    """(layers, heads): what the repeated places give to the one `back` before their word's last time, turned.

    With back=1 it is the induction score, and with 0 that of the same word.
    """
    with watched(model) as weights, torch.no_grad():
        model(words)
    places = torch.arange(words.shape[1], device="cpu")
    seen = places >= periods[:, None]  # (B, T)
    asked = (places - periods[:, None] + back).clamp(min=0)[:, None, :, None]  # (B, 1, T, 1)
    found = [
        each.gather(-1, asked.expand(-1, each.shape[1], -1, -1))[..., 0].transpose(1, 2)[seen].mean(0)
        for each in weights.values()
    ]
    return torch.stack(found) if found else torch.zeros(0, 1, device="cpu")


def _losses(logits: Tensor, words: Tensor, periods: Lengths) -> tuple[Tensor, Tensor]:
    """Each place's loss, (B, T - 1), and whether it stands in the repeated part."""
    places = torch.arange(words.shape[1] - 1, device="cpu")
    return F.cross_entropy(logits.mT, words[:, 1:], reduction="none"), places >= periods[:, None]


def _repeated_loss(model: nn.Module, words: Tensor, periods: Lengths) -> float:
    with torch.no_grad():
        losses, seen = _losses(model(words[:, :-1]), words, periods)
    return losses[seen].mean().item()


def _attentions(model: nn.Module) -> list[MultiHeadAttention]:
    return [module for module in model.modules() if isinstance(module, MultiHeadAttention)]
