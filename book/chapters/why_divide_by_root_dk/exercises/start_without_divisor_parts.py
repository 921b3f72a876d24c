"""What `check_start_without_divisor` asks with, in parts that can be mistaken."""

import torch
from torch import Tensor

_KEYS, _VALUES, _STARTS = 16, 8, 5


def _drawn(d_k: int, source: torch.Generator) -> tuple[Tensor, Tensor]:
    """Independent queries and keys with components of size 1: the start that the divisor is for."""
    query, key = torch.randn(2, _KEYS, d_k, generator=source, device="cpu")
    return query, key
