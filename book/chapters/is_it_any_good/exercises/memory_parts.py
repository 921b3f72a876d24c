"""What `check_memory` asks with, in parts that can be mistaken."""

import torch
from torch import Tensor

from bookkit.checking.mistakes import Part


def _followers(ids: Tensor) -> Tensor:
    return ids[1:][ids[:-1] == ids[-1]]


def _all_alike(ids: Tensor, vocabulary: int) -> Tensor:
    return torch.full((vocabulary,), 1 / vocabulary, dtype=torch.float64, device="cpu")


def _memory(
    ids: Tensor,
    vocabulary: int,
    share: float,
    *,
    found: Part = _followers,
    scaled: Part = lambda counts: counts / counts.sum(),
    alike: Part = _all_alike,
    mixed: Part = lambda remembered, rest, share: share * remembered + (1 - share) * rest,
    nothing: Part = lambda rest, share: rest,
) -> Tensor:
    """The chances of the next id: a share for what followed the last one before, the rest for all."""
    followers, rest = found(ids), alike(ids, vocabulary)
    if len(followers) == 0:
        chances: Tensor = nothing(rest, share)
    else:
        chances = mixed(scaled(followers.bincount(minlength=vocabulary).double()), rest, share)
    return chances  # (vocabulary,)
