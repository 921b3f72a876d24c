"""The exercise `repaired_model`, tried as readers would."""

import math

import exercise_cases
import pytest
import torch
from exercise_cases import judged_as
from the_transformer_answers import Mended, mended
from torch import nn

from attnlab.attention import attend
from attnlab.layers import EncoderLayer, LayerNorm, ScaledEmbedding
from attnlab.masks import causal
from attnlab.positions import SinusoidalPositions
from chapters.the_transformer.exercises import (
    check_repaired_model,
)

# Each answer is a training.
pytestmark = pytest.mark.thorough


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


def first_registered(self, words):
    Mended.__init__(self, words)
    self.first, self.layers = self.layers[0], list(self._modules.pop("layers"))


class OwnAttention(nn.Module):
    """A layer whose queries, keys and values have matrices of their own."""

    def __init__(self):
        super().__init__()
        self.W_Q, self.W_K, self.W_V, self.W_O = (nn.Linear(32, 32) for _ in range(4))
        self.norm_1, self.norm_2 = nn.LayerNorm(32), nn.LayerNorm(32)
        self.feed = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 32))

    def forward(self, x, mask):
        normal = self.norm_1(x)
        found = attend(self.W_Q(normal), self.W_K(normal), self.W_V(normal), mask=mask)[0]
        x = x + self.W_O(found)
        return x + self.feed(self.norm_2(x))


def test_a_result_stretched_without_end_is_not_reckoned_with():
    """Its shape is wrong already: to look at each of its numbers would take minutes."""
    report = check_repaired_model.judge(
        mended(forward=lambda self, words: torch.zeros(1).expand(1_000_000, 1_000_000))
    )
    assert "a tensor of shape (1000000, 1000000): far too many numbers" in exercise_cases.words(report), (
        report
    )


def test_a_stub_is_not_written_yet():
    assert check_repaired_model.judge(mended(forward=lambda self, words: ...)).state == "not written yet"


RIGHT = {
    check_repaired_model: {
        "attention of one's own": mended(
            hold=lambda self, layers: nn.ModuleList([OwnAttention(), OwnAttention()])
        ),
        "Sequential": mended(hold=lambda self, layers: nn.Sequential(*layers)),
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
        "not itself": mended(mask=lambda self, length: torch.ones(1, length, length).tril(-1).bool()),
        "some layers registered": mended(__init__=first_registered),
        "one layer": mended(hold=lambda self, layers: nn.ModuleList(list(layers)[:1])),
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


@pytest.mark.parametrize(
    "hold",
    [
        lambda self, layers: nn.ModuleList([next(layers)] * 2),
        lambda self, layers: nn.ModuleList([next(layers)]),
    ],
    ids=["the same twice", "one"],
)
def test_a_model_of_one_layer_is_not_the_one_to_mend(hold):
    assert check_repaired_model.judge(mended(hold=hold)).mistake == "one layer"


def test_a_second_layer_that_is_held_and_not_used_does_not_count():
    def forward(self, words):
        x = self.layers[0](self.positions(self.embedding(words)), self.mask(words.shape[1]))
        return self.norm(x) @ self.word

    assert check_repaired_model.judge(mended(forward=forward)).mistake == "one layer"
