"""The exercise `repaired_model`, tried as readers would."""

import math

import exercise_cases
import torch
from exercise_cases import judged_as
from the_transformer_answers import Mended, mended
from torch import nn

from attnlab.layers import EncoderLayer, LayerNorm, ScaledEmbedding
from attnlab.masks import causal
from attnlab.positions import SinusoidalPositions
from chapters.the_transformer.exercises import (
    check_repaired_model,
)


def test_the_broken_model_fails_all_three():
    exercise_cases.assert_still_broken(check_repaired_model, ModelToRepair, "✗✗✗")


class ModelToRepair(nn.Module):
    def __init__(self, words):
        super().__init__()
        self.embedding = ScaledEmbedding(words, 32)
        self.positions = SinusoidalPositions(32)
        self.layers = [EncoderLayer(32, heads=4, hidden=64, norm_first=True) for _ in range(2)]
        self.norm = LayerNorm(32)
        self.word = nn.Parameter(torch.randn(32, words))

    def forward(self, words):
        length = words.shape[1]
        mask = torch.ones(1, length, length, dtype=torch.bool, device=words.device).tril(1)
        x = self.positions(self.embedding(words))
        for each in self.layers:
            x = each(x, mask)
        return self.norm(x) @ self.word


def divided_outside(self, words):
    Mended.__init__(self, words)
    del self.word
    self.word = nn.Parameter(torch.randn(32, words)) / math.sqrt(32)


RIGHT = {
    check_repaired_model: {
        "mended": Mended,
        "embedding as output": mended(
            forward=lambda self, words: Mended.forward(self, words) + 0 * self.embedding.weight.sum()
        ),
        "quiet start": mended(loudness=lambda self: 100),
        "a start at 0": mended(loudness=lambda self: math.inf),
        "dropout": mended(
            hold=lambda self, layers: nn.ModuleList(
                EncoderLayer(32, heads=4, hidden=64, dropout=0.1, norm_first=True) for _ in layers
            )
        ),
    }
}


NAMED = {
    check_repaired_model: {
        "still broken": ModelToRepair,
        "loud left": mended(loudness=lambda self: 1),
        "leak left": mended(mask=lambda self, length: torch.ones(1, length, length).tril(1).bool()),
        "list left": mended(hold=lambda self, layers: list(layers)),
        "leak and list left": mended(
            hold=lambda self, layers: list(layers),
            mask=lambda self, length: torch.ones(1, length, length).tril(1).bool(),
        ),
        "no mask": mended(mask=lambda self, length: None),
        "mask turned": mended(mask=lambda self, length: causal(length).mT),
        "softmax at the end": mended(forward=lambda self, words: Mended.forward(self, words).softmax(-1)),
        "deaf": mended(mask=lambda self, length: torch.eye(length)[None].bool()),
        "word no parameter": mended(__init__=divided_outside),
        "cut off": mended(forward=torch.no_grad()(Mended.forward)),
    }
}


UNKNOWN = {
    check_repaired_model: {
        "one logit": mended(forward=lambda self, words: Mended.forward(self, words)[..., :1]),
        "silent": mended(forward=lambda self, words: 0 * Mended.forward(self, words)),
        "in bounds": mended(forward=lambda self, words: Mended.forward(self, words).tanh()),
    }
}


test_right, test_named, test_unknown = judged_as(RIGHT, NAMED, UNKNOWN)
