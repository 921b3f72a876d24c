"""What `check_repaired_model` asks with, in parts that can be mistaken."""

from typing import Any

import torch
from torch import Tensor, nn

from attnlab.layers import EncoderLayer, LayerNorm, ScaledEmbedding
from attnlab.positions import SinusoidalPositions
from attnlab.shapes import Mask
from bookkit.checking.mistakes import Part


def layer() -> EncoderLayer:
    """`layer()` is one of the two that the model is given with."""
    return EncoderLayer(32, heads=4, hidden=64, norm_first=True)


class _Patient(nn.Module):
    """A small language model in parts, each of which can be ill."""

    def __init__(
        self,
        words: int,
        *,
        hold: Part = nn.ModuleList,
        spread: float = 32**-0.5,
        mask: Part = lambda ones: ones.tril(),
        go: Part = lambda layers, x, mask: _in_turn(layers, x, mask),
        answer: Part = lambda logits: logits,
        keep: Part = lambda word: word,
    ) -> None:
        super().__init__()
        self.embedding, self.positions = ScaledEmbedding(words, 32), SinusoidalPositions(32)
        self.layers = hold(layer() for _ in range(2))
        self.norm = LayerNorm(32)
        self.word = keep(nn.Parameter(torch.randn(32, words) * spread))
        self.parts = mask, go, answer

    def forward(self, words: Tensor) -> Tensor:
        mask, go, answer = self.parts
        shown = mask(torch.ones(1, words.shape[1], words.shape[1], device="cpu")).bool()
        x = go(self.layers, self.positions(self.embedding(words)), shown)
        return answer(self.norm(x) @ self.word)  # type: ignore[no-any-return]


def _in_turn(layers: Any, x: Tensor, mask: Mask) -> Tensor:
    for layer in layers:
        x = layer(x, mask)
    return x
