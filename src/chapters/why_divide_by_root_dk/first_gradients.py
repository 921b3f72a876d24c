"""The gradients of a look-up's first step, on its queries and on the matrix that makes them."""

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from attnlab import scores
from attnlab.runtime import generator


def gradients(d_k: int, divisor: float, seed: int = 0) -> tuple[Tensor, Tensor]:
    """`gradients(64, 8)` is its size on each query, and on W_Q, where query i should fetch value i."""
    source, models = generator(seed), 40
    token = torch.randn(2, models, 16, 64, generator=source, dtype=torch.float64)
    weight = torch.randn(2, models, 64, d_k, generator=source, dtype=torch.float64) / 8
    value = one_hot(torch.randint(8, (models, 4, 16), generator=source)).double()
    query_weight = weight[0].requires_grad_()
    query = token[0] @ query_weight  # (models, 16, d_k), components of variance 1
    weights = (scores.dot(query, token[1] @ weight[1]) / divisor).softmax(-1).unsqueeze(1)
    error = (weights @ value - value).square().sum()
    on_query, on_weight = torch.autograd.grad(error, [query, query_weight])
    return on_query.norm(dim=-1), on_weight.flatten(1).norm(dim=-1)


def first_gradients(d_k: int, divisor: float) -> Tensor:
    """`first_gradients(64, 8)` is its size on the average query, the typical one, all of W_Q: (3,)."""
    on_query, on_weight = gradients(d_k, divisor)
    return torch.stack([on_query.mean(), on_query.median(), on_weight.mean()])
