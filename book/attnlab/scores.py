"""How well a query matches a key: five scores, each from (…, n, d) and (…, m, d) to (…, n, m)."""

import math
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from attnlab.shapes import Keys, Queries, Scores

# The lean additive score holds about this many hidden numbers at a time: 1 MB in float32, which stays in a
# core's own cache while it is written, squashed and summed.
CHUNK_ELEMENTS = 2**18


def dot(query: Queries, key: Keys) -> Scores:
    """`dot(query, key)` multiplies every query by every key: (…, n, d_k) and (…, m, d_k) give (…, n, m).

    >>> dot(torch.tensor([[1.0, 2.0]]), torch.tensor([[3.0, 4.0], [5.0, 6.0]])).tolist()
    [[11.0, 17.0]]
    """
    leading_axes(query=query, key=key)
    check_same_width(query, key)
    return query @ key.transpose(-2, -1)  # (…, n, m)


def scaled_dot(query: Queries, key: Keys) -> Scores:
    """`scaled_dot(query, key)` is `dot(query, key)` divided by the root of d_k, here by 2.

    >>> scaled_dot(torch.ones(1, 4), torch.ones(2, 4)).tolist()
    [[2.0, 2.0]]
    """
    # Scaling the queries is n·d_k divisions in place of n·m, and keeps float16 scores in range.
    return dot(query / math.sqrt(query.shape[-1]), key)


def general(query: Queries, key: Keys, weight: Tensor) -> Scores:
    """`general(query, key, weight)` is Luong's queryᵀ W key, so that query and key may differ in width.

    >>> query, key = torch.tensor([[1.0, 2.0]]), torch.tensor([[1.0, 0.0, 3.0]])
    >>> general(query, key, torch.ones(2, 3)).tolist()
    [[12.0]]
    """
    leading_axes(query=query, key=key)
    _check_parameter("weight", weight, (query.shape[-1], key.shape[-1]), "(d_query, d_key)")
    return dot(query @ weight, key)  # (…, n, d_query) @ (d_query, d_key), then (…, n, m)


def concat(query: Queries, key: Keys, weight: Tensor, vector: Tensor) -> Scores:
    """`concat(query, key, weight, vector)` is Luong's vᵀ tanh(W [query; key]), one W for the two end to end.

    The left columns of W meet only the query and the right ones only the key: this is the additive score with
    its two matrices side by side, and nothing has to be concatenated.

    >>> query, key = torch.tensor([[0.5]]), torch.tensor([[-0.5], [9.5]])
    >>> concat(query, key, torch.ones(1, 2), torch.ones(1)).tolist()
    [[0.0, 1.0]]
    """
    leading_axes(query=query, key=key)
    d_query, d_key = query.shape[-1], key.shape[-1]
    _check_parameter("weight", weight, (len(vector), d_query + d_key), "(hidden, d_query + d_key)")
    return additive(query, key, weight[:, :d_query], weight[:, d_query:], vector)


def additive(
    query: Queries,
    key: Keys,
    query_weight: Tensor,
    key_weight: Tensor,
    vector: Tensor,
    chunk: int | Literal["auto"] | None = None,
) -> Scores:
    """`additive(query, key, query_weight, key_weight, vector)` is Bahdanau's vᵀ tanh(W query + U key).

    W is (hidden, d_query), U is (hidden, d_key) and v is (hidden,). By default the whole (…, n, m, hidden)
    tensor is built. With chunk=16 it is built for 16 queries at a time, and again on the way back, which
    gives the same scores and gradients in far less memory; chunk="auto" chooses the number.

    >>> query, key = torch.tensor([[0.5]]), torch.tensor([[-0.5], [9.5]])
    >>> one = torch.ones(1, 1)
    >>> additive(query, key, one, one, torch.ones(1)).tolist()
    [[0.0, 1.0]]
    """
    leading = leading_axes(query=query, key=key)
    if vector.dim() != 1:
        raise ValueError(f"vector must be (hidden,), got {tuple(vector.shape)}")
    hidden = vector.shape[0]
    _check_parameter("query_weight", query_weight, (hidden, query.shape[-1]), "(hidden, d_query)")
    _check_parameter("key_weight", key_weight, (hidden, key.shape[-1]), "(hidden, d_key)")
    query = query @ query_weight.T  # (…, n, hidden)
    key = key @ key_weight.T  # (…, m, hidden)
    if chunk is None:
        return _hidden(query, key) @ vector  # (…, n, m)
    # Expanded (a view), so that the gradients made below have the shapes of what they belong to.
    query, key = query.expand(*leading, -1, -1), key.expand(*leading, -1, -1)
    if chunk == "auto":
        # Without keys there is nothing to divide by, and nothing to hold.
        chunk = max(1, CHUNK_ELEMENTS // max(1, key.numel()))
    elif not isinstance(chunk, int) or chunk < 1:
        raise ValueError(f'chunk must be None, "auto" or at least 1 query, got {chunk!r}')
    scores: Scores = _LeanAdditive.apply(query, key, vector, chunk)  # type: ignore[no-untyped-call]
    return scores


def _hidden(query: Tensor, key: Tensor) -> Tensor:
    """`_hidden(query, key)` is tanh(query + key) for every pair: (…, n, h) and (…, m, h) to (…, n, m, h)."""
    # In place: the sum is not needed again, and a second tensor of this size would double the peak.
    return (query.unsqueeze(-2) + key.unsqueeze(-3)).tanh_()


class _LeanAdditive(torch.autograd.Function):
    """`_LeanAdditive.apply(query, key, vector, 16)` keeps its inputs alone, and recomputes the rest."""

    generate_vmap_rule = True

    @staticmethod
    def forward(query: Tensor, key: Tensor, vector: Tensor, chunk: int) -> Scores:
        return torch.cat([_hidden(rows, key) @ vector for rows in torch.split(query, chunk, dim=-2)], dim=-2)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, Tensor, Tensor, int], output: Scores) -> None:
        query, key, vector, ctx.chunk = inputs
        ctx.save_for_backward(query, key, vector)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Scores) -> tuple[Tensor, Tensor, Tensor, None]:
        query, key, vector = ctx.saved_tensors
        grad_query = []
        grad_key, grad_vector = torch.zeros_like(key), torch.zeros_like(vector)
        query_chunks, grad_chunks = (torch.split(x, ctx.chunk, dim=-2) for x in (query, grad))
        for rows, grad_rows in zip(query_chunks, grad_chunks, strict=True):
            hidden = _hidden(rows, key)  # (…, chunk, m, h)
            grad_rows = grad_rows.unsqueeze(-1)  # (…, chunk, m, 1)
            grad_vector = grad_vector + (grad_rows * hidden).flatten(0, -2).sum(0)
            # tanh' = 1 - tanh²
            slope = grad_rows * (1 - hidden.square())
            grad_query.append(slope.sum(-2))  # (…, chunk, h)
            grad_key = grad_key + slope.sum(-3)  # (…, m, h)
        return torch.cat(grad_query, dim=-2) * vector, grad_key * vector, grad_vector, None


class General(nn.Module):
    """`General(d_query=2, d_key=3)` holds the (2, 3) matrix of `general`."""

    def __init__(self, d_query: int, d_key: int) -> None:
        super().__init__()
        self.weight = _drawn_as_linear(d_query, d_key)

    def forward(self, query: Queries, key: Keys) -> Scores:
        """`General(2, 3)(query, key)` scores (…, n, 2) against (…, m, 3)."""
        return general(query, key, self.weight)


class Concat(nn.Module):
    """`Concat(d_query=2, d_key=3, hidden=8)` holds the (8, 5) matrix and the vector of `concat`."""

    def __init__(self, d_query: int, d_key: int, hidden: int) -> None:
        super().__init__()
        self.weight = _drawn_as_linear(hidden, d_query + d_key)
        self.vector = _drawn_as_linear(hidden)

    def forward(self, query: Queries, key: Keys) -> Scores:
        """`Concat(2, 3, 8)(query, key)` scores (…, n, 2) against (…, m, 3)."""
        return concat(query, key, self.weight, self.vector)


class Additive(nn.Module):
    """`Additive(d_query=2, d_key=3, hidden=8)` holds the two matrices and the vector of `additive`."""

    def __init__(
        self, d_query: int, d_key: int, hidden: int, chunk: int | Literal["auto"] | None = None
    ) -> None:
        super().__init__()
        self.query_weight = _drawn_as_linear(hidden, d_query)
        self.key_weight = _drawn_as_linear(hidden, d_key)
        self.vector = _drawn_as_linear(hidden)
        self.chunk = chunk

    def forward(self, query: Queries, key: Keys) -> Scores:
        """`Additive(2, 3, 8)(query, key)` scores (…, n, 2) against (…, m, 3)."""
        return additive(query, key, self.query_weight, self.key_weight, self.vector, self.chunk)


def _drawn_as_linear(*shape: int) -> nn.Parameter:
    """`_drawn_as_linear(8, 4)` lies between -1/2 and 1/2, as nn.Linear draws what reads 4 numbers."""
    bound = 1 / math.sqrt(shape[-1])
    return nn.Parameter(torch.empty(shape).uniform_(-bound, bound))


def leading_axes(**inputs: Tensor) -> torch.Size:
    """`leading_axes(query=query, key=key)` is the shape before (length, width), if they have one in common.

    >>> leading_axes(query=torch.ones(2, 1, 5, 8), key=torch.ones(3, 7, 8))
    torch.Size([2, 3])
    """
    (first_name, first), *_ = inputs.items()
    for name, x in inputs.items():
        if x.dim() < 2:
            raise ValueError(f"{name} must have at least 2 axes (…, length, width), got {tuple(x.shape)}")
        if x.device != first.device:
            raise ValueError(f"{name} is on {x.device}, {first_name} is on {first.device}")
    shapes = [x.shape[:-2] for x in inputs.values()]
    # First the usual case: broadcast_shapes takes longer than attention over a short sequence.
    if shapes[1:] == shapes[:-1]:
        return shapes[0]
    try:
        return torch.broadcast_shapes(*shapes)  # type: ignore[no-any-return, no-untyped-call]
    except RuntimeError:
        got = ", ".join(f"{name} {tuple(x.shape)}" for name, x in inputs.items())
        raise ValueError(f"the leading axes must be equal or 1, got {got}") from None


def check_same_width(query: Queries, key: Keys) -> None:
    """`check_same_width(query, key)` raises unless each query can be multiplied by each key."""
    if key.shape[-1] != query.shape[-1]:
        raise ValueError(f"key has d_k = {key.shape[-1]}, query has {query.shape[-1]}")


def _check_parameter(name: str, parameter: Tensor, expected: tuple[int, ...], meaning: str) -> None:
    if parameter.shape != expected:
        raise ValueError(f"{name} must be {meaning} = {expected}, got {tuple(parameter.shape)}")
