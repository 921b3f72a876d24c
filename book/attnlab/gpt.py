"""A GPT: the decoder alone, as GPT-2 builds it, to be trained on ids and to go on with them."""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from attnlab import require
from attnlab.shapes import Vectors


class SelfAttention(nn.Module):
    """`SelfAttention(d_model=96, heads=3)(inputs)`: all queries, keys and values from one matrix."""

    def __init__(self, d_model: int, heads: int, dropout: float = 0.0) -> None:
        super().__init__()
        require.divisor(heads, d_model)
        self.heads, self.dropout = heads, dropout
        self.project = nn.Linear(d_model, 3 * d_model)
        self.write = nn.Linear(d_model, d_model)

    def forward(self, inputs: Vectors) -> Vectors:
        """`attention(inputs)` has the shape of inputs, (B, T, d_model); no place sees a later one."""
        parts = self.project(inputs).unflatten(-1, (3, self.heads, -1))  # (B, T, 3, heads, d_k)
        query, key, value = parts.permute(2, 0, 3, 1, 4)  # (B, heads, T, d_k) each
        dropout = self.dropout if self.training else 0.0
        found = F.scaled_dot_product_attention(query, key, value, dropout_p=dropout, is_causal=True)
        outputs: Vectors = self.write(found.transpose(1, 2).flatten(2))  # (B, T, d_model)
        return outputs


class Block(nn.Module):
    """`Block(d_model=96, heads=3)(stream)` reads the residual stream twice, and adds to it twice."""

    def __init__(self, d_model: int, heads: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.before_attention = nn.LayerNorm(d_model)
        self.attention = SelfAttention(d_model, heads, dropout)
        self.before_network = nn.LayerNorm(d_model)
        self.widen = nn.Linear(d_model, 4 * d_model)
        self.narrow = nn.Linear(4 * d_model, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, stream: Vectors) -> Vectors:
        """`block(stream)` has the shape of stream, (B, T, d_model)."""
        stream = stream + self.dropout(self.attention(self.before_attention(stream)))
        wide = F.gelu(self.widen(self.before_network(stream)), approximate="tanh")  # (B, T, 4 · d_model)
        return stream + self.dropout(self.narrow(wide))  # type: ignore[no-any-return]


class GPT(nn.Module):
    """`GPT(1024, d_model=96, heads=3, layers=3, context=128)(ids)` are logits for the piece after each.

    >>> model = GPT(1024, d_model=96, heads=3, layers=3, context=128)
    >>> model(torch.zeros(2, 50, dtype=torch.long)).shape
    torch.Size([2, 50, 1024])
    """

    def __init__(
        self, vocabulary: int, d_model: int, heads: int, layers: int, context: int, dropout: float = 0.0
    ) -> None:
        super().__init__()
        require.at_least(1, vocabulary=vocabulary, layers=layers, context=context)
        self.context = context
        self.pieces = nn.Embedding(vocabulary, d_model)
        self.places = nn.Embedding(context, d_model)
        self.dropout = nn.Dropout(dropout)
        self.blocks = nn.ModuleList(Block(d_model, heads, dropout) for _ in range(layers))
        self.norm = nn.LayerNorm(d_model)
        self.start()

    def start(self) -> None:
        """`model.start()` draws all weights anew, as GPT-2's are."""
        for name, weight in self.named_parameters():
            if weight.dim() == 2:
                # What is added to the stream adds up: 2 · layers times. √ of that keeps the sum's size.
                adds = name.endswith(("write.weight", "narrow.weight"))
                nn.init.normal_(weight, std=0.02 / (math.sqrt(2 * len(self.blocks)) if adds else 1))
            elif name.endswith("bias"):
                nn.init.zeros_(weight)

    def forward(self, ids: Tensor) -> Tensor:
        """`model(ids)` are logits (B, T, vocabulary) of ids (B, T)."""
        require.ids(ids, len(self.pieces.weight), self.context)
        places = torch.arange(ids.shape[1], device=ids.device)  # (T,)
        stream = self.dropout(self.pieces(ids) + self.places(places))  # (B, T, d_model)
        for block in self.blocks:
            stream = block(stream)
        # One table at both ends: a piece is likely where the stream points the way of its row.
        return F.linear(self.norm(stream), self.pieces.weight)  # (B, T, vocabulary)
