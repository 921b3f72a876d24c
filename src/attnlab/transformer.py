"""Whole models: the Transformer that reads one sequence and writes another, the decoder alone, and a GPT."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from attnlab import require
from attnlab.attention import Cache
from attnlab.layers import DecoderLayer, EncoderLayer, LayerNorm, ScaledEmbedding, start
from attnlab.masks import causal, padding
from attnlab.positions import SinusoidalPositions
from attnlab.shapes import Lengths, Mask, Vectors


class Transformer(nn.Module):
    """`Transformer(85, 148, d_model=64, heads=4, hidden=128, layers=2)(source, lengths, previous)`.

    The encoder reads source, (B, S) ids, whose rows are as long as lengths says. The decoder is given the
    right words so far, previous (B, T), and what comes out are logits (B, T, 148) for the word after each.

    >>> import torch
    >>> model = Transformer(85, 148, d_model=16, heads=2, hidden=32, layers=1)
    >>> source, lengths = torch.tensor([[5, 7, 2], [9, 2, 0]]), torch.tensor([3, 2])
    >>> model(source, lengths, previous=torch.tensor([[1, 4], [1, 8]])).shape
    torch.Size([2, 2, 148])
    """

    def __init__(
        self,
        source_words: int,
        target_words: int,
        d_model: int,
        heads: int,
        hidden: int,
        layers: int,
        dropout: float = 0.0,
        norm_first: bool = True,
    ) -> None:
        super().__init__()
        sizes = d_model, heads, hidden, dropout, norm_first
        self.read = ScaledEmbedding(source_words, d_model)
        self.written = ScaledEmbedding(target_words, d_model)
        self.positions = SinusoidalPositions(d_model, dropout=dropout)
        self.encoder = nn.ModuleList(EncoderLayer(*sizes) for _ in range(layers))
        self.encoder_norm = LayerNorm(d_model)
        self.decoder = nn.ModuleList(DecoderLayer(*sizes) for _ in range(layers))
        self.decoder_norm = LayerNorm(d_model)
        self.word = nn.Linear(d_model, target_words)

    def encode(self, source: Tensor, mask: Mask) -> Vectors:
        """`memory = model.encode(source, padding(lengths))` is what it reads, (B, S, d_model)."""
        vectors = self.positions(self.read(source))  # (B, S, d_model)
        for layer in self.encoder:
            vectors = layer(vectors, mask)
        return self.encoder_norm(vectors)  # type: ignore[no-any-return]

    def decode(self, previous: Tensor, memory: Vectors, memory_mask: Mask) -> Tensor:
        """`model.decode(previous, memory, padding(lengths))` are the logits (B, T, words)."""
        vectors = self.positions(self.written(previous))  # (B, T, d_model)
        so_far = causal(previous.shape[1], device=previous.device)
        for layer in self.decoder:
            vectors = layer(vectors, memory, so_far, memory_mask)
        return self.word(self.decoder_norm(vectors))  # type: ignore[no-any-return]

    def forward(self, source: Tensor, lengths: Lengths, previous: Tensor) -> Tensor:
        """`model(source, lengths, previous)` is `model.decode` of `model.encode`."""
        mask = padding(lengths, source.shape[1])  # (B, 1, S)
        return self.decode(previous, self.encode(source, mask), mask)


class LanguageModel(nn.Module):
    """`LanguageModel(37, d_model=64, heads=4, hidden=256, layers=2)(words)` goes on with a text.

    It is a decoder that has nothing else to read. Of words (B, T) it makes logits (B, T, 37) for the word
    after each. positions tells it where words stand; without it the sinusoidal table does.

    >>> import torch
    >>> model = LanguageModel(words=37, d_model=16, heads=2, hidden=32, layers=1)
    >>> model(torch.tensor([[1, 5, 9]])).shape
    torch.Size([1, 3, 37])
    """

    def __init__(
        self,
        words: int,
        d_model: int,
        heads: int,
        hidden: int,
        layers: int,
        dropout: float = 0.0,
        positions: nn.Module | None = None,
    ) -> None:
        super().__init__()
        self.embedding = ScaledEmbedding(words, d_model)
        self.positions = SinusoidalPositions(d_model, dropout=dropout) if positions is None else positions
        self.layers = nn.ModuleList(
            EncoderLayer(d_model, heads, hidden, dropout, norm_first=True) for _ in range(layers)
        )
        self.norm = LayerNorm(d_model)
        self.word = nn.Linear(d_model, words)

    def caches(self) -> list[Cache]:
        """`caches = model.caches()` are empty, one for each layer."""
        return [Cache() for _ in self.layers]

    def forward(self, words: Tensor, caches: list[Cache] | None = None) -> Tensor:
        """`model(words, caches)` goes on behind the words that the caches remember, and remembers these too.

        >>> import torch
        >>> model = LanguageModel(words=37, d_model=16, heads=2, hidden=32, layers=1)
        >>> text, caches = torch.tensor([[1, 5, 9, 4]]), model.caches()
        >>> start = model(text[:, :3], caches)
        >>> torch.allclose(model(text[:, 3:], caches), model(text)[:, 3:], atol=1e-5)
        True
        """
        before = 0 if caches is None else caches[0].length
        of_layers = [None] * len(self.layers) if caches is None else caches
        vectors = self.positions(self.embedding(words), offset=before)  # (B, T, d_model)
        so_far = causal(words.shape[1], before + words.shape[1], words.device)  # (1, T, before + T)
        for layer, cache in zip(self.layers, of_layers, strict=True):
            vectors = layer(vectors, so_far, cache)
        return self.word(self.norm(vectors))  # type: ignore[no-any-return]


# ---- a decoder alone, as GPT-2 builds it ----


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
        self,
        vocabulary: int,
        d_model: int,
        heads: int,
        layers: int,
        context: int,
        dropout: float = 0.0,
        spread: float = 0.02,
    ) -> None:
        super().__init__()
        require.at_least(1, vocabulary=vocabulary, d_model=d_model, layers=layers, context=context)
        require.dropout(dropout)
        require.above_zero(spread=spread)
        self.context = context
        self.pieces = nn.Embedding(vocabulary, d_model)
        self.places = nn.Embedding(context, d_model)
        self.dropout = nn.Dropout(dropout)
        self.blocks = nn.ModuleList(Block(d_model, heads, dropout) for _ in range(layers))
        self.norm = nn.LayerNorm(d_model)
        self.start(spread)

    def start(self, spread: float = 0.02) -> None:
        """`model.start()` draws all weights anew, as GPT-2's are: 0.02 is their standard deviation."""
        start(self, spread, len(self.blocks))

    def forward(self, ids: Tensor) -> Tensor:
        """`model(ids)` are logits (B, T, vocabulary) of ids (B, T)."""
        require.ids(ids, len(self.pieces.weight), self.context)
        places = torch.arange(ids.shape[1], device=ids.device)  # (T,)
        stream = self.dropout(self.pieces(ids) + self.places(places))  # (B, T, d_model)
        for block in self.blocks:
            stream = block(stream)
        # One table at both ends: a piece is likely where the stream points the way of its row.
        return F.linear(self.norm(stream), self.pieces.weight)  # (B, T, vocabulary)
