"""The parts of a Transformer around attention: embedding, normalisation, feed-forward, and whole layers."""

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from attnlab import require
from attnlab.attention import Cache, MultiHeadAttention, Score
from attnlab.scores import scaled_dot
from attnlab.shapes import Mask, Vectors


class ScaledEmbedding(nn.Module):
    """`ScaledEmbedding(vocabulary=20000, d_model=512)(ids)` turns ids (B, T) into vectors (B, T, 512).

    The vectors are rows of `weight` times √d_model. Rows are drawn with variance 1/d_model, so that a scaled
    word starts with numbers of variance 1, about as large as the positions that are added to it.

    >>> embedding = ScaledEmbedding(vocabulary=10, d_model=4)
    >>> _ = nn.init.constant_(embedding.weight, 0.5)
    >>> embedding(torch.tensor([[7, 2]])).tolist()
    [[[1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0]]]
    """

    def __init__(self, vocabulary: int, d_model: int) -> None:
        super().__init__()
        require.at_least(1, vocabulary=vocabulary, d_model=d_model)
        self.weight = nn.Parameter(torch.randn(vocabulary, d_model) / math.sqrt(d_model))

    def forward(self, ids: Tensor) -> Vectors:
        """`ScaledEmbedding(20000, 512)(ids)` adds an axis of 512 to the shape of ids."""
        if ids.dtype not in (torch.int64, torch.int32):
            raise TypeError(f"ids must be int64 or int32, got {ids.dtype}")
        return F.embedding(ids, self.weight) * math.sqrt(self.weight.shape[-1])  # (B, T, d_model)


class LayerNorm(nn.Module):
    """`LayerNorm(d_model=5)(inputs)` gives each vector mean 0 and variance 1, then a learned gain and bias.

    Every vector is normalised by its own numbers alone: neither the batch nor the other positions matter.

    >>> LayerNorm(d_model=2)(torch.tensor([[3.0, 7.0], [-100.0, 100.0]])).round().tolist()
    [[-1.0, 1.0], [-1.0, 1.0]]
    """

    def __init__(self, d_model: int, eps: float = 1e-5) -> None:
        super().__init__()
        require.at_least(1, d_model=d_model)
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, inputs: Vectors) -> Vectors:
        """`LayerNorm(5)(inputs)` has the shape and the dtype of inputs, (…, 5)."""
        require.axes("inputs", inputs, "…", d_model=len(self.weight))
        # One pass in C++, in place of one for each step of the formula, and on the way back likewise. Half
        # precision is widened on the way in: in float16 the square of 256 is already infinite. eps is inside
        # the root: a vector of equal numbers is divided by √eps, and not by 0.
        return F.layer_norm(inputs, self.weight.shape, self.weight, self.bias, self.eps)  # (…, d_model)


class RMSNorm(nn.Module):
    """`RMSNorm(d_model=512)(inputs)` makes the mean of each vector's squares 1, and takes no mean off.

    >>> RMSNorm(d_model=2)(torch.tensor([[3.0, 4.0]])).square().mean().round(decimals=4).item()
    1.0
    """

    def __init__(self, d_model: int, eps: float = 1e-6) -> None:
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.ones(d_model)), eps

    def forward(self, inputs: Vectors) -> Vectors:
        """`norm(inputs)` has the shape and the dtype of inputs, (…, d_model)."""
        wide = inputs.float()  # in half precision a square is soon too large
        normal = wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + self.eps)
        return self.weight * normal.to(inputs.dtype)


class FeedForward(nn.Module):
    """`FeedForward(d_model=512, hidden=2048)(inputs)` widens vectors, drops what is negative, narrows them.

    Every position goes through the same weights by itself.

    >>> FeedForward(d_model=4, hidden=16)(torch.zeros(2, 3, 4)).shape
    torch.Size([2, 3, 4])
    """

    def __init__(self, d_model: int, hidden: int, dropout: float = 0.0) -> None:
        super().__init__()
        require.at_least(1, d_model=d_model, hidden=hidden)
        self.widen = nn.Linear(d_model, hidden)
        self.dropout = nn.Dropout(dropout)
        self.narrow = nn.Linear(hidden, d_model)

    def forward(self, inputs: Vectors) -> Vectors:
        """`FeedForward(512, 2048)(inputs)` has the shape of inputs, (B, T, 512)."""
        hidden = self.dropout(self.widen(inputs).relu())  # (B, T, hidden)
        outputs: Vectors = self.narrow(hidden)  # (B, T, d_model)
        return outputs


class Residual(nn.Module):
    """`Residual(d_model=512)(inputs, block)` is norm(inputs + block(inputs)), as in the first Transformer.

    With norm_first it is inputs + block(norm(inputs)): the inputs then pass from layer to layer unchanged but
    for what is added, and deep stacks can train without a warm-up.

    >>> double = Residual(d_model=2, norm_first=True)
    >>> double(torch.tensor([[3.0, 7.0]]), lambda vectors: 10 * vectors).round().tolist()
    [[-7.0, 17.0]]
    """

    def __init__(self, d_model: int, dropout: float = 0.0, norm_first: bool = False) -> None:
        super().__init__()
        self.norm = LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)
        self.norm_first = norm_first

    def forward(self, inputs: Vectors, block: Callable[[Vectors], Vectors]) -> Vectors:
        """`Residual(512)(inputs, block)` has the shape of inputs, which block must keep."""
        added = block(self.norm(inputs) if self.norm_first else inputs)
        require.same_shape("block must keep the shape", added, inputs.shape)
        outputs: Vectors = inputs + self.dropout(added)  # (B, T, d_model)
        return outputs if self.norm_first else self.norm(outputs)


class EncoderLayer(nn.Module):
    """`EncoderLayer(d_model=512, heads=8, hidden=2048)(inputs, mask)` lets each position read the others.

    With `causal(T)` as mask, this is also the layer of a model that has a decoder only. With `rotary` or
    `alibi` of attnlab.positions as score, it can tell where each position stands.

    >>> EncoderLayer(d_model=8, heads=2, hidden=16)(torch.zeros(3, 5, 8)).shape
    torch.Size([3, 5, 8])
    """

    def __init__(
        self,
        d_model: int,
        heads: int,
        hidden: int,
        dropout: float = 0.0,
        norm_first: bool = False,
        score: Score = scaled_dot,
    ) -> None:
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, heads, dropout, score)
        self.around_self_attention = Residual(d_model, dropout, norm_first)
        self.feed_forward = FeedForward(d_model, hidden, dropout)
        self.around_feed_forward = Residual(d_model, dropout, norm_first)

    def forward(self, inputs: Vectors, mask: Mask | None = None, cache: Cache | None = None) -> Vectors:
        """`EncoderLayer(512, 8, 2048)(inputs, mask)` has the shape of inputs, (B, T, 512).

        mask is (B|1, T|1, T), True where a position may attend. With a cache of the words before, its last
        axis counts those too.
        """
        vectors = self.around_self_attention(
            inputs, lambda x: self.self_attention(x, mask=mask, need_weights=False, cache=cache)[0]
        )
        outputs: Vectors = self.around_feed_forward(vectors, self.feed_forward)
        return outputs


class DecoderLayer(nn.Module):
    """`DecoderLayer(d_model=512, heads=8, hidden=2048)(inputs, memory, mask, memory_mask)` also reads memory.

    inputs are the words so far, under a causal mask; memory is what an encoder made of another sequence.
    The score is that of self-attention: what stands in memory has places of its own.

    >>> inputs, memory = torch.zeros(3, 5, 8), torch.zeros(3, 7, 8)
    >>> DecoderLayer(d_model=8, heads=2, hidden=16)(inputs, memory).shape
    torch.Size([3, 5, 8])
    """

    def __init__(
        self,
        d_model: int,
        heads: int,
        hidden: int,
        dropout: float = 0.0,
        norm_first: bool = False,
        score: Score = scaled_dot,
    ) -> None:
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, heads, dropout, score)
        self.around_self_attention = Residual(d_model, dropout, norm_first)
        self.cross_attention = MultiHeadAttention(d_model, heads, dropout)
        self.around_cross_attention = Residual(d_model, dropout, norm_first)
        self.feed_forward = FeedForward(d_model, hidden, dropout)
        self.around_feed_forward = Residual(d_model, dropout, norm_first)

    def forward(
        self, inputs: Vectors, memory: Vectors, mask: Mask | None = None, memory_mask: Mask | None = None
    ) -> Vectors:
        """`DecoderLayer(512, 8, 2048)(inputs, memory)` has the shape of inputs, (B, T, 512).

        memory is (B, S, 512). mask is (B|1, T|1, T) and memory_mask (B|1, T|1, S), True where a position of
        inputs may attend.
        """
        vectors = self.around_self_attention(
            inputs, lambda x: self.self_attention(x, mask=mask, need_weights=False)[0]
        )
        vectors = self.around_cross_attention(
            vectors, lambda x: self.cross_attention(x, memory, mask=memory_mask, need_weights=False)[0]
        )
        outputs: Vectors = self.around_feed_forward(vectors, self.feed_forward)
        return outputs


def start(model: nn.Module, spread: float, layers: int) -> None:
    """`start(model, 0.02, layers=12)` draws all weights anew, as GPT-2's are: 0.02 is their spread.

    What writes to the residual stream must be called `write` or `narrow`: it gets less.
    """
    require.above_zero(spread=spread)
    for name, weight in model.named_parameters():
        if weight.dim() == 2:
            # What is added to the stream adds up: 2 · layers times. √ of that keeps the sum's size.
            adds = name.endswith(("write.weight", "narrow.weight"))
            nn.init.normal_(weight, std=spread / (math.sqrt(2 * layers) if adds else 1))
        else:
            nn.init.constant_(weight, 0 if name.endswith("bias") else 1)
