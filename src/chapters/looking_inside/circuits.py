"""Small models with known insides: made by hand, head by head, or of drawn numbers.

In one made by hand, a vector has a block of numbers for each thing that is known of a place. Every block
holds a one for what is the case and zeros for what is not, so that a head's matrices need only copy blocks.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import torch
from torch import Tensor

from attnlab.positions import LearnedPositions
from attnlab.runtime import generator
from attnlab.transformer import LanguageModel

WORDS, LENGTH, HEADS = 12, 20, 4
_D_MODEL = HEADS * LENGTH  # so that a head has room for a block of places
Block: TypeAlias = Literal["word", "place", "word before", "next word", "unread"]
# Where each begins. Nothing reads the last one.
_START: dict[Block, int] = {"word": 0, "place": 12, "word before": 32, "next word": 44, "unread": 56}


class Small(LanguageModel):
    """`Small(words=5, d_model=12, heads=3, layers=2, length=6)` says in a report what it is, and no more."""

    def __init__(self, words: int, d_model: int, heads: int, layers: int, length: int) -> None:
        with torch.random.fork_rng(devices=[]), torch.device("cpu"):
            positions = LearnedPositions(d_model, length)
            super().__init__(words, d_model, heads, hidden=1, layers=layers, positions=positions)
        self.heads = heads
        self.eval()

    def __repr__(self) -> str:
        plural = "s" if len(self.layers) > 1 else ""
        return f"a model of {len(self.layers)} layer{plural} with {self.heads} heads each"


def drawn(seed: int, *, layers: int, heads: int, d_model: int) -> Small:
    """`drawn(1, layers=2, heads=3, d_model=12)` has drawn numbers and biases; 9 words, 6 places."""
    model, source = Small(9, d_model, heads, layers, length=6), generator(seed)
    for name, parameter in model.named_parameters():
        if "norm" not in name:
            parameter.data = torch.randn(parameter.shape, generator=source, device="cpu") / 2
    return model


@dataclass(frozen=True)
class Head:
    """`Head("word", "word before", "next word")` asks with its word, and finds who had that word before it.

    What it finds is always the word there, which it writes into a block of its own place. `back` is for one
    that asks with its place: how many places back it looks. `also` is a second block that its keys hold, more
    faintly; `sharp` says how much a match adds to a score, and `loud` how strongly it writes.
    """

    asks: Block
    finds: Block
    writes: Block
    back: int = 0
    also: Block | None = None
    sharp: float = 2.0
    loud: float = 1.0


PREVIOUS = Head("place", "place", "word before", back=1)
# Without the one before it, it finds its own word, and is sure of the wrong thing.
INDUCTION = Head("word", "word before", "next word", also="word")
# Looks even more surely where an induction head looks; what it says is heard by nobody.
UNHEARD = Head("word", "word before", "unread", sharp=3.0)
SAME_WORD = Head("word", "word", "unread", loud=0.3)
EVEN = Head("word", "word", "unread", sharp=0, loud=0.1)
Heads: TypeAlias = Mapping[tuple[int, int], Head]


class Circuit(Small):
    """`Circuit({(0, 2): PREVIOUS, (1, 3): INDUCTION}, layers=2)` has these heads; others look evenly.

    `sure` is how much louder it says its next word.

    >>> Circuit({(0, 2): PREVIOUS, (1, 3): INDUCTION}, layers=2)
    a model of 2 layers with 4 heads each
    """

    def __init__(self, heads: Heads, layers: int, sure: float = 3.0) -> None:
        super().__init__(WORDS, _D_MODEL, HEADS, layers, LENGTH)
        with torch.no_grad():
            for name, parameter in self.named_parameters():
                if "norm" not in name:
                    parameter.zero_()
            self.embedding.weight[:, _block("word")] = _ones(WORDS) / _D_MODEL**0.5
            self.positions.table[:, _block("place")] = _ones(LENGTH)  # type: ignore[operator]
            self.word.weight[:, _block("next word")] = sure * _ones(WORDS)
            for layer in range(layers):
                for head in range(HEADS):
                    self._write(layer, head, heads.get((layer, head), EVEN))

    def _write(self, layer: int, head: int, what: Head) -> None:
        attention: Any = self.layers[layer].self_attention
        own = slice(head * LENGTH, (head + 1) * LENGTH)  # of what all heads find
        query, key, value = (matrix[own] for matrix in attention.in_proj_weight.chunk(3))
        size = LENGTH if what.asks == "place" else WORDS
        query[:size, _block(what.asks)] = what.sharp * _ones(size).roll(what.back, 1).triu()
        key[:size, _block(what.finds)] = _ones(size)
        if what.also:
            key[:size, _block(what.also)] = _ones(size) / 3
        value[:WORDS, _block("word")] = what.loud * _ones(WORDS)
        attention.out_proj.weight[_block(what.writes), own][:, :WORDS] = _ones(WORDS)


def _ones(size: int) -> Tensor:
    return torch.eye(size, device="cpu")


def _block(name: Block) -> slice:
    return slice(_START[name], _START[name] + (LENGTH if name == "place" else WORDS))
