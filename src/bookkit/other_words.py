"""Right answers that many exercises share, in other words: each check must accept all of them."""

import itertools
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import torch
from torch import Tensor
from torch.nn import functional as F

Answer: TypeAlias = Callable[..., Any]
Pair: TypeAlias = tuple[Tensor, Tensor]  # an output, and the weights that it was mixed with


def named(*codes: Answer) -> dict[str, Answer]:
    """`named(by_loop)` is {"by loop": by_loop}."""
    return {code.__name__.replace("_", " "): code for code in codes}


def combined(make: Answer, *parts: Mapping[str, Answer]) -> dict[str, Answer]:
    """`combined(make, PRODUCTS, SOFTMAXES)` is what `make` makes of each product with each softmax."""
    return {
        ", ".join(name for name, _ in choice): make(*(part for _, part in choice))
        for choice in itertools.product(*(part.items() for part in parts))
    }


def changed(solution: Answer, change: Answer) -> Answer:
    """`changed(solution, torch.neg)` is the solution's answer, and then a change of it."""
    return lambda *inputs: change(solution(*inputs))


def looped_dot(query: Tensor, key: Tensor) -> Tensor:
    """`looped_dot(query, key)` are the products of rows, one at a time."""
    if query.dim() > 2:
        return torch.stack([looped_dot(*pair) for pair in zip(query, key, strict=True)])
    return torch.stack([torch.stack([torch.dot(one, other) for other in key]) for one in query])


PRODUCTS: dict[str, Answer] = {
    "mT": lambda query, key: query @ key.mT,
    "transpose": lambda query, key: torch.matmul(query, key.transpose(-2, -1)),
    "key first": lambda query, key: (key @ query.mT).mT,
    "einsum": lambda query, key: torch.einsum("...nd,...md->...nm", query, key),
    "sum": lambda query, key: (query.unsqueeze(-2) * key.unsqueeze(-3)).sum(-1),
    "loops": looped_dot,
}


def shifted_exp(scores: Tensor) -> Tensor:
    """`shifted_exp(scores)` is a softmax by hand."""
    powers = torch.exp(scores - scores.amax(-1, keepdim=True))
    return powers / powers.sum(-1, keepdim=True)


SOFTMAXES: dict[str, Answer] = {
    "torch": lambda scores: torch.softmax(scores, dim=-1),
    "module": torch.nn.Softmax(dim=-1),
    "shifted": shifted_exp,
    "log": lambda scores: scores.log_softmax(-1).exp(),
    "logsumexp": lambda scores: (scores - scores.logsumexp(-1, keepdim=True)).exp(),
    "in float64": lambda scores: scores.double().softmax(-1).to(scores.dtype),
}


def weighing_by(weigh: Answer) -> Answer:
    """`weighing_by(weigh)` is attention with the weights `weigh(query, key, …)`."""

    def code(query: Tensor, key: Tensor, value: Tensor, *more: Any) -> Pair:
        weights = weigh(query, key, *more)
        return weights @ value, weights

    return code


def fused(query: Tensor, key: Tensor, value: Tensor, **options: Any) -> Pair:
    """`fused(query, key, value, scale=1.0)` asks PyTorch's own function."""
    # With the identity as values, what comes out is the weights.
    identity = torch.eye(key.shape[-2], dtype=key.dtype).expand(*key.shape[:-1], key.shape[-2])
    output, weights = (
        F.scaled_dot_product_attention(query, key, mixed, **options) for mixed in (value, identity)
    )
    return output, weights


def in_other_words(attention: Answer) -> dict[str, Answer]:
    """`in_other_words(attention)` are the same answers from other code."""

    def one_query_at_a_time(query: Tensor, key: Tensor, value: Tensor, *more: Any) -> Pair:
        rows = [attention(query[..., i : i + 1, :], key, value, *more) for i in range(query.shape[-2])]
        outputs, weights = zip(*rows, strict=True)
        return torch.cat(outputs, -2), torch.cat(weights, -2)

    def gated_and_summed(query: Tensor, key: Tensor, value: Tensor, *more: Any) -> Pair:
        weights = attention(query, key, value, *more)[1]
        return (weights.unsqueeze(-1) * value.unsqueeze(-3)).sum(-2), weights

    def list_of_two(*inputs: Any) -> list[Tensor]:
        return list(attention(*inputs))

    return named(one_query_at_a_time, gated_and_summed, list_of_two)
