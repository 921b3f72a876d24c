"""Training models that read verdicts, in batches of about one length."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from attnlab.runtime import generator
from attnlab.training.many_seeds import ManySeeds, sum_over_seeds

Batches = Sequence[tuple[Tensor, Tensor]]  # reviews in rows, and their verdicts


def by_length(rows: Tensor, verdicts: Tensor, size: int = 50) -> Batches:
    """`by_length(rows, verdicts)` has batches of about one length, each no wider than its longest review."""
    lengths = (rows != 1).sum(1)
    groups = lengths.argsort(stable=True).split(size)  # type: ignore[no-untyped-call]
    return [(rows[group, : lengths[group].max()], verdicts[group]) for group in groups]


def train(starts: Sequence[nn.Module], batches: Batches, rate: float, device: torch.device) -> ManySeeds:
    """`train(starts, batches, 0.03, device)` trains them side by side, over the batches in four orders."""
    model, order = ManySeeds(starts).to(device), generator(3)
    optimizer = torch.optim.Adam(model.parameters(), lr=rate, fused=True)
    loss_of = sum_over_seeds(F.cross_entropy)
    for _ in range(4):
        for place in torch.randperm(len(batches), generator=order).tolist():
            rows, verdicts = (each.to(device) for each in batches[place])
            optimizer.zero_grad()
            loss_of(model(rows), verdicts).backward()  # type: ignore[no-untyped-call]
            optimizer.step()
    return model


@torch.no_grad()
def share_right(model: ManySeeds, batches: Batches) -> Tensor:
    """`share_right(model, batches)` is that of each start, over all the reviews: (starts,)."""
    device, right = next(model.parameters()).device, []
    for rows, verdicts in batches:
        said = model(rows.to(device)).argmax(-1).cpu()  # (starts, B)
        right.append(said == verdicts)
    return torch.cat(right, dim=-1).double().mean(-1)
