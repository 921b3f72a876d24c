"""What `check_leaks` asks with, in parts that can be mistaken."""

from typing import Any

import torch
from torch import Tensor, nn

from bookkit.checking.mistakes import Part

IDS = 9


class Seeing(nn.Module):
    """`Seeing(visible)(ids)` sums up, at each place, what visible (T, T) shows it of ids (B, T)."""

    def __init__(self, visible: Tensor, dropout: float = 0.0) -> None:
        super().__init__()
        source = torch.Generator(device="cpu").manual_seed(3)
        self.table = nn.Parameter(torch.randn(IDS, IDS, generator=source))
        self.weights = nn.Parameter(torch.rand(visible.shape, generator=source) + 0.5)
        self.dropout = nn.Dropout(dropout)
        self.visible = visible

    def forward(self, ids: Tensor) -> Tensor:
        """`model(ids)` are logits (B, T, 9)."""
        size = ids.shape[1]
        seen = self.weights[:size, :size] * self.visible[:size, :size].to(self.weights)
        return self.dropout(seen @ self.table[ids])  # type: ignore[no-any-return]


def causal_but(size: int, *pairs: tuple[int, int]) -> Tensor:
    """`causal_but(6, (1, 4), (2, 2))` is causal, but place 1 sees the id at 4, too, and 2 not its own."""
    visible = torch.ones(size, size, dtype=torch.bool, device="cpu").tril()
    for place, later in pairs:
        visible[place, later] = place != later
    return visible


def _other(ids: Tensor, place: int, classes: int) -> Tensor:
    changed = ids.clone()
    changed[:, place] = (changed[:, place] + 1) % classes
    return changed


def _found(
    model: nn.Module,
    ids: Tensor,
    *,
    still: Part = lambda model: model.eval(),
    change: Part = _other,
    before: Part = lambda moved, place: moved[:, :place],
    told: Part = lambda table: table.any(0),
) -> Any:
    """For each place, whether a logit before it moves when the id there changes, (T,)."""
    trained = model.training
    still(model)
    with torch.no_grad():
        logits = model(ids)
        rows = []
        for place in range(ids.shape[1]):
            moved = (model(change(ids, place, logits.shape[-1])) - logits).abs().amax((0, 2)) > 1e-6  # (T,)
            kept = torch.zeros_like(moved)
            part = before(moved[None], place)[0]
            kept[: len(part)] = part
            rows.append(kept)
    model.train(trained)
    return told(torch.stack(rows, dim=1))  # [place that moves, place that was changed]
