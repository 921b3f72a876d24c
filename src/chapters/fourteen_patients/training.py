"""The training that every patient was given before it fell ill, with a method for each thing that can."""

from functools import cache
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from attnlab.corpora import docstrings
from attnlab.training.run import share_of_rate
from chapters.fourteen_patients.writer import Writer

UPDATES, ROWS, LENGTH, WARM_UP = 300, 16, 64, 20
EVERY = 20  # updates between two evaluations
FILLER = 0  # the id that fills up a row
SMALL_TEXT = 20_000  # letters: read fifteen times in 300 updates


class Texts(NamedTuple):
    """`letters, training, validation = texts()`: the ids of networkx's docstrings, 1 for the first letter."""

    letters: str
    training: Tensor
    validation: Tensor

    def ids(self, words: str) -> Tensor:
        """`texts().ids("Returns")` are seven ids."""
        return numbered(words, self.letters)

    def words(self, ids: Tensor) -> str:
        """`texts().words(ids)` is what they spell."""
        return "".join(self.letters[number - 1] if number else "" for number in ids.tolist())


@cache
def texts() -> Texts:
    """`texts()` are the docstrings of networkx; one file in twenty is held out."""
    halves = ["\n".join(half) for half in docstrings.split(["networkx"])]
    training, validation = (half.encode("ascii", "ignore").decode() for half in halves)
    letters = "".join(sorted(set(training)))
    return Texts(letters, numbered(training, letters), numbered(validation, letters))


def numbered(text: str, letters: str) -> Tensor:
    """`numbered("aba", "ab")` is [1, 2, 1]; 0 is left for what fills up a row."""
    number = {letter: place for place, letter in enumerate(letters, 1)}
    return torch.tensor([number[letter] for letter in text if letter in number])


def cut(text: Tensor, rows: int, source: torch.Generator | None) -> Tensor:
    """`cut(text, 16, generator)` are rows of 65 ids, from anywhere in the text."""
    starts = torch.randint(len(text) - LENGTH, (rows, 1), generator=source)
    return text[starts + torch.arange(LENGTH + 1)]  # (rows, 65)


class Training:
    """`Training(seed=0).go()` are the losses of 300 updates; each patient changes one method of it."""

    rate = 1e-2
    dropout = 0.0
    model_class: type[Writer] = Writer

    def __init__(self, seed: int) -> None:
        torch.manual_seed(seed)
        self.seed, self.source = seed, torch.Generator().manual_seed(seed)
        self.training, self.validation = self.halves()
        self.model = self.model_class(len(texts().letters) + 1, self.dropout)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), self.rate, betas=(0.9, 0.99))
        self.schedule = torch.optim.lr_scheduler.LambdaLR(
            self.optimizer, lambda update: share_of_rate(update, UPDATES, WARM_UP)
        )
        self.losses: list[float] = []
        self.validation_losses: list[float] = []

    def halves(self) -> tuple[Tensor, Tensor]:
        """`training, validation = one.halves()`: what is trained on, and what is only looked at."""
        return texts().training, texts().validation

    def batch(self) -> tuple[Tensor, Tensor]:
        """`ids, targets = one.batch()`, (16, 64) each: a target is the letter that follows."""
        crop = cut(self.training, ROWS, self.source)
        return crop[:, :-1], crop[:, 1:]

    def loss(self, logits: Tensor, targets: Tensor) -> Tensor:
        """`one.loss(logits, targets)` is the mean over all letters, in nats."""
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten())

    def update(self) -> None:
        """`one.update()` draws a batch and moves the weights once."""
        ids, targets = self.batch()
        self.optimizer.zero_grad()
        loss = self.loss(self.model(ids), targets)
        loss.backward()  # type: ignore[no-untyped-call]
        self.step()
        self.losses.append(loss.item())

    def step(self) -> None:
        """`one.step()` clips the gradient, and moves the weights."""
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self.schedule.step()

    def evaluate(self) -> float:
        """`one.evaluate()` is the loss on 64 rows of the validation text, always the same."""
        self.model.eval()
        source = torch.Generator().manual_seed(0)
        loss = self.validation_loss(cut(self.validation, 64, source))
        self.model.train()
        return loss

    def validation_loss(self, crop: Tensor) -> float:
        """`one.validation_loss(crop)` is the mean over all letters of rows (64, 65), in nats."""
        with torch.no_grad():
            logits = self.model(crop[:, :-1])
            return F.cross_entropy(logits.flatten(0, 1), crop[:, 1:].flatten()).item()

    def go(self) -> tuple[Tensor, Tensor]:
        """`losses, validation_losses = Training(0).go()`: means of ten updates (30,), evaluations (15,)."""
        while len(self.losses) < UPDATES:
            self.update()
            if len(self.losses) % EVERY == 0:
                self.validation_losses.append(self.evaluate())
        return torch.tensor(self.losses).view(-1, 10).mean(1), torch.tensor(self.validation_losses)
