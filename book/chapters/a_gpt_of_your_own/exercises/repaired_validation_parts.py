"""What `check_repaired_validation` asks with, in parts that can be mistaken."""

import math
from collections.abc import Iterator
from typing import TypeAlias

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from bookkit.checking.mistakes import Part

Window: TypeAlias = tuple[Tensor, Tensor]  # (T,) ids, and (T,) what follows each


class HalfSilent(nn.Module):
    """`HalfSilent(6, seed=0)(ids)` are logits (B, T, 6); in training every second number behind it is silent.

    That stands for dropout, which would silence others each time.
    """

    def __init__(self, vocabulary: int, seed: int) -> None:
        super().__init__()
        source = torch.Generator().manual_seed(seed)
        table = torch.randn(vocabulary, 8, generator=source, device="cpu")
        self.table = nn.Parameter(table)
        self.context = 4

    def forward(self, ids: Tensor) -> Tensor:
        """`model(ids)` sees, at each place, the mean of what it has read so far."""
        if ids.shape[1] > self.context:
            raise ValueError(f"ids must be at most {self.context} long, got {ids.shape[1]}")
        read = self.table[ids].cumsum(1)  # (B, T, 8)
        mean = read / torch.arange(1, ids.shape[1] + 1, device="cpu")[:, None]
        if self.training:
            mean = mean * torch.tensor([2.0, 0.0], device="cpu").repeat(4)
        return mean @ self.table.mT  # (B, T, vocabulary)


def _side_by_side(row: Tensor, length: int) -> Iterator[Window]:
    for start in range(0, len(row) - 1, length):
        yield row[start : start + length][: len(row) - 1 - start], row[start + 1 : start + length + 1]


def _at_random(row: Tensor, length: int) -> Iterator[Window]:
    """The colleague's crops."""
    source = torch.Generator().manual_seed(0)
    for _ in range(len(row) // length):
        start = int(torch.randint(len(row) - length, (1,), generator=source))
        yield row[start : start + length], row[start + 1 : start + length + 1]


def _nats(model: nn.Module, ids: Tensor, targets: Tensor) -> Tensor:
    return F.cross_entropy(model(ids[None])[0], targets, reduction="none")  # (T,)


def _per_byte(nats: list[Tensor], text_bytes: int) -> float:
    return float(torch.cat(nats).sum()) / math.log(2) / text_bytes


def _validated(
    model: nn.Module,
    row: Tensor,
    length: int,
    text_bytes: int,
    *,
    mode: Part = lambda model: model.eval(),
    windows: Part = _side_by_side,
    nats: Part = _nats,
    unit: Part = _per_byte,
) -> float:
    before = model.training
    mode(model)
    with torch.no_grad():
        found = [nats(model, ids, targets) for ids, targets in windows(row, length)]
    model.train(before)
    bits: float = unit(found, text_bytes)
    return bits
