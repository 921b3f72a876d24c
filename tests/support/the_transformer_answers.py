"""Answers to the exercises of *the transformer* that several of its tests begin with."""

import math

import torch
from torch import nn

from attnlab.layers import EncoderLayer, LayerNorm, ScaledEmbedding
from attnlab.masks import causal
from attnlab.positions import SinusoidalPositions
from chapters.the_transformer.exercises import (
    check_near_the_limit,
)

results = check_near_the_limit.reference


class Mended(nn.Module):
    """Each fault is a method, for the others to change."""

    def __init__(self, words):
        super().__init__()
        self.embedding, self.positions = ScaledEmbedding(words, 32), SinusoidalPositions(32)
        self.layers = self.hold(EncoderLayer(32, heads=4, hidden=64, norm_first=True) for _ in range(2))
        self.norm = LayerNorm(32)
        self.word = nn.Parameter(torch.randn(32, words) / self.loudness())

    def hold(self, layers):
        return nn.ModuleList(layers)

    def loudness(self):
        return math.sqrt(32)

    def mask(self, length):
        return causal(length)

    def forward(self, words):
        x = self.positions(self.embedding(words))
        for each in self.layers:
            x = each(x, self.mask(words.shape[1]))
        return self.norm(x) @ self.word


def mended(**methods):
    return type("Mended", (Mended,), methods)


def handed_in(**parts):
    """The reference's three results, with some of them others."""

    def my_results():
        made = dict(zip(("model", "excess", "samples"), results(), strict=True)) | parts
        return made["model"], made["excess"], made["samples"]

    return my_results
