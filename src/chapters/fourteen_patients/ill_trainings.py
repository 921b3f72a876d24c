"""Trainings with one fault each. The ill line stands in each class; what it replaces, in `training.py`."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from chapters.fourteen_patients.training import (
    FILLER,
    LENGTH,
    ROWS,
    SMALL_TEXT,
    Training,
    cut,
    numbered,
    texts,
)


class NotShifted(Training):
    """`NotShifted(0)` asks for the letter that it has just shown."""

    def batch(self) -> tuple[Tensor, Tensor]:
        """`ids, targets = one.batch()` are the same."""
        crop = cut(self.training, ROWS, self.source)
        return crop[:, :-1], crop[:, :-1]


class Shuffled(Training):
    """`Shuffled(0)` shuffles the texts, and forgets their targets."""

    def batch(self) -> tuple[Tensor, Tensor]:
        """`ids, targets = one.batch()` are of different rows."""
        crop = cut(self.training, ROWS, self.source)
        ids, targets = crop[:, :-1], crop[:, 1:]
        order = torch.randperm(len(ids), generator=self.source)
        return ids[order], targets


class TenTimes(Training):
    """`TenTimes(0)` has one zero too few behind the point."""

    rate = 1e-1


class TenTimesUnclipped(TenTimes):
    """`TenTimesUnclipped(0)` has it, too, and lets the gradient be as long as it is."""

    def step(self) -> None:
        """`one.step()` moves the weights."""
        self.optimizer.step()
        self.schedule.step()


class Lines(Training):
    """`Lines(0)` trains on single lines, which are filled up to 64 places; the filler is not counted."""

    def halves(self) -> tuple[Tensor, Tensor]:
        """`training, validation = one.halves()` have a line in each row, (lines, 65)."""
        return filled(texts().training), filled(texts().validation)

    def batch(self) -> tuple[Tensor, Tensor]:
        """`ids, targets = one.batch()`, (16, 64) each, with filler at their ends."""
        crop = self.training[torch.randint(len(self.training), (ROWS,), generator=self.source)]
        return crop[:, :-1], crop[:, 1:]

    def loss(self, logits: Tensor, targets: Tensor) -> Tensor:
        """`one.loss(logits, targets)` is the mean over the letters alone."""
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=FILLER)

    def evaluate(self) -> float:
        """`one.evaluate()` is the loss on 256 lines of the validation text, letters alone."""
        crop = self.validation[torch.linspace(0, len(self.validation) - 1, 256).long()]
        with torch.no_grad():
            return Lines.loss(self, self.model(crop[:, :-1]), crop[:, 1:]).item()


class FillerCounted(Lines):
    """`FillerCounted(0)` lets the filler into the mean."""

    def loss(self, logits: Tensor, targets: Tensor) -> Tensor:
        """`one.loss(logits, targets)` is the mean over all places."""
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


def filled(text: Tensor) -> Tensor:
    """`filled(ids)` are the lines of a text, 65 ids each: a longer one is cut, a shorter one filled up."""
    ends = (text == numbered("\n", texts().letters)).nonzero().flatten() + 1
    lines = [line[: LENGTH + 1] for line in text.tensor_split(ends) if len(line) > 1]
    return nn.utils.rnn.pad_sequence([*lines, text[: LENGTH + 1]], True, FILLER)[:-1]


class InParts(Training):
    """`InParts(0)` reads each batch in two parts, 15 rows and 1, as when the last part is what is left."""

    def update(self) -> None:
        """`one.update()` gives each row of the batch the same weight."""
        ids, targets = self.batch()
        self.optimizer.zero_grad()
        total = 0.0
        for some, of_some in zip(ids.tensor_split([15]), targets.tensor_split([15]), strict=True):
            loss = self.loss(self.model(some), of_some) * self.share(some, ids)
            loss.backward()  # type: ignore[no-untyped-call]
            total += loss.item()
        self.step()
        self.losses.append(total)

    def share(self, some: Tensor, ids: Tensor) -> float:
        """`one.share(some, ids)` is a part's share of the mean."""
        return len(some) / len(ids)


class MeansOfParts(InParts):
    """`MeansOfParts(0)` takes the mean of means: the last row counts as much as the fifteen others."""

    def share(self, some: Tensor, ids: Tensor) -> float:
        """`one.share(some, ids)` is the same for a large part and a small one."""
        return 1 / 2


class Windows(Training):
    """`Windows(0)` cuts 20,000 letters into windows, which begin 8 letters apart, once halves are made."""

    def batch(self) -> tuple[Tensor, Tensor]:
        """`ids, targets = one.batch()` are of 16 windows."""
        crop = self.training[torch.randint(len(self.training), (ROWS,), generator=self.source)]
        return crop[:, :-1], crop[:, 1:]

    def halves(self) -> tuple[Tensor, Tensor]:
        """`training, validation = one.halves()`: first two pieces of text, then their windows."""
        text = texts().training[: SMALL_TEXT + 2_000]
        training, validation = text[:SMALL_TEXT], text[SMALL_TEXT:]
        return windows(training), windows(validation)

    def evaluate(self) -> float:
        """`one.evaluate()` is the loss on all windows that are held out."""
        return self.validation_loss(self.validation)


class Overlapping(Windows):
    """`Overlapping(0)` cuts windows first, and deals them out to both halves."""

    def halves(self) -> tuple[Tensor, Tensor]:
        """`training, validation = one.halves()`: windows of one text, some for each half."""
        every = windows(texts().training[: SMALL_TEXT + 2_000])
        order = torch.randperm(len(every), generator=self.source)
        return every[order[240:]], every[order[:240]]


def windows(text: Tensor) -> Tensor:
    """`windows(text)` are rows of 65 ids; each begins 8 letters behind the one before."""
    return text.unfold(0, LENGTH + 1, 8)  # (windows, 65)


class GlobalSeed(Training):
    """`GlobalSeed(0)` draws from PyTorch's own generator, and its evaluation seeds that."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.source = None  # type: ignore[assignment]

    def evaluate(self) -> float:
        """`one.evaluate()` sets all dice back, so that it always sees the same rows."""
        torch.manual_seed(0)
        return self.validation_loss(cut(self.validation, 64, None))


class Dropout(Training):
    """`Dropout(0)` drops a fifth of what its blocks add."""

    dropout = 0.2


class DropoutInEvaluation(Dropout):
    """`DropoutInEvaluation(0)` forgets `eval()`."""

    def evaluate(self) -> float:
        """`one.evaluate()` is the loss of a model a fifth of which is missing."""
        return self.validation_loss(cut(self.validation, 64, torch.Generator().manual_seed(0)))
