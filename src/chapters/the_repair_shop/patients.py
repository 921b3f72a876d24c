"""One small GPT, and the same with a fault of our choice: what the cheap tests of this page are tried on."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar, cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from attnlab.corpora import grammar
from attnlab.runtime import generator
from attnlab.today.model import Today
from attnlab.transformer import GPT, Block

Kind = TypeVar("Kind", bound=Block)
FILLER = 0
TEXT, OTHER = (
    "\n".join(" ".join(pair.english) for pair in grammar.pairs(600, generator(seed))) for seed in (0, 1)
)
LETTERS = ["", *sorted(set(TEXT))]  # id 0 is the filler
ROW, UNREAD = (torch.tensor([LETTERS.index(letter) for letter in text]) for text in (TEXT, OTHER))
CONTEXT = 32


def rows(count: int = 8, length: int = CONTEXT + 1, seed: int = 0, text: Tensor = ROW) -> Tensor:
    """`rows(8)` are ids (8, 33), cut anywhere from the text: a place more than the model reads."""
    starts = torch.randint(len(text) - length, (count, 1), generator=generator(seed))
    return text[starts + torch.arange(length)]


def small(seed: int = 0, **settings: Any) -> GPT:
    """`small()` is a GPT of three layers, untrained, for letters."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        sizes = {"d_model": 32, "heads": 4, "layers": 3, "context": CONTEXT, "dropout": 0.1, "spread": 0.1}
        return GPT(len(LETTERS), **(sizes | settings))


def small_today(seed: int = 0) -> Today:
    """`small_today()` is as small, untrained, with the block of today: rotary positions, and none added."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return Today(len(LETTERS), 32, heads=4, groups=2, hidden=64, layers=3, longest=64, spread=0.1)


def blocks(model: nn.Module) -> list[Block]:
    """`blocks(model)` are the model's, also where they stand in a list of Python's."""
    return [cast(Block, block) for block in cast(Iterable[nn.Module], model.blocks)]


def of_equal_sizes(kind: type[Kind], old: Block) -> Kind:
    """`of_equal_sizes(Block, old)` is another block, with the old one's sizes and weights."""
    new = kind(old.widen.in_features, old.attention.heads, old.dropout.p)
    new.load_state_dict(old.state_dict())
    return new


def next_letter(model: nn.Module, ids: Tensor) -> Tensor:
    """`next_letter(model, ids)` is the mean over all letters (B, T + 1) but the first and filler."""
    logits = model(ids[:, :-1])  # (B, T, letters)
    return F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten(), ignore_index=FILLER)


@dataclass
class Patient:
    """`Patient(small(), next_letter, rate=3e-3)` is what is trained, by which loss, and how fast."""

    model: nn.Module
    loss: Callable[[nn.Module, Tensor], Tensor] = next_letter
    rate: float = 3e-3

    def optimizer(self) -> torch.optim.Optimizer:
        """`patient.optimizer()` is AdamW at its rate, over the weights that PyTorch knows of."""
        return torch.optim.AdamW(self.model.parameters(), lr=self.rate)
