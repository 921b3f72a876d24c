"""What `check_head_jobs` asks with, in parts that can be mistaken."""

import copy
from typing import Any

import torch
from torch import Tensor, nn

from bookkit.checking.mistakes import Part

_GUESTS, _WIDTH = 8, 16


def _share_right(model: nn.Module, x: Tensor, names: Tensor) -> Tensor:
    said: Tensor = model(x)[0]  # (tables, 8, asked, 8)
    return (said.argmax(-1) == names).double().mean((0, 1))  # (asked,)


def _taken_away(model: Any, head: int, cut: Part) -> Any:
    """A copy of the model, of whose W_O a cut is set to zero."""
    damaged = copy.deepcopy(model)
    cut(damaged.attention.W_O.weight.data, head, model.attention.heads)
    return damaged


def _columns(weight: Tensor, head: int, heads: int) -> None:
    weight[:, head * _WIDTH // heads : (head + 1) * _WIDTH // heads] = 0


def _found(
    model: Any,
    x: Tensor,
    names: Tensor,
    *,
    cut: Part = _columns,
    name: Part = lambda lost: int(lost.argmax()) if lost.max() > 0.2 else -1,
) -> Tensor:
    """The job of each head, by taking it away."""
    whole = _share_right(model, x, names)
    heads = range(model.attention.heads)
    return torch.tensor(
        [name(whole - _share_right(_taken_away(model, head, cut), x, names)) for head in heads], device="cpu"
    )
