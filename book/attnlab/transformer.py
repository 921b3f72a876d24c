"""Whole models: the Transformer that reads one sequence and writes another, and the decoder alone."""

from torch import Tensor, nn

from attnlab.attention import Cache
from attnlab.layers import DecoderLayer, EncoderLayer, LayerNorm, ScaledEmbedding
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
