"""What `check_narrowest_heads` asks with, in parts that can be mistaken."""

import math
from collections.abc import Callable

import torch
from torch import Tensor


def _laid_out(
    place: Callable[[Tensor], tuple[Tensor, Tensor]],
) -> Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]:
    """A pair that holds, for each name of `place(numbers)`, who asks for it and how it is found."""

    def train(words: Tensor, chased: Tensor) -> tuple[Tensor, Tensor]:
        names = words.shape[-1] // 3
        asked, found = place(torch.arange(names, device="cpu"))
        zeros = torch.zeros_like(asked)
        return torch.cat([zeros, asked, zeros]), torch.cat([found, zeros, zeros])

    return train


def _circle(numbers: Tensor) -> tuple[Tensor, Tensor]:
    angle = 2 * math.pi * numbers / len(numbers)
    points = torch.stack([angle.cos(), angle.sin()], dim=-1)
    return points, points
