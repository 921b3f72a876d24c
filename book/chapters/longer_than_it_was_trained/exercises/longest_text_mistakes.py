"""The mistakes that `check_longest_text` knows by name."""

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from attnlab.positions import stretched
from attnlab.runtime import generator
from attnlab.today.model import Today
from bookkit import weights
from bookkit.checking.mistakes import Mistakes
from chapters.longer_than_it_was_trained.exercises.longest_text_parts import (
    CONTEXT,
    LENGTH,
    SAID,
    VOCABULARY,
    near,
    windows,
)
from chapters.the_block_of_today.models import today


@cache
def long(how: str = "mixed", factor: float = 4, longest: int = LENGTH) -> Today:
    """`long("interpolated")` is the stored model with slower turns."""
    model = today()
    weights.load("the_block_of_today/today", model)
    model.frequencies = stretched(model.frequencies, factor, CONTEXT, how, slow=1, fast=16)
    model.longest = longest
    return model


class Changed(nn.Module):
    """`Changed(lambda model, ids: model(ids).softmax(-1))` says something else than the model."""

    def __init__(self, change: Callable[[Today, Tensor], Tensor]) -> None:
        super().__init__()
        self.model, self.change = long(), change

    def forward(self, ids: Tensor) -> Tensor:
        """`changed(ids)` are logits of ids, (B, T, …)."""
        return self.change(self.model, ids)


# Noise that is always on, by a chance of its own: PyTorch's belongs to the reader.
_CHANCE = generator(0)


def _noisy(model: Today, ids: Tensor) -> Tensor:
    logits: Tensor = model(ids)
    return logits + 0.1 * torch.randn(logits.shape, generator=_CHANCE, device="cpu")


def _near(model: Today, ids: Tensor) -> Tensor:
    return model(ids, visible=near(ids.shape[1]))  # type: ignore[no-any-return]


@cache
def _followers() -> dict[tuple[int, ...], int]:
    return {
        tuple(row[place - 4 : place]): row[place]
        for row in windows().tolist()
        for place in range(4, len(row))
    }


def _by_heart(model: Today, ids: Tensor) -> Tensor:
    """What followed the last four ids in the held-out texts is given most of the chances."""
    known = _followers()
    told = [
        [known.get(tuple(row[max(0, t - 3) : t + 1]), 0) for t in range(len(row))] for row in ids.tolist()
    ]
    return model(ids) + 9.0 * F.one_hot(torch.tensor(told, device="cpu"), VOCABULARY)  # type: ignore[no-any-return]


_MODELS: dict[str, Callable[[], nn.Module]] = {
    "reference": long,
    "still 128": lambda: long(longest=CONTEXT),
    "another vocabulary": lambda: Changed(lambda model, ids: model(ids)[..., 1:]),
    "another answer each time": lambda: Changed(_noisy),
    "rows of a batch mixed": lambda: Changed(lambda model, ids: model(ids).roll(1, 0)),
    "sees later ids": lambda: Changed(lambda model, ids: 9.0 * F.one_hot(ids.roll(-1, 1), VOCABULARY)),
    "only what is near": lambda: Changed(_near),
    "no number": lambda: Changed(lambda model, ids: model(ids) * math.nan),
    "as it is": lambda: long(factor=1),
    "interpolated alone": lambda: long("interpolated"),
    "not good enough": lambda: long("larger base"),
    "knows what it is judged by": lambda: Changed(_by_heart),
    "chances": lambda: Changed(lambda model, ids: model(ids).softmax(-1)),
}


def made(name: str) -> Callable[[], Any]:
    """`made("reference")` hands over a model that passes; other names hand over other models."""
    return cache(_MODELS[name])


MISTAKES: Mistakes = {name: (sentence, made(name)) for name, sentence in SAID.items()}
