"""Models that have nothing wrong with them, in which `checkup` must find nothing.

`model, batch, options = HEALTHY["a GPT"]()`: options are keyword arguments of checkup. A batch is called
as a model's caller would call it: ids alone, `model(*batch)` or `model(**batch)`.
"""

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import torch
from faulty_models.families import FAMILIES, PADDING, drawn, for_translating, padded
from healthy_others import OTHERS, WORDS, Case, writes
from torch import Tensor, nn

from attnlab.attention import MultiHeadAttention
from attnlab.corpora import agreement, grammar
from attnlab.decoding import left_padded
from attnlab.layers import EncoderLayer
from attnlab.masks import causal, window
from attnlab.positions import LearnedPositions, alibi, rotary
from attnlab.runtime import generator
from attnlab.today.model import Today
from attnlab.transformer import GPT, LanguageModel, Transformer
from bookkit import weights
from chapters.a_gpt_of_your_own import models as gpts
from chapters.looking_inside import models as looking
from chapters.the_block_of_today import mixed
from chapters.the_block_of_today import models as blocks
from chapters.the_transformer import models as transformers
from chapters.translating_with_attention import models as translators
from chapters.writing_faster import models as helpers


def of_family(name: str) -> Case:
    family = FAMILIES[name]
    options = {} if family.padding is None else {"padding": family.padding}
    return family.build(), family.batch(), options


# ---- untrained ----


def transformer(dtype: torch.dtype = torch.float32, **more: Any) -> Case:
    sizes = {"d_model": 32, "heads": 4, "hidden": 64, "layers": 2} | more
    return Transformer(23, 27, **sizes).to(dtype), for_translating(23, 27), {"padding": PADDING}


def smallest_transformer() -> Case:
    model = Transformer(7, 9, d_model=6, heads=3, hidden=5, layers=1)
    lengths = torch.tensor([5, 2])
    return model, (padded(7, lengths, seed=7), lengths, drawn(9, 2, 5, seed=8, least=1)), {"padding": PADDING}


def one_sentence() -> Case:
    model, _, options = transformer()
    source, previous = drawn(23, 1, 6, seed=9, least=3), drawn(27, 1, 5, seed=9, least=3)
    return model, (source, torch.tensor([6]), previous), options


def decoder(words: int, d_model: int = 32, heads: int = 4, layers: int = 2, **more: Any) -> LanguageModel:
    return LanguageModel(words, d_model, heads, 2 * d_model, layers, **more)


def gpt(words: int, heads: int = 3, layers: int = 2, **more: Any) -> GPT:
    return GPT(words, 24, heads, layers, context=64, spread=0.113, **more)


def today(words: int, **more: Any) -> Today:
    sizes = {"d_model": 24, "heads": 4, "groups": 2, "hidden": 48, "layers": 2, "longest": 64} | more
    return Today(words, **sizes, spread=0.113)


def behind_padding() -> Case:
    """A batch whose texts end together; the model is told what is padding, and where each word stands."""
    rows = [drawn(WORDS, 1, length, seed=length, least=1)[0].tolist() for length in (9, 6, 3)]
    ids, visible, places = left_padded(rows, filler=PADDING)
    return today(WORDS), {"ids": ids, "visible": visible, "places": places}, {"padding": PADDING}


class Relative(nn.Module):
    """`Relative(23, rotary)(ids)`: positions in the scores alone."""

    def __init__(self, words: int, score: Callable[[Tensor, Tensor], Tensor]) -> None:
        super().__init__()
        self.embedding, self.norm, self.word = nn.Embedding(words, 16), nn.LayerNorm(16), nn.Linear(16, words)
        self.layers = nn.ModuleList(EncoderLayer(16, 2, 32, norm_first=True, score=score) for _ in range(2))

    def forward(self, ids: Tensor) -> Tensor:
        vectors, mask = self.embedding(ids), causal(ids.shape[1], device=ids.device)
        for layer in self.layers:
            vectors = layer(vectors, mask)
        return self.word(self.norm(vectors))


class Windowed(nn.Module):
    """A last layer that sees the last three words alone, and gives its weights, too: (logits, weights)."""

    def __init__(self, words: int) -> None:
        super().__init__()
        self.embedding, self.positions = nn.Embedding(words, 16), LearnedPositions(16, 32)
        self.attention, self.word = MultiHeadAttention(16, 4), nn.Linear(16, words)

    def forward(self, ids: Tensor) -> tuple[Tensor, Tensor]:
        vectors = self.positions(self.embedding(ids))
        found, weights = self.attention(vectors, mask=window(ids.shape[1], width=3))
        return self.word(vectors + found), weights


# ---- trained ----


@cache
def read_pieces() -> Tensor:
    """Python, as the trained models of docstrings read it: (2, 48)."""
    text = (
        "Return the shortest path between two nodes of a graph.\n\nParameters\n----------\n"
        "G : NetworkX graph\n\nsource : node\n   Starting node for path.\n\n"
        "target : node\n   Ending node for path.\n"
    )
    ids = torch.tensor(gpts.pieces().encode(text))
    return torch.stack([ids[:48], ids[-48:]])


def trained(name: str, model: nn.Module, batch: Any, **options: Any) -> Case:
    """With the weights that are stored beside the book, in evaluation."""
    weights.load(name, model)
    return model, batch, options


def of_pieces(name: str, build: Callable[[], nn.Module]) -> Case:
    return trained(name, build(), read_pieces())


def translating(name: str, build: Callable[[], nn.Module]) -> Case:
    read = translators.sentences(grammar.pairs(4, generator(3)))
    return trained(name, build(), (read.source, read.lengths, read.previous), padding=PADDING)


def of_sentences(name: str) -> Case:
    """Sentences of the language that it learned, cut where the shortest ends: none has padding."""
    read = transformers.texts(agreement.sentences(6, generator(4))).previous
    length = int((read != PADDING).sum(1).min())
    return trained(f"the_transformer/{name}", transformers.LANGUAGE_MODELS[name](), read[:, :length])


def of_repeated(name: str, layers: int) -> Case:
    return trained(f"looking_inside/{name}", looking.reader(layers), looking.repeated(3, generator(5)).words)


TRAINED: dict[str, Callable[[], Case]] = {
    "the Transformer that translates": partial(
        translating, "the_transformer/translator", transformers.translator
    ),
    **{
        f"the translator by {name}": partial(
            translating, f"translating_with_attention/{name}", partial(translators.translator, name)
        )
        for name in translators.DECODERS
    },
    "the decoder that learned to agree": partial(of_sentences, "language-model"),
    "the LSTM that learned to agree": partial(of_sentences, "recurrent-language-model"),
    "two layers that find what is repeated": partial(of_repeated, "two-layers", 2),
    "one layer that can't": partial(of_repeated, "one-layer", 1),
    "the GPT of docstrings": partial(of_pieces, "a_gpt_of_your_own/gpt", gpts.gpt),
    "the LSTM of docstrings": partial(of_pieces, "a_gpt_of_your_own/lstm", gpts.lstm),
    "the trained model of today": partial(of_pieces, "the_block_of_today/today", blocks.today),
    "its small helper": partial(of_pieces, "writing_faster/small", helpers.small),
}
WRITERS: dict[str, dict[str, Any]] = {
    "a decoder alone, with learned positions": {"build": decoder, "positions": LearnedPositions(32, 40)},
    "a decoder alone of one layer": {"build": decoder, "layers": 1},
    "the smallest decoder alone": {"build": decoder, "words": 7, "d_model": 6, "heads": 2, "layers": 1},
    "a decoder alone and 64 words": {"build": decoder, "length": 64},
    "a decoder alone and one text": {"build": decoder, "rows": 1},
    "a decoder alone in bfloat16": {"build": decoder, "dropout": 0.1, "dtype": torch.bfloat16},
    "a decoder alone in evaluation": {"build": decoder, "dropout": 0.2, "trains": False},
    "a GPT": {"build": gpt},
    "a GPT of one block and one head": {"build": gpt, "heads": 1, "layers": 1},
    "a GPT of six blocks": {"build": gpt, "layers": 6, "dropout": 0.1},
    "a GPT of two words": {"build": gpt, "words": 2, "length": 7},
    "a GPT in float64": {"build": gpt, "dtype": torch.float64},
    "a GPT in bfloat16, and 64 pieces": {"build": gpt, "length": 64, "dtype": torch.bfloat16},
    "a GPT in evaluation, and one text": {"build": gpt, "rows": 1, "trains": False},
    "the model of today": {"build": today},
    "the model of today with two tables": {"build": today, "tied": False},
    "the model of today with one head of keys": {"build": today, "groups": 1, "length": 21},
    "the model of today with all heads of keys": {"build": today, "groups": 4, "layers": 1},
    "the model of today in bfloat16": {"build": today, "dtype": torch.bfloat16},
    "the model of today in float64": {"build": today, "dtype": torch.float64},
    "the block of 2017": {"build": lambda words: mixed.Mixed(words, 24, 4, 48, 2, mixed.Kind(), 0.113)},
    "a decoder alone with rotary positions": {"build": Relative, "score": rotary},
    "a decoder alone with ALiBi": {"build": Relative, "score": alibi},
    "a window of three words, and its weights": {"build": Windowed},
}
HEALTHY: dict[str, Callable[[], Case]] = {
    **{f"{name}, as faults are planted in it": partial(of_family, name) for name in FAMILIES},
    "a Transformer without dropout": transformer,
    "a Transformer with its norms behind": partial(transformer, norm_first=False, dropout=0.1),
    "a Transformer of one layer and one head": partial(transformer, layers=1, heads=1),
    "the smallest Transformer": smallest_transformer,
    "a Transformer and one sentence": one_sentence,
    "a Transformer in float64": partial(transformer, dtype=torch.float64),
    "the model of today, behind padding": behind_padding,
    **{name: partial(writes, **how) for name, how in WRITERS.items()},
    **TRAINED,
    **OTHERS,
}
