"""Scores of one query with each of its keys; what they can learn is theirs."""

import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from attnlab import scores
from attnlab.runtime import generator


def numbers(source: torch.Generator, *shape: int, bound: float = 1.0) -> nn.Parameter:
    """`numbers(source, 3, 3)` are random numbers between -bound and bound, which training may change."""
    drawn = torch.rand(shape, generator=source, dtype=torch.float64)
    return nn.Parameter(bound * (2 * drawn - 1))


class Dot(nn.Module):
    """`Dot()(query, key)` is the dot product: it has nothing to learn."""

    def forward(self, query: Tensor, key: Tensor) -> Tensor:
        """`Dot()(query, key)` scores every query against its eight keys."""
        return scores.dot(query, key).squeeze(-2)  # (queries, 8)


class General(nn.Module):
    """`General()(query, key)` is a dot product with a learned matrix in between."""

    def __init__(self, seed: int = 0) -> None:
        super().__init__()
        self.weight = numbers(generator(seed), 3, 3, bound=0.5)

    def forward(self, query: Tensor, key: Tensor) -> Tensor:
        """`General()(query, key)`: the eight keys of a query; to be fair, all get the constant 1 as well."""
        query, key = (pad(each, (0, 1), value=1.0) for each in (query, key))
        return scores.general(query, key, self.weight).squeeze(-2)


class OfFeatures(nn.Module):
    """`OfFeatures()(query, key)` is a dot product after a hidden layer for either side."""

    def __init__(self, seed: int = 0, units: int = 32, features: int = 8) -> None:
        super().__init__()
        source = generator(seed)
        self.hidden = nn.ParameterList(numbers(source, 2, units) for _ in range(2))
        self.bias = nn.ParameterList(numbers(source, units) for _ in range(2))
        self.out = nn.ParameterList(numbers(source, units, features, bound=units**-0.5) for _ in range(2))
        self.shift = nn.ParameterList(numbers(source, features, bound=units**-0.5) for _ in range(2))

    def forward(self, query: Tensor, key: Tensor) -> Tensor:
        """`OfFeatures()(query, key)` scores every query against its eight keys."""
        learned = zip((query, key), self.hidden, self.bias, self.out, self.shift, strict=True)
        query, key = ((each @ into + bias).tanh() @ out + shift for each, into, bias, out, shift in learned)
        return scores.dot(query, key).squeeze(-2)  # (queries, 8)
