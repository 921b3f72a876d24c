"""Eight patients: a small decoder each, with its text, its training, and whatever ails it."""

import copy
from functools import cache, cached_property
from itertools import zip_longest
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from attnlab.corpora import agreement
from attnlab.runtime import generator
from chapters.fourteen_patients.exercises.ward_model import LONGEST, Drop, Habits, Speaker

FILLER = 0  # the id that fills up a row
WORDS = ("…", *agreement.WORDS)
VOCABULARY = len(WORDS)
ROWS, PARTS, RATE, UPDATES = 16, 4, 3e-3, 60
NOTHING = "nothing"

# Every way to be here. Which number each has is drawn, so that this list does not tell.
ADMITTED: tuple[tuple[frozenset[str], Habits], ...] = (
    (frozenset(), Habits()),
    (frozenset({"mask after the softmax"}), Habits(mask_late=True)),
    (frozenset({"norm on the stream"}), Habits(norm_on_stream=True)),
    (frozenset({"positions start again with a cache"}), Habits(places_anew=True)),
    (frozenset({"a layer missing from parameters()"}), Habits(one_unlisted=True)),
    (frozenset({"padding in the loss"}), Habits(padding_counts=True)),
    (frozenset({"means of unequal parts"}), Habits(parts_alike=True)),
    (
        frozenset({"dropout in evaluation", "weights too large at the start"}),
        Habits(dropout_always=True, times_larger=8.0),
    ),
)
# Each cause that can be answered, with what it means: what ails the eight, and as many that don't.
CAUSES: dict[str, str] = {
    "targets not shifted": "the target of a word is the word itself",
    "padding in the loss": "places that only fill up a row count in the mean",
    "mask off by one": "each place also sees the next one",
    "mask after the softmax": "weights of later places are set to 0 at last",
    "softmax over the wrong axis": "weights sum to 1 over the queries",
    "no scale": "scores are not divided by the root of d_k",
    "no positions": "nothing tells the model where a word stands",
    "positions start again with a cache": "behind a cache, the next word stands at place 0 again",
    "norm on the stream": "each norm stands on the stream, not on a side street",
    "a layer missing from parameters()": "the optimizer has never heard of it",
    "weights too large at the start": "drawn with several times the spread",
    "dropout in evaluation": "eval() does not switch it off",
    "rate too high": "an update is larger than the weights",
    "half precision": "some layer computes with 16 bits",
    "means of unequal parts": "each part of a batch counts alike",
    "gradients not set to zero": "those of the batch before are still there",
}
# Those that no look at the model alone can find.
OF_TRAINING = frozenset(
    {
        "targets not shifted",
        "padding in the loss",
        "rate too high",
        "means of unequal parts",
        "gradients not set to zero",
    }
)


class Batch(NamedTuple):
    """`ids, targets, kept = patient.batch(0)`: (16, T) each; kept is False where a row is only filled up."""

    ids: Tensor
    targets: Tensor
    kept: Tensor


@cache
def text() -> Tensor:
    """`text()` are 512 sentences as rows of ids, (512, 33), filled up with 0."""
    number = {word: place for place, word in enumerate(WORDS)}
    rows = torch.full((512, LONGEST + 1), FILLER, device="cpu")
    for row, words in zip(rows, agreement.sentences(len(rows), generator(31)), strict=True):
        ids = [number[agreement.END], *(number[word] for word in words)][: LONGEST + 1]
        row[: len(ids)] = torch.tensor(ids, device="cpu")
    return rows


class Patient:
    """`patient.model` can be looked at, and how it is trained: `batch`, `loss`, `gradient`, `update`.

    A patient is one's own: what is done to it, nobody else's has.
    """

    def __init__(self, number: int, habits: Habits) -> None:
        self.number = number
        with torch.random.fork_rng(devices=[]):  # PyTorch draws a start of its own, which is not kept
            self.model = Speaker(VOCABULARY, habits, seed=number)
        self._habits = habits

    def __repr__(self) -> str:
        return f"patient {self.number}"

    @cached_property
    def optimizer(self) -> torch.optim.Optimizer:
        """`patient.optimizer` moves what `patient.model.parameters()` lists."""
        return torch.optim.Adam(self.model.parameters(), lr=RATE)

    def batch(self, update: int = 0) -> Batch:
        """`patient.batch(7)` is what the update of this number reads."""
        rows = text()[torch.randint(400, (ROWS,), generator=generator(update), device="cpu")]
        longest = int((rows != FILLER).sum(1).max())
        rows = rows[:, :longest]
        return Batch(rows[:, :-1], rows[:, 1:], rows[:, 1:] != FILLER)

    def loss(self, batch: Batch) -> Tensor:
        """`patient.loss(batch)` is what its training makes smaller, in nats a word."""
        each = F.cross_entropy(self.model(batch.ids).mT, batch.targets, reduction="none")  # (B, T)
        return each.mean() if self._habits.padding_counts else each[batch.kept].mean()

    def gradient(self, batch: Batch, parts: int = PARTS) -> float:
        """`patient.gradient(batch)` leaves the gradient, summed part by part, and gives the loss."""
        self.model.zero_grad()
        total = 0.0
        pieces = zip(*(each.chunk(parts) for each in batch), strict=True)
        for piece in (Batch(*each) for each in pieces):
            share = self._share(piece, batch, parts)
            loss = self.loss(piece) * share
            loss.backward()  # type: ignore[no-untyped-call]
            total += loss.item()
        return total

    def _share(self, piece: Batch, batch: Batch, parts: int) -> float:
        if self._habits.parts_alike:
            return 1 / parts
        if self._habits.padding_counts:
            return len(piece.ids) / len(batch.ids)
        return float(piece.kept.sum() / batch.kept.sum())

    def update(self, batch: Batch) -> float:
        """`patient.update(batch)` moves the weights once, and gives the loss before."""
        loss = self.gradient(batch)
        self.optimizer.step()
        return loss

    def held_out(self) -> float:
        """`patient.held_out()` is the loss on 112 sentences that no update reads, as `loss` takes it."""
        before = self.model.training
        self.model.eval()
        rows = text()[400:]
        with torch.no_grad():
            loss = self.loss(Batch(rows[:, :-1], rows[:, 1:], rows[:, 1:] != FILLER)).item()
        self.model.train(before)
        return loss

    def train(self, updates: int = UPDATES) -> list[float]:
        """`losses = patient.train()` makes 60 updates, and changes the patient."""
        self.model.train()
        return [self.update(self.batch(number)) for number in range(updates)]


def _order() -> list[int]:
    return torch.randperm(len(ADMITTED), generator=generator(14), device="cpu").tolist()


def admitted() -> dict[int, Patient]:
    """`patients = admitted()` are all eight, by their numbers from 1 to 8, before any training."""
    return {number: Patient(number, ADMITTED[place][1]) for number, place in enumerate(_order(), start=1)}


def truth() -> dict[int, frozenset[str]]:
    """`truth()[1]` is what ails patient 1."""
    return {number: ADMITTED[place][0] for number, place in enumerate(_order(), start=1)}


def twin(patient: Patient) -> Patient:
    """`twin(patient)` is the same one a second time, whom nobody has touched yet."""
    return Patient(patient.number, patient._habits)


def quiet(model: nn.Module) -> nn.Module:
    """`quiet(model)` is a copy in evaluation whose dropout drops nothing: other tests can be read then."""
    model = copy.deepcopy(model).eval()
    for module in model.modules():
        if isinstance(module, Drop):
            module.p = 0.0
    return model


def causes(meanings: bool = False) -> None:
    """`causes()` prints the sixteen that can be answered, and "nothing"; `causes(meanings=True)` explains."""
    if meanings:
        for cause, meaning in CAUSES.items():
            print(f"{cause:36}{meaning}")
        print(f"{NOTHING:36}all of the above are ruled out")
        return
    names = [*CAUSES, NOTHING]
    half = (len(names) + 1) // 2
    for left, right in zip_longest(names[:half], names[half:], fillvalue=""):
        print(f"{left:38}{right}".rstrip())
