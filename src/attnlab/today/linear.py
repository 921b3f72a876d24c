"""Attention without a softmax: what was read is kept in a state that does not grow."""

import torch
from torch import Tensor
from torch.nn import functional as F

from attnlab import require
from attnlab.shapes import Keys, Queries, Values


def positive(vectors: Queries | Keys) -> Tensor:
    """`positive(key)` are its features: none is below 0, so that no weight made of them is.

    >>> positive(torch.tensor([-100.0, 0.0, 2.0])).tolist()
    [0.0, 1.0, 3.0]
    """
    return F.elu(vectors) + 1


def linear(query: Queries, key: Keys, value: Values, decay: float = 1.0, chunk: int = 64) -> Tensor:
    """`linear(query, key, value)` mixes, for each word, the values up to its own, (…, T, d_v).

    The weight of word s for word t is decay^(t - s) · positive(query_t)·positive(key_s), divided by the sum
    of all that t gives. Within a chunk of words the weights are a table; from one chunk to the next goes a
    state. However long the text is, no table is larger than (chunk, chunk).

    >>> query, key = torch.zeros(3, 4), torch.zeros(3, 4)  # all are alike to all
    >>> linear(query, key, torch.tensor([[0.0], [6.0], [3.0]])).tolist()
    [[0.0], [3.0], [3.0]]
    """
    require.at_least(1, chunk=chunk)
    require.same_words(query, key, value)
    outputs, state = [], None
    queries, keys, values = (torch.split(tensor, chunk, dim=-2) for tensor in (query, key, value))
    for of_chunk in zip(queries, keys, values, strict=True):
        output, state = linear_step(*of_chunk, state, decay)
        outputs.append(output)
    return torch.cat(outputs, dim=-2)  # (…, T, d_v)


def linear_step(
    query: Queries, key: Keys, value: Values, state: Tensor | None = None, decay: float = 1.0
) -> tuple[Tensor, Tensor]:
    """`output, state = linear_step(query, key, value, state)` goes on by a word, or by several.

    All three are (…, n, width), the output is (…, n, d_v), and the state (…, d_k, d_v + 1), None before the
    first word. Its last column is for a value that is always 1: so it adds up weights, to divide by.

    >>> query, key, value = torch.randn(3, 5, 4)
    >>> state = None
    >>> for word in range(5):
    ...     output, state = linear_step(query[[word]], key[[word]], value[[word]], state)
    >>> torch.allclose(output, linear(query, key, value)[[4]], atol=1e-5)
    True
    """
    require.same_words(query, key, value)
    require.decay(decay)
    # In half precision a sum stops growing: from 256 on, one more is rounded away.
    wide = torch.promote_types(value.dtype, torch.float32)
    query, key = positive(query.to(wide)), positive(key.to(wide))  # (…, n, d_k)
    given = F.pad(value.to(wide), (0, 1), value=1.0)  # (…, n, d_v + 1)
    if state is None:
        state = given.new_zeros(key.shape[-1], given.shape[-1])
    require.leading_axes(query=query, state=state)
    require.axes("state", state, "…", **{"d_k": key.shape[-1], "d_v + 1": given.shape[-1]})

    n = query.shape[-2]
    place = torch.arange(n, device=value.device, dtype=wide)[:, None]  # (n, 1)
    back = (place - place.mT).clamp(min=0)  # else a small decay's power overflows, and gradients are NaN
    left = (decay**back).tril()  # (n, n), of each word before, and nothing of those behind
    mixed = (query @ key.mT * left) @ given + decay ** (place + 1) * (query @ state)  # (…, n, d_v + 1)
    state = decay**n * state + (decay ** (n - 1 - place) * key).mT @ given  # (…, d_k, d_v + 1)
    # A query whose features are all 0 has no weights to divide by, and gets 0.
    total = mixed[..., -1:].clamp(min=torch.finfo(wide).tiny)
    return (mixed[..., :-1] / total).to(value.dtype), state
