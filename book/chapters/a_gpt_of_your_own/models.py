"""What this chapter trains: a GPT and an LSTM on docstrings, small and large ones, and what was noted of them."""

from collections.abc import Callable
from functools import cache, partial
from typing import NamedTuple

import torch
from torch import Tensor, nn

from attnlab.corpora import docstrings
from attnlab.corpora.pieces import Pieces, learn
from attnlab.transformer import GPT
from attnlab.training.history import History
from attnlab.training.run import Run, bits_per_byte, losses, row_of
from bookkit import weights
from chapters.a_gpt_of_your_own.rivals import Recurrent

VOCABULARY, CONTEXT = 2048, 128
LITTLE = ("networkx",)  # a tenth of the text
STORED = "a_gpt_of_your_own/gpt"
# GPT-2's 0.02 is for vectors of 768 numbers. With 96 it trains more slowly than with √8 times as much.
SPREAD = 0.06


class Reading(NamedTuple):
    """`training, validation, bytes = reading(("networkx",))`: two rows of ids, and the bytes of the second."""

    training: Tensor
    validation: Tensor
    bytes: int


@cache
def pieces() -> Pieces:
    """`pieces()` are those of the stored model."""
    return Pieces(weights.notes(STORED)["merges"].long().tolist())


@cache
def reading(packages: tuple[str, ...] = docstrings.PACKAGES, cut: Pieces | None = None) -> Reading:
    """`reading(LITTLE)` are the texts of these packages, as ids."""
    cut = cut or pieces()
    training, validation = docstrings.split(packages)
    rows = [row_of(map(cut.encode, texts), cut.end) for texts in (training, validation)]
    return Reading(*rows, len("".join(validation).encode()))


@cache
def learned_pieces() -> Pieces:
    """`learned_pieces()` learns merges from all the training texts: half a minute."""
    training, _ = docstrings.split()
    return Pieces(learn("\n".join(training), VOCABULARY))


def gpt(dropout: float = 0.0, d_model: int = 96, layers: int = 3, spread: float = SPREAD) -> GPT:
    """`gpt()` has 545,000 weights, not trained yet; its heads are 32 numbers wide, or as wide as it is."""
    heads = max(1, d_model // 32)
    return GPT(VOCABULARY, d_model, heads, layers, CONTEXT, dropout, spread)


def lstm() -> Recurrent:
    """`lstm()` has as many weights as `gpt()`, to one in a hundred."""
    return Recurrent(VOCABULARY, width=163)


class Course(NamedTuple):
    """What was noted along a training, at each of its rows: updates, seconds of the processor, bits a byte."""

    run: Run
    noted: Tensor  # (notes, 4): updates, seconds, bits a byte of validation, of training


def followed(
    model: nn.Module, texts: Reading, updates: int, rate: float, seed: int = 0, every: int = 0, **more: float
) -> Course:
    """`course = followed(gpt(), texts, updates=9000, rate=4e-3)` trains, and notes where it stands."""
    run = Run(model, texts.training, updates=updates, rate=rate, rows=8, seed=seed, **more)  # type: ignore[arg-type]
    every = every or max(1, updates // 20)
    noted = []
    per_piece = texts.bytes / len(texts.validation)  # bytes
    while run.done < updates:
        run.go(every)
        recent = torch.tensor(run.losses[-every:]).mean() / torch.tensor(2.0).log() / per_piece
        noted.append(torch.tensor([run.done, run.seconds, in_bits(model, texts, part=8), float(recent)]))
    return Course(run, torch.stack(noted))


def in_bits(model: nn.Module, texts: Reading, part: int = 1) -> float:
    """`in_bits(model, texts, part=8)` are its bits per byte of the first eighth of the validation row."""
    row = texts.validation[: len(texts.validation) // part]
    return bits_per_byte(losses(model, row, CONTEXT), texts.bytes * len(row) // len(texts.validation))
