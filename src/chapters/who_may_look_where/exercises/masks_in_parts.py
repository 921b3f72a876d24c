"""The mask of a batch, in parts that can be mistaken."""

from collections.abc import Callable

import torch

from attnlab.shapes import Lengths, Mask

Table = Callable[..., Mask]


def _batch_mask(
    lengths: Lengths,
    n: int,
    *,
    shown: Table = lambda places, lengths: places < lengths[:, None],  # (B, n)
    earlier: Table = lambda n: torch.ones(n, n, dtype=torch.bool, device="cpu").tril(),  # (n, n)
    join: Table = lambda shown, earlier: shown[:, None] & earlier,  # (B, n, n)
) -> Mask:
    return join(shown(torch.arange(n, device="cpu"), lengths), earlier(n))


def _ones(n: int) -> Mask:
    return torch.ones(n, n, dtype=torch.bool, device="cpu")
