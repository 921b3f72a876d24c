"""What `check_repaired_model` asks with, in parts that can be mistaken."""

from typing import Any

import torch
from torch import Tensor, nn

from attnlab.layers import EncoderLayer, LayerNorm, ScaledEmbedding
from attnlab.positions import SinusoidalPositions
from attnlab.shapes import Mask
from bookkit.checking.mistakes import Part


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
        self.layers = hold(EncoderLayer(32, heads=4, hidden=64, norm_first=True) for _ in range(2))
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


_LOUD = "Its first loss is far above that of guessing. How large are its logits at the start?"


_LEAK = "A word that comes later changes logits that come before it. How far does the mask let a word look?"


_LIST = "One batch is not learned by heart. Which numbers does the optimizer get from parameters()?"


_OPEN = "There is no mask left: every word sees all."


_TURNED = "The mask is turned on its side, or reversed: a word sees what comes after, and nothing before."


_NO_NUMBERS = "The logits are no numbers. Does the first word see nothing at all? tril() keeps the diagonal."


_TWO_ANSWERS = "Asked twice it gives other logits: is there a dropout that is always on?"


_DEAF = "No word hears of another: the mask hides all of them, or the layers are left out."


_LOOSE = (
    "`word` is a plain tensor, which no optimizer gets. (What is computed from a parameter is none: "
    "nn.Parameter(torch.randn(…) / …) divides first.)"
)


_SOFTENED = "It does not learn a batch by heart: the logits go through a softmax, and the loss takes another."


_CUT = (
    "One batch is not learned by heart: layers are registered, and to some no gradient arrives. Something "
    "cuts the path, or they are left out."
)
