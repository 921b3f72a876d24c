"""What this chapter trains: language models that read repeated words, and what was noted while they learned.

A sequence is a few random words, again and again. Nothing can foresee the first round; from the second on
each word is known to whoever looks up what followed it the last time.
"""

from collections.abc import Callable
from functools import partial
from string import ascii_letters, digits
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from attnlab.inside import watched
from attnlab.positions import LearnedPositions
from attnlab.runtime import generator
from attnlab.shapes import Mask, Weights
from attnlab.training.history import History
from attnlab.training.loop import train
from attnlab.transformer import LanguageModel

SYMBOLS = [*ascii_letters, *digits, "+", "="]  # what stands for the 64 words
LENGTH = 48
SHORTEST, LONGEST = 8, 24  # A period that never changes could be learned as a distance, with one layer.
HEADS = 2
SEEDS, UPDATES, NOTED_EVERY = 10, 600, 20
UNSEEN = 1_000_000  # a seed that no training has
# One sequence, two rounds of eight words, for the pictures of what heads look at.
SHOWN = torch.randperm(len(SYMBOLS), generator=generator(4))[:8].repeat(2)[None]  # (1, 16)


class Repeated(NamedTuple):
    """`words, periods = repeated(64, generator(0))`: so many sequences, and how long their rounds are."""

    words: Tensor  # (B, T)
    periods: Tensor  # (B, 1)

    @property
    def known(self) -> Mask:
        """`known` is where the word to come has been before, behind the same word: (B, T)."""
        return torch.arange(self.words.shape[1], device=self.words.device) >= self.periods


def repeated(count: int, source: torch.Generator, device: torch.device | None = None) -> Repeated:
    """`repeated(64, generator(0))` draws a period for each, then its words, from all with equal chances."""
    periods = torch.randint(SHORTEST, LONGEST + 1, (count, 1), generator=source)
    words = torch.randint(len(SYMBOLS), (count, LONGEST), generator=source)
    return Repeated(words.gather(1, torch.arange(LENGTH) % periods).to(device), periods.to(device))


def reader(layers: int) -> LanguageModel:
    """`reader(layers=2)` is not trained yet."""
    positions = LearnedPositions(64, LENGTH)
    return LanguageModel(
        len(SYMBOLS), d_model=64, heads=HEADS, hidden=128, layers=layers, positions=positions
    )


# ---- what is measured ----


def loss_where_known(logits: Tensor, read: Repeated) -> Tensor:
    """`loss_where_known(model(read.words), read)` counts the words that could be known, in nats a word."""
    where = read.known[:, :-1]  # (B, T - 1): the last word has none behind it
    return F.cross_entropy(logits[:, :-1][where], read.words[:, 1:][where])


def previous_token_scores(weights: Weights, read: Repeated) -> Tensor:
    """`previous_token_scores(weights, read)` is each head's mean weight on the word before, (heads,).

    The first round counts: it is there that a later look finds what came behind a word.
    """
    first_round = ~read.known[:, 1:]  # (B, T - 1): the first word has none before it
    looked = weights.diagonal(-1, 2, 3).transpose(1, 2)  # (B, T - 1, heads)
    return looked[first_round].mean(0)


def induction_scores(weights: Weights, read: Repeated) -> Tensor:
    """`induction_scores(weights, read)` is each head's mean weight behind the same word, (heads,)."""
    before = F.pad(read.words[:, :-1], (1, 0), value=-1)  # (B, T): the word before each
    answers = (read.words[:, :, None] == before[:, None]).tril()  # (B, T, T)
    looked = (weights * answers[:, None]).sum(-1).transpose(1, 2)  # (B, T, heads)
    return looked[read.known].mean(0)


# ---- training ----


@torch.no_grad()
def notes(model: LanguageModel, read: Repeated) -> dict[str, Tensor]:
    """`notes(model, read)` is how a model stands: its loss, and each head's scores, (layers, heads)."""
    with watched(model) as weights:
        loss = loss_where_known(model(read.words), read)
    layers = weights.values()
    with watched(model) as shown:
        model(SHOWN)
    return {
        "loss": loss,
        "previous token": torch.stack([previous_token_scores(each, read) for each in layers]),
        "induction": torch.stack([induction_scores(each, read) for each in layers]),
        "shown": torch.cat([*shown.values()]),  # (layers, heads, 16, 16)
    }


def trained(layers: int, seed: int, updates: int = UPDATES) -> tuple[LanguageModel, History]:
    """`model, history = trained(layers=2, seed=0)` reads 32 new sequences at each of 600 updates.

    The history's notes say how it stood at the start, and after every twentieth update.
    """
    torch.manual_seed(seed)
    model = reader(layers)
    source, unseen = generator(seed), repeated(64, generator(UNSEEN))
    batches = [
        (read.words[:, :-1], read.words[:, 1:]) for read in (repeated(32, source) for _ in range(updates))
    ]
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3, betas=(0.9, 0.98))
    rate = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda update: min((update + 1) / 50, max(0, updates - update) / (updates - 50))
    )
    taken = [notes(model, unseen)]

    def after_update(*_: Any) -> None:
        rate.step()
        if rate.last_epoch % NOTED_EVERY == 0:
            taken.append(notes(model, unseen))

    optimizer.register_step_post_hook(after_update)

    def loss(logits: Tensor, words: Tensor) -> Tensor:
        return F.cross_entropy(logits.transpose(1, 2), words)

    history = train(model, batches, loss, optimizer, epochs=1)
    history.notes = {label: torch.stack([each[label] for each in taken]) for label in taken[0]}
    return model, history


def recipe(layers: int, seed: int) -> tuple[LanguageModel, History]:
    """`recipe(layers=2, seed=0)` trains ten, and gives the first of them, with what was noted of all ten."""
    runs = [trained(layers, SEEDS * seed + each) for each in range(SEEDS)]
    model, history = runs[0]
    shown = history.notes["shown"]  # of the first alone
    history.notes = {label: torch.stack([run.notes[label] for _, run in runs]) for label in history.notes}
    history.notes["shown"] = shown
    return model, history


# What `make models` trains.
RECIPES: dict[str, Callable[[int], tuple[LanguageModel, History]]] = {
    "one-layer": partial(recipe, 1),
    "two-layers": partial(recipe, 2),
}
