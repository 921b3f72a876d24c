"""What `check_turned_halves` asks with, in parts that can be mistaken."""

import torch
from torch import Tensor

from bookkit.checking.mistakes import Part


def _halves(vectors: Tensor) -> tuple[Tensor, Tensor]:
    first, second = vectors.chunk(2, dim=-1)  # (…, T, d_k/2) each
    return first, second


def _exponents(d_k: int) -> Tensor:
    return torch.arange(0, d_k, 2, dtype=torch.float64, device="cpu") / d_k  # (d_k/2,)


def _turned_halves(
    vectors: Tensor,
    places: Tensor,
    base: float,
    *,
    exponents: Part = _exponents,
    frequency: Part = lambda base, exponents: base**-exponents,
    angle: Part = lambda places, frequencies: places[:, None] * frequencies,
    apart: Part = _halves,
    turn: Part = lambda x, y, cos, sin: (x * cos - y * sin, y * cos + x * sin),
    together: Part = lambda x, y: torch.cat([x, y], dim=-1),
) -> Tensor:
    """Column i and column i + d_k/2 of each vector, turned by what its place says."""
    angles = angle(places, frequency(base, exponents(vectors.shape[-1])))  # (T, d_k/2)
    cos, sin = angles.cos().to(vectors.dtype), angles.sin().to(vectors.dtype)
    turned: Tensor = together(*turn(*apart(vectors), cos, sin))
    return turned  # the shape of vectors
