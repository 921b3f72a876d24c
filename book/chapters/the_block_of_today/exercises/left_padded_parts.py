"""What `check_left_padded` asks with, in parts that can be mistaken."""

import torch
from torch import Tensor

from bookkit.checking.mistakes import Part

Rows = list[list[int]]


def _laid(rows: Rows, filler: int) -> Tensor:
    longest = max(map(len, rows))
    return torch.tensor([[filler] * (longest - len(row)) + row for row in rows], device="cpu")


def _starts(rows: Rows) -> Tensor:
    """Where each text starts, (B, 1)."""
    longest = max(map(len, rows))
    return torch.tensor([[longest - len(row)] for row in rows], device="cpu")


def _is_text(ids: Tensor, rows: Rows, filler: int) -> Tensor:
    return torch.arange(ids.shape[1], device="cpu") >= _starts(rows)


def _past(length: int) -> Tensor:
    return torch.ones(length, length, dtype=torch.bool, device="cpu").tril()


def _itself(text: Tensor) -> Tensor:
    """What the filler sees."""
    return torch.eye(text.shape[1], dtype=torch.bool, device="cpu") & ~text[:, None]


def _left_padded(
    rows: Rows,
    filler: int,
    *,
    laid: Part = _laid,
    is_text: Part = _is_text,
    past: Part = _past,
    hides: Part = lambda past, text: past & text[:, None],
    alone: Part = _itself,
    placed: Part = lambda text: (text.cumsum(1) - 1) * text,
) -> tuple[Tensor, Tensor, Tensor]:
    ids = laid(rows, filler)  # (B, T)
    text = is_text(ids, rows, filler)  # (B, T)
    visible: Tensor = hides(past(ids.shape[1]), text) | alone(text)  # (B, T, T)
    return ids, visible, placed(text)
