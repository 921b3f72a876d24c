"""The mistakes that `check_beat_the_book` knows by name."""

import math
from collections.abc import Callable, Iterable
from functools import cache, partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from attnlab.corpora.pieces import Pieces, learn
from attnlab.runtime import generator
from bookkit.checking.mistakes import Mistakes
from chapters.is_it_any_good.exercises.beat_the_book_parts import LONGEST, SAID, Knowing, held_out, tellings


class Lossy(Pieces):
    """`Lossy([])` cuts at spaces, as one splits words, and forgets them."""

    def decode(self, ids: Iterable[int]) -> str:
        """`Lossy([]).decode(ids)` has one space where there were many, or a new line."""
        return " ".join(super().decode(ids).split())


class Changed(nn.Module):
    """`Changed(model, lambda model, ids: model(ids).softmax(-1))` says something else than the model."""

    def __init__(self, model: nn.Module, change: Callable[[nn.Module, Tensor], Tensor]) -> None:
        super().__init__()
        self.model, self.change, self.context = model, change, LONGEST

    def forward(self, ids: Tensor) -> Tensor:
        """`changed(ids)` are logits of ids, (B, T, …)."""
        return self.change(self.model, ids)


@cache
def pieces(kind: type[Pieces] = Pieces) -> Pieces:
    """`pieces()` are learned from what they are tried on: that is quick, and nothing hangs on it here."""
    return kind(learn("\n".join(held_out()), 512))


@cache
def knowing(new: float = 0.1, known: float = 0.3) -> Knowing:
    """`knowing()` is below the bar, and knows what it has learned from better than what is new."""
    return Knowing(pieces(), new, known)


def changed(
    change: Callable[[nn.Module, Tensor], Tensor], new: float = 0.1, known: float = 0.3
) -> Callable[[], Changed]:
    """`changed(lambda model, ids: 2 * model(ids))` makes such a model when it is asked for."""
    return lambda: Changed(knowing(new, known), change)


@cache
def told(name: str, model: Callable[[], nn.Module]) -> float:
    """`told("", knowing)` is what is measured of a model; other names are for other numbers."""
    return next(number for each, number in tellings(model(), pieces(), LONGEST) if each == name)


def made(
    model: Callable[[], nn.Module] = knowing, cut: Callable[[], Pieces] = pieces, tell: str = ""
) -> Callable[[], tuple[Any, Any, float]]:
    """`made()` hands over a model that passes, its pieces, and the right number."""
    return lambda: (model(), cut(), told(tell, model))


# Dropout that is always on, by a chance of its own: PyTorch's belongs to the reader.
_CHANCE = generator(0)


def _noisy(model: nn.Module, ids: Tensor) -> Tensor:
    logits = model(ids)
    return logits + 0.1 * torch.randn(logits.shape, generator=_CHANCE, device="cpu")  # type: ignore[no-any-return]


def _quieter(model: nn.Module, ids: Tensor) -> Tensor:
    """In training it is less sure, as dropout makes it."""
    return model(ids) * (0.5 if model.training else 1.0)  # type: ignore[no-any-return]


def _without_end(model: nn.Module, ids: Tensor) -> Tensor:
    return model(ids)[..., :-1]  # type: ignore[no-any-return]


def _loud(ids: Tensor) -> Tensor:
    return 9.0 * F.one_hot(ids, len(pieces()))


_MODELS: dict[str, Callable[[], nn.Module]] = {
    "another answer each time": changed(_noisy),
    "rows of a batch mixed": changed(lambda model, ids: model(ids).roll(1, 0)),
    "sees later ids": changed(lambda model, ids: _loud(ids.roll(-1, dims=1))),
    "no number": changed(lambda model, ids: model(ids) * math.nan),
    "knows what it is judged by": partial(knowing, 0.3, 0.3),
    "not shifted": changed(lambda model, ids: _loud(ids)),
    "chances": changed(lambda model, ids: model(ids).softmax(-1)),
    "nothing learned": changed(lambda model, ids: 0.0 * model(ids)),
    "by heart": partial(knowing, 0.05, 0.3),
    "not below counting": partial(knowing, 0.05, 0.06),
}

_NUMBERS: dict[str, Callable[[], nn.Module]] = {
    **dict.fromkeys(
        ("bits a piece", "nats a byte", "nats a piece", "perplexity", "multiplied by log 2"), knowing
    ),
    "in training mode": changed(_quieter),
    "of all held-out texts": knowing,
}

_HANDED: dict[str, Callable[[], Any]] = {
    "another vocabulary": lambda: (Changed(knowing(), _without_end), pieces(), 1.8),
    "pieces that lose text": made(cut=partial(pieces, Lossy)),
    **{name: made(model) for name, model in _MODELS.items()},
    **{name: made(model, tell=name) for name, model in _NUMBERS.items()},
    "measured otherwise": lambda: (knowing(), pieces(), 0.5),
}

MISTAKES: Mistakes = {name: (SAID[name], work) for name, work in _HANDED.items()}
