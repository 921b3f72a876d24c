"""Writers with one fault each. The ill line stands in each class; what it replaces, in `writer.py`."""

import math

import torch
from torch import Tensor, nn

from attnlab.attention import Cache
from chapters.fourteen_patients.writer import LAYERS, Attention, Block, Writer


class SeesTheNext(Attention):
    """`SeesTheNext()` has its mask off by one: each place sees the one behind it."""

    def weights(self, scores: Tensor) -> Tensor:
        """`attention.weights(scores)` leave the next place in sight."""
        before = scores.shape[-1] - scores.shape[-2]
        later = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(before + 2)
        return scores.masked_fill(later, -math.inf).softmax(dim=-1)


class SumsOverQueries(Attention):
    """`SumsOverQueries()` lets the queries share each key, in place of the keys each query."""

    def weights(self, scores: Tensor) -> Tensor:
        """`attention.weights(scores)` sum to 1 down each column."""
        before = scores.shape[-1] - scores.shape[-2]
        later = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(before + 1)
        return scores.masked_fill(later, -math.inf).softmax(dim=-2)


class Unscaled(Attention):
    """`Unscaled()` forgets to divide by the root of d_k."""

    def scores(self, query: Tensor, key: Tensor) -> Tensor:
        """`attention.scores(query, key)` are four times as large as they should be."""
        return query @ key.mT


class HidesByNumber(Attention):
    """`HidesByNumber()` adds -1e9 to what is hidden, which only works where there is room for -1e9."""

    def weights(self, scores: Tensor) -> Tensor:
        """`attention.weights(scores)` are NaN in half precision."""
        before = scores.shape[-1] - scores.shape[-2]
        later = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(before + 1)
        penalty = torch.tensor(-1e9).to(scores)
        return (scores + later * penalty).softmax(dim=-1)


class MaskOffByOne(Writer):
    """`MaskOffByOne(97)` has seen what it is asked for."""

    def attention(self) -> nn.Module:
        """`model.attention()` sees the next place."""
        return SeesTheNext()


class WrongAxis(Writer):
    """`WrongAxis(97)` takes each softmax over the queries."""

    def attention(self) -> nn.Module:
        """`model.attention()` sums over the queries."""
        return SumsOverQueries()


class NoScale(Writer):
    """`NoScale(97)` takes the softmax of bare products."""

    def attention(self) -> nn.Module:
        """`model.attention()` does not divide its scores."""
        return Unscaled()


class HalfPrecision(Writer):
    """`HalfPrecision(97).half()` makes NaN of whatever it reads."""

    def attention(self) -> nn.Module:
        """`model.attention()` hides by a large number."""
        return HidesByNumber()


class LargeStart(Writer):
    """`LargeStart(97)` begins with the weights that PyTorch draws."""

    def start(self) -> None:
        """`model.start()` leaves an embedding's numbers with a spread of 1."""


class BlocksInAList(Writer):
    """`BlocksInAList(97)` keeps its blocks in a plain list, where `parameters()` does not look."""

    def stack(self, dropout: float) -> list[Block]:  # type: ignore[override]
        """`model.stack(0.0)` is a list that PyTorch does not look into."""
        return [Block(self.attention(), dropout) for _ in range(LAYERS)]


class PlacesBeginAgain(Writer):
    """`PlacesBeginAgain(97)` counts from 0 at every call, whatever the caches hold."""

    def numbers(self, ids: Tensor, caches: list[Cache] | None) -> Tensor:
        """`model.numbers(ids, caches)` begin with 0."""
        return torch.arange(ids.shape[1])
