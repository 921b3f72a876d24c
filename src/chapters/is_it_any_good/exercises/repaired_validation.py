"""Repair a validation that drops, draws and counts in a unit of its own."""

import itertools
import math
from collections.abc import Iterator
from functools import partial
from typing import Any, TypeAlias

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from attnlab.training.run import losses
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.mistakes import Mistakes, Part, in_parts

Window: TypeAlias = tuple[Tensor, Tensor]  # (T,) ids, and (T,) what follows each


class HalfSilent(nn.Module):
    """`HalfSilent(6, seed=0)(ids)` are logits (B, T, 6); in training every second number behind it is silent.

    That stands for dropout, which would silence others each time.
    """

    def __init__(self, vocabulary: int, seed: int) -> None:
        super().__init__()
        source = torch.Generator().manual_seed(seed)
        table = torch.randn(vocabulary, 8, generator=source, device="cpu")
        self.table = nn.Parameter(table)
        self.context = 4

    def forward(self, ids: Tensor) -> Tensor:
        """`model(ids)` sees, at each place, the mean of what it has read so far."""
        if ids.shape[1] > self.context:
            raise ValueError(f"ids must be at most {self.context} long, got {ids.shape[1]}")
        read = self.table[ids].cumsum(1)  # (B, T, 8)
        mean = read / torch.arange(1, ids.shape[1] + 1, device="cpu")[:, None]
        if self.training:
            mean = mean * torch.tensor([2.0, 0.0], device="cpu").repeat(4)
        return mean @ self.table.mT  # (B, T, vocabulary)


def _side_by_side(row: Tensor, length: int) -> Iterator[Window]:
    for start in range(0, len(row) - 1, length):
        yield row[start : start + length][: len(row) - 1 - start], row[start + 1 : start + length + 1]


def _at_random(row: Tensor, length: int) -> Iterator[Window]:
    """The colleague's crops."""
    source = torch.Generator().manual_seed(0)
    for _ in range(len(row) // length):
        start = int(torch.randint(len(row) - length, (1,), generator=source))
        yield row[start : start + length], row[start + 1 : start + length + 1]


def _nats(model: nn.Module, ids: Tensor, targets: Tensor) -> Tensor:
    return F.cross_entropy(model(ids[None])[0], targets, reduction="none")  # (T,)


def _per_byte(nats: list[Tensor], text_bytes: int) -> float:
    return float(torch.cat(nats).sum()) / math.log(2) / text_bytes


def _validated(
    model: nn.Module,
    row: Tensor,
    length: int,
    text_bytes: int,
    *,
    mode: Part = lambda model: model.eval(),
    windows: Part = _side_by_side,
    nats: Part = _nats,
    unit: Part = _per_byte,
) -> float:
    before = model.training
    mode(model)
    with torch.no_grad():
        found = [nats(model, ids, targets) for ids, targets in windows(row, length)]
    model.train(before)
    bits: float = unit(found, text_bytes)
    return bits


def _mean_of_means(nats: list[Tensor], text_bytes: int) -> float:
    """The colleague's: nats a piece, each window counted alike."""
    return float(torch.stack([each.mean() for each in nats]).mean())


def _whole_windows(row: Tensor, length: int) -> Iterator[Window]:
    for start in range(0, len(row) - length, length):
        yield row[start : start + length], row[start + 1 : start + length + 1]


def _borders_lost(row: Tensor, length: int) -> Iterator[Window]:
    """Windows of the row, each shifted in itself: what follows a window's last id is never asked."""
    for start in range(0, len(row), length):
        window = row[start : start + length]
        if len(window) > 1:
            yield window[:-1], window[1:]


def _overlapping(row: Tensor, length: int) -> Iterator[Window]:
    for start in range(len(row) - length):
        yield row[start : start + length], row[start + 1 : start + length + 1]


def _one_too_far(row: Tensor, length: int) -> Iterator[Window]:
    """Windows that begin one id too late: the first of each is never asked."""
    for window in row.split(length + 1):  # type: ignore[no-untyped-call]
        if len(window) > 1:
            yield window[:-1], window[1:]


def _filled_up(row: Tensor, length: int) -> Iterator[Window]:
    yield from _whole_windows(row, length)
    if (len(row) - 1) % length:
        yield row[-length - 1 : -1], row[-length:]


def _seen_from_before(model: nn.Module, row: Tensor, length: int, text_bytes: int) -> float:
    """By attnlab's own, which is fair in another way."""
    before = model.training
    nats = losses(model, row, length)
    model.train(before)
    return float(nats.sum()) / math.log(2) / text_bytes


def _not_shifted(model: nn.Module, ids: Tensor, targets: Tensor) -> Tensor:
    return F.cross_entropy(model(ids[None])[0], ids, reduction="none")


_FAULTS: dict[str, dict[str, Any]] = {
    "mode": {"mode": lambda model: model.train()},
    "crops": {"windows": _at_random},
    "unit": {"unit": _mean_of_means},
}


def _left(*faults: str) -> Any:
    return partial(_validated, **dict(itertools.chain(*(_FAULTS[fault].items() for fault in faults))))


MISTAKES: Mistakes = (
    {
        "still broken": (
            "All three faults are still there. What does the model drop while it is judged? Which ids are "
            "asked, and how often? And is the result comparable with other vocabularies'?",
            _left("mode", "crops", "unit"),
        ),
        "in training mode": (
            "The model is still in training mode, and drops numbers while it is judged. Call `model.eval()` "
            "before, and give it its mode back.",
            _left("mode"),
        ),
        "crops at random": (
            "It still reads crops at random: some ids count several times, others never. Read the row from "
            "its start, window by window.",
            _left("crops"),
        ),
        "nats a piece": (
            "The result is still in nats a piece, and each window counts alike. Add up the nats of all ids, "
            "divide by log 2, and by the bytes of the text.",
            _left("unit"),
        ),
        "in training mode, at random": (
            "The unit is right now. Two faults are left: the model is in training mode, and crops are drawn "
            "at random.",
            _left("mode", "crops"),
        ),
        "in training mode, in nats": (
            "Each id is read once now. Two faults are left: the model is in training mode, and the result is "
            "in nats a piece.",
            _left("mode", "unit"),
        ),
        "as it comes, at random, in nats": (
            "Nothing puts it into training mode any more, but it may come in it, and nobody calls "
            "`model.eval()`. And two faults are left: crops are drawn at random, and the result is in nats a "
            "piece.",
            partial(_left("crops", "unit"), mode=lambda model: model),
        ),
        "at random, in nats": (
            "Nothing is dropped now. Two faults are left: crops are drawn at random, and the result is in "
            "nats a piece.",
            _left("crops", "unit"),
        ),
    }
    | in_parts(
        _validated,
        mode={
            "in the mode in which it comes": (
                "Nothing puts it into training mode any more, and it may come in it: call `model.eval()`.",
                lambda model: model,
            )
        },
        windows={
            "last ids never asked": (
                "The last window, which is shorter, is left out. Its ids are part of the text, too.",
                _whole_windows,
            ),
            "what follows a window is never asked": (
                "Each window is shifted in itself, so that the id behind its last one is never asked. Shift "
                "the *row*: a window's targets end one id later than the window.",
                _borders_lost,
            ),
            "windows one id too far apart": (
                "Each window begins length + 1 ids behind the last, so that its first id is never asked. "
                "Begin it after `length` ids: its first id was the last target.",
                _one_too_far,
            ),
            "the last window filled up": (
                "The last window is filled up with ids that were counted before. Let it be shorter.",
                _filled_up,
            ),
            "overlapping windows": (
                "The windows overlap, and most ids count several times. Each begins where the last ended.",
                _overlapping,
            ),
        },
        nats={
            "not shifted": (
                "Each place is asked for the id that it stands on. Its target is the next one.",
                _not_shifted,
            )
        },
        unit={
            "bits a piece": (
                "These are bits a *piece*: you divide by the number of ids. Divide by `text_bytes`.",
                lambda nats, text_bytes: float(torch.cat(nats).mean()) / math.log(2),
            ),
            "nats a byte": (
                "These are nats a byte. Divide by log 2.",
                lambda nats, text_bytes: float(torch.cat(nats).sum()) / text_bytes,
            ),
            "nats a piece, each id alike": (
                "Each id counts alike now, but the result is still in nats a piece. Divide their sum by "
                "log 2 and by `text_bytes`.",
                lambda nats, text_bytes: float(torch.cat(nats).mean()),
            ),
            "multiplied by log 2": (
                "You multiply by log 2. A bit is log 2 nats, so there are more bits than nats: divide.",
                lambda nats, text_bytes: float(torch.cat(nats).sum()) * math.log(2) / text_bytes,
            ),
            "bits of all the text": (
                "These are the bits of the whole text. Divide by its bytes.",
                lambda nats, text_bytes: float(torch.cat(nats).sum()) / math.log(2),
            ),
            "a mean for the sum": (
                "You divide a *mean* by the bytes, as F.cross_entropy gives it. Divide the sum of all bits.",
                lambda nats, text_bytes: float(torch.cat(nats).mean()) / math.log(2) / text_bytes,
            ),
            "a mean of means for the sum": (
                "You divide the mean of the windows' means by the bytes. Divide the sum of all ids' bits.",
                lambda nats, text_bytes: _mean_of_means(nats, text_bytes) / math.log(2) / text_bytes,
            ),
            "a sum of means": (
                "You add up the windows' means. Add up the ids' nats: `reduction=\"sum\"`.",
                lambda nats, text_bytes: (
                    float(torch.stack([each.mean() for each in nats]).sum()) / math.log(2) / text_bytes
                ),
            ),
            "the first id counted": (
                "You multiply the mean by the number of ids. Nobody predicts the first: take one less.",
                lambda nats, text_bytes: (
                    float(torch.cat(nats).mean()) * (1 + sum(map(len, nats))) / math.log(2) / text_bytes
                ),
            ),
            "a mean of windows": (
                "You take the mean of the windows' means, in which the short last one counts like the "
                "others. Add up the nats of all ids.",
                lambda nats, text_bytes: (
                    float(torch.stack([each.mean() for each in nats]).mean())
                    * sum(map(len, nats))
                    / math.log(2)
                    / text_bytes
                ),
            ),
        },
    )
    | {
        "seen from half a window before": (
            "Each id counts once, and windows overlap, as those of `losses` do: an id is seen from more ids "
            "before it. That is fair, too, but asked for here are windows side by side.",
            _seen_from_before,
        )
    }
)


def _case(label: str, seed: int, size: int, length: int, text_bytes: int, *, training: bool) -> Case:
    source = torch.Generator().manual_seed(seed)
    row = torch.randint(6, (size,), generator=source, device="cpu")
    model: nn.Module = HalfSilent(6, seed)
    return Case(label, model.train(training), row, length, text_bytes)


check_repaired_validation = Exercise(
    "repaired_validation",
    difficulty=3,
    minutes=25,
    takes=("model", "row", "length", "text_bytes"),
    returns=("bits per byte",),
    reference=_validated,
    cases=(
        # One window is the whole row, wherever crops begin.
        _case("is in bits a byte", 1, 5, 4, 11, training=False),
        _case("reads each id once", 2, 17, 4, 40, training=False),
        _case("reads the last ids, too", 3, 19, 4, 40, training=False),
        _case("drops nothing", 4, 5, 4, 11, training=True),
        _case("does all of this", 5, 30, 3, 77, training=True),
    ),
    mistakes=MISTAKES,
    trainable=False,
)
