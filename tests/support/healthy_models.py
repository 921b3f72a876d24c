"""Models that have nothing wrong with them, in which `checkup` must find nothing.

`model, batch, options = HEALTHY["a GPT"]()`: options are keyword arguments of checkup. A batch is called
as a model's caller would call it: ids alone, `model(*batch)` or `model(**batch)`.
"""

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import torch
from faulty_models.families import FAMILIES, PADDING, drawn, for_translating, padded
from healthy_further import FURTHER
from healthy_others import OTHERS
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

Case = tuple[nn.Module, Any, dict[str, Any]]


def of_family(name: str) -> Case:
    family = FAMILIES[name]
    options = {} if family.padding is None else {"padding": family.padding}
    return family.build(), family.batch(), options


def writes(build: Callable[[], nn.Module], words: int, rows: int = 3, length: int = 10) -> Case:
    return build(), drawn(words, rows, length, seed=6), {}


def in_dtype(dtype: torch.dtype, build: Callable[[], Case]) -> Case:
    model, batch, options = build()
    return model.to(dtype), batch, options


def in_evaluation(build: Callable[[], Case]) -> Case:
    model, batch, options = build()
    return model.eval(), batch, options


def transformer(**more: Any) -> Case:
    sizes = {"d_model": 32, "heads": 4, "hidden": 64, "layers": 2} | more
    return Transformer(23, 27, **sizes), for_translating(23, 27), {"padding": PADDING}


def smallest_transformer() -> Case:
    model = Transformer(7, 9, d_model=6, heads=3, hidden=5, layers=1)
    lengths = torch.tensor([5, 2])
    return model, (padded(7, lengths, seed=7), lengths, drawn(9, 2, 5, seed=8, least=1)), {"padding": PADDING}


def one_sentence() -> Case:
    model, _, options = transformer()
    source, previous = drawn(23, 1, 6, seed=9, least=3), drawn(27, 1, 5, seed=9, least=3)
    return model, (source, torch.tensor([6]), previous), options


def decoder(layers: int = 2, **more: Any) -> LanguageModel:
    return LanguageModel(23, 32, 4, 64, layers, **more)


def gpt(words: int = 31, d_model: int = 24, heads: int = 3, layers: int = 2, **more: Any) -> GPT:
    return GPT(words, d_model, heads, layers, context=64, spread=0.02 * (768 / d_model) ** 0.5, **more)


def today(**more: Any) -> Today:
    sizes = {"d_model": 24, "heads": 4, "groups": 2, "hidden": 48, "layers": 2, "longest": 64} | more
    return Today(29, **sizes, spread=0.113)


def behind_padding() -> Case:
    """A batch whose texts end together; the model is told what is padding, and where each word stands."""
    rows = [drawn(29, 1, length, seed=length, least=1)[0].tolist() for length in (9, 6, 3)]
    ids, visible, places = left_padded(rows, filler=PADDING)
    return today(), {"ids": ids, "visible": visible, "places": places}, {"padding": PADDING}


class Relative(nn.Module):
    """`Relative(rotary)(ids)`: positions in the scores alone."""

    def __init__(self, score: Callable[[Tensor, Tensor], Tensor], words: int = 19, d_model: int = 16) -> None:
        super().__init__()
        self.embedding = nn.Embedding(words, d_model)
        self.layers = nn.ModuleList(
            EncoderLayer(d_model, 2, 32, norm_first=True, score=score) for _ in range(2)
        )
        self.norm, self.word = nn.LayerNorm(d_model), nn.Linear(d_model, words)

    def forward(self, ids: Tensor) -> Tensor:
        vectors, mask = self.embedding(ids), causal(ids.shape[1], device=ids.device)
        for layer in self.layers:
            vectors = layer(vectors, mask)
        return self.word(self.norm(vectors))


class Windowed(nn.Module):
    """A last layer that sees the last three words alone, and gives its weights, too: (logits, weights)."""

    def __init__(self, words: int = 19, d_model: int = 16) -> None:
        super().__init__()
        self.embedding, self.positions = nn.Embedding(words, d_model), LearnedPositions(d_model, 32)
        self.attention, self.word = MultiHeadAttention(d_model, 4), nn.Linear(d_model, words)

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


def trained(name: str, model: nn.Module, batch: Any, options: dict[str, Any] | None = None) -> Case:
    """With the weights that are stored beside the book, in evaluation."""
    weights.load(name, model)
    return model, batch, options or {}


def of_pieces(name: str, build: Callable[[], nn.Module]) -> Case:
    return trained(name, build(), read_pieces())


def translating(name: str, build: Callable[[], nn.Module]) -> Case:
    read = translators.sentences(grammar.pairs(4, generator(3)))
    return trained(name, build(), (read.source, read.lengths, read.previous), {"padding": PADDING})


def of_sentences(name: str) -> Case:
    """Sentences of the language that it learned, cut where the shortest ends: none has padding."""
    read = transformers.texts(agreement.sentences(6, generator(4))).previous
    length = int((read != PADDING).sum(1).min())
    return trained(f"the_transformer/{name}", transformers.LANGUAGE_MODELS[name](), read[:, :length])


def of_repeated(name: str, layers: int) -> Case:
    return trained(f"looking_inside/{name}", looking.reader(layers), looking.repeated(3, generator(5)).words)


HEALTHY: dict[str, Callable[[], Case]] = {
    **{f"{name}, as faults are planted in it": partial(of_family, name) for name in FAMILIES},
    # ---- the book's, untrained ----
    "a Transformer without dropout": transformer,
    "a Transformer with its norms behind": partial(transformer, norm_first=False, dropout=0.1),
    "a Transformer of one layer and one head": partial(transformer, layers=1, heads=1),
    "the smallest Transformer": smallest_transformer,
    "a Transformer and one sentence": one_sentence,
    "a Transformer in float64": partial(in_dtype, torch.float64, transformer),
    "a decoder alone, with learned positions": lambda: writes(
        partial(decoder, positions=LearnedPositions(32, 40)), 23
    ),
    "a decoder alone of one layer": lambda: writes(partial(decoder, layers=1), 23),
    "the smallest decoder alone": lambda: writes(lambda: LanguageModel(7, 6, 2, 10, 1), 7, rows=2, length=5),
    "a decoder alone and 64 words": lambda: writes(decoder, 23, length=64),
    "a decoder alone and one text": lambda: writes(decoder, 23, rows=1),
    "a decoder alone in bfloat16": partial(
        in_dtype, torch.bfloat16, lambda: writes(partial(decoder, dropout=0.1), 23)
    ),
    "a decoder alone in evaluation": partial(
        in_evaluation, lambda: writes(partial(decoder, dropout=0.2), 23)
    ),
    "a GPT": lambda: writes(gpt, 31),
    "a GPT of one block and one head": lambda: writes(partial(gpt, heads=1, layers=1), 31),
    "a GPT of six blocks": lambda: writes(partial(gpt, layers=6, dropout=0.1), 31),
    "a GPT of two words": lambda: writes(partial(gpt, words=2), 2, length=7),
    "a GPT in float64": partial(in_dtype, torch.float64, lambda: writes(gpt, 31)),
    "a GPT in bfloat16, and 64 pieces": partial(in_dtype, torch.bfloat16, lambda: writes(gpt, 31, length=64)),
    "a GPT in evaluation, and one text": partial(in_evaluation, lambda: writes(gpt, 31, rows=1)),
    "the model of today": lambda: writes(today, 29),
    "the model of today with two tables": lambda: writes(partial(today, tied=False), 29),
    "the model of today with one head of keys": lambda: writes(partial(today, groups=1), 29, length=21),
    "the model of today with all heads of keys": lambda: writes(partial(today, groups=4, layers=1), 29),
    "the model of today in bfloat16": partial(in_dtype, torch.bfloat16, lambda: writes(today, 29)),
    "the model of today in float64": partial(in_dtype, torch.float64, lambda: writes(today, 29)),
    "the model of today, behind padding": behind_padding,
    "the block of 2017": lambda: writes(lambda: mixed.Mixed(29, 24, 4, 48, 2, mixed.Kind(), 0.113), 29),
    "a decoder alone with rotary positions": lambda: writes(partial(Relative, rotary), 19),
    "a decoder alone with ALiBi": lambda: writes(partial(Relative, alibi), 19),
    "a window of three words, and its weights": lambda: writes(Windowed, 19),
    # ---- the book's, trained ----
    "the Transformer that translates": partial(
        translating, "the_transformer/translator", transformers.translator
    ),
    "the decoder that learned to agree": partial(of_sentences, "language-model"),
    "the LSTM that learned to agree": partial(of_sentences, "recurrent-language-model"),
    "two layers that find what is repeated": partial(of_repeated, "two-layers", 2),
    "one layer that can't": partial(of_repeated, "one-layer", 1),
    "the GPT of docstrings": partial(of_pieces, "a_gpt_of_your_own/gpt", gpts.gpt),
    "the LSTM of docstrings": partial(of_pieces, "a_gpt_of_your_own/lstm", gpts.lstm),
    "the trained model of today": partial(of_pieces, "the_block_of_today/today", blocks.today),
    "its small helper": partial(of_pieces, "the_block_of_today/small", blocks.small),
    **{
        f"the translator by {name}": partial(
            translating, f"translating_with_attention/{name}", partial(translators.translator, name)
        )
        for name in translators.DECODERS
    },
    # ---- PyTorch's own, and Hugging Face's ----
    **OTHERS,
    **FURTHER,
}
