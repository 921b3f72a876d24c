"""Inputs for exercises: exact in every dtype, and the same on every machine."""

import torch
from torch import Tensor

from attnlab.runtime import generator


def draw(seed: int, *shapes: tuple[int, ...], dtype: torch.dtype = torch.float32) -> list[Tensor]:
    """`query, key = draw(1, (3, 5), (7, 5))` are eighths between -2 and 2, a seed further for each shape."""
    return [
        torch.randint(-16, 17, shape, generator=generator(seed + place), device="cpu").to(dtype) / 8
        for place, shape in enumerate(shapes)
    ]


def exact(*rows: list[float]) -> Tensor:
    """`exact([1, 0], [0, 1])` is a matrix of float32, written out."""
    return torch.tensor(rows, dtype=torch.float32, device="cpu")


def whole(*numbers: int) -> Tensor:
    """`whole(7, 9, 8)` is a vector of whole numbers, written out."""
    return torch.tensor(numbers, dtype=torch.int64, device="cpu")
