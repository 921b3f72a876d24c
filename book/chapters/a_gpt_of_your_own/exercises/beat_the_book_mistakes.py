"""The mistakes that `check_beat_the_book` knows by name."""

import math
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

import torch
from torch import Tensor, nn

from attnlab.corpora.pieces import Pieces, learn
from bookkit.checking.mistakes import Mistakes, Part
from chapters.a_gpt_of_your_own.exercises.beat_the_book_parts import (
    Knowing,
    Measured,
    held_out,
    measured,
)


class Lossy(Pieces):
    """`Lossy([])` cuts at spaces, as one splits words, and forgets them."""

    def decode(self, ids: Iterable[int]) -> str:
        """`Lossy([]).decode(ids)` has one space where there were many, or a new line."""
        return " ".join(super().decode(ids).split())


class Chances(nn.Module):
    """`Chances(model)` gives chances in the place of logits."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model, self.context = model, model.context

    def forward(self, ids: Tensor) -> Tensor:
        """`model(ids)` sums to 1 at each place."""
        return self.model(ids).softmax(-1)  # type: ignore[no-any-return]


class Even(nn.Module):
    """`Even(257, by=0.0)` knows nothing: all ids are equally likely, or nearly."""

    def __init__(self, size: int, by: float) -> None:
        super().__init__()
        self.size, self.by, self.context = size, by, 128

    def forward(self, ids: Tensor) -> Tensor:
        """`model(ids)` are the same logits everywhere."""
        logits = torch.linspace(0, self.by, self.size, device="cpu")
        return logits.expand(*ids.shape, self.size)


@cache
def pieces() -> Pieces:
    """`pieces()` are learned from what they are tried on: that is quick, and nothing hangs on it here."""
    return Pieces(learn("\n".join(held_out()), 512))


@cache
def lossy() -> Lossy:
    """`lossy()` is made once."""
    return Lossy(pieces().merges)


@cache
def knowing(sure: float, shift: int = 1, later: bool = False) -> Knowing:
    """`knowing(0.1)` is made once."""
    return Knowing(pieces(), sure, shift, later=later)


@cache
def chances() -> Chances:
    """`chances()` is made once."""
    return Chances(knowing(GOOD))


@cache
def even(by: float) -> Even:
    """`even(0.0)` is made once."""
    return Even(len(pieces()), by)


GOOD, FAIR = 0.1, 0.04  # how sure: below the bar, and above it


def made(
    model: Callable[[], Any] = lambda: knowing(GOOD),
    cut: Callable[[], Pieces] = pieces,
    tell: Part = lambda found: found.bits,
) -> Callable[[], tuple[Any, Any, float]]:
    """`made()` hands over a model that passes, its pieces, and the right number."""

    def work() -> tuple[Any, Any, float]:
        one, pieces_of_it = model(), cut()
        found: Measured = measured(one, pieces_of_it, one.context)
        return one, pieces_of_it, tell(found)

    return work


MISTAKES: Mistakes = {
    "pieces that lose text": (
        "Not every text comes back from its pieces: what is lost can't be judged, nor written. Take bytes, "
        "and merges.",
        made(cut=lossy),
    ),
    "sees later ids": (
        "A later id changes earlier logits. Is there a causal mask, or is `is_causal=True`?",
        made(lambda: knowing(GOOD, later=True)),
    ),
    "no number": (
        "Its loss is no finite number. Was the rate too high?",
        made(lambda: even(math.nan)),
    ),
    "has read what it is judged by": (
        "It knows these texts far better than the book's GPT, which has read ten times as much, and needs "
        "1.65. Were the held-out texts, or copies of them, among those that it learned from?",
        made(lambda: knowing(0.98)),
    ),
    "not shifted": (
        "The likeliest next piece is the one that it stands on. Its targets were not shifted: each is the "
        "*next* id.",
        made(lambda: knowing(GOOD, shift=0)),
    ),
    "chances": (
        "What it gives are chances, which sum to 1. Let it give logits: the loss takes its own softmax.",
        made(chances),
    ),
    "nothing learned": (
        "It is hardly surer than somebody who knows nothing. Train it: does the loss fall, and does the "
        "optimizer hold its weights?",
        made(lambda: even(0.1)),
    ),
    "not below counting": (
        "It has learned a good deal, and counted 5-grams need fewer bits. On so little text a network soon "
        "knows it by heart: try dropout, and stop in time. Or let it count, too; and what a text has just "
        "said, it often says again.",
        made(lambda: knowing(FAIR)),
    ),
    "bits a piece": (
        "Your number is in bits a *piece*. Divide the bits of the whole text by its bytes.",
        made(tell=lambda found: found.bits_a_piece),
    ),
    "nats a byte": (
        "Your number is in nats a byte. A bit is log 2 nats: divide.",
        made(tell=lambda found: found.nats_a_byte),
    ),
    "nats a piece": (
        "Your number is in nats a piece, as the loss is. Divide the nats of the whole text by log 2, and by "
        "its bytes.",
        made(tell=lambda found: found.nats_a_piece),
    ),
}
