"""What `check_deployable` asks with, in parts that can be mistaken."""

from typing import Any

import torch
from torch import Tensor, nn

from bookkit.checking.mistakes import Part
from chapters.buffers_parameters_and_plain_tensors.exercises.ways_to_hold import _a_tenth, _unsaved


class _Smoother(nn.Module):
    """Takes its mean from the words, adds the rows of a table, mixes what the mask allows, and scales."""

    def __init__(
        self,
        width: int,
        length: int,
        scale: Part = nn.Parameter,
        mean: Part = nn.Buffer,
        mask: Part = _unsaved,
        table: Part = _unsaved,
        cut: Part = torch.detach,
    ) -> None:
        super().__init__()
        self.scale, self.mean = scale(torch.ones(width)), mean(torch.zeros(width))
        self.mask = mask(torch.ones(length, length).tril())
        self.table = table(torch.arange(length).div(length).unsqueeze(-1))
        self.cut = cut

    def forward(self, words: Tensor) -> Any:
        if self.training:
            self.mean = _a_tenth(self.mean, self.cut(words).mean(0))
        length = len(words)
        seen = self.mask[:length, :length]  # (T, T)
        moved = words - self.mean + self.table[:length]  # (T, width)
        return self.scale * (seen @ moved) / seen.sum(-1, keepdim=True)
