"""The mistakes that `check_near_the_limit` knows by name."""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from attnlab.corpora import agreement
from attnlab.runtime import generator
from chapters.the_transformer.exercises.near_the_limit_parts import (
    _WRITTEN,
    _handed_in,
    _Knows,
    _spoken_of,
    _tellings,
)
from chapters.the_transformer.models import WORDS


class _Spelled(nn.Module):
    """Logits that are made of the numbers of the words, (N, T) -> (N, T, 37)."""

    def __init__(self, spell: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.spell = spell

    def forward(self, previous: Tensor) -> Tensor:
        return self.spell(previous)


def _loud(words: Tensor) -> Tensor:
    return 8.0 * F.one_hot(words, len(WORDS)).double()


@functools.cache
def _heard() -> dict[tuple[int, ...], Tensor]:
    """What followed the same words in the sentences that were learned, and a little of everything."""
    learned = _spoken_of("learned")
    heard: dict[tuple[int, ...], Tensor] = {}
    for row, targets in zip(learned.previous.tolist(), learned.targets.tolist(), strict=True):
        for t, target in enumerate(targets):
            counts = heard.setdefault(tuple(row[: t + 1]), torch.full((len(WORDS),), 0.01, device="cpu"))
            counts[target] += 1
    return heard


def _by_heart(previous: Tensor) -> Tensor:
    unheard = torch.ones(len(WORDS), device="cpu")
    counts = [
        torch.stack([_heard().get(tuple(row[: t + 1]), unheard) for t in range(len(row))])
        for row in previous.tolist()
    ]
    chances = torch.stack(counts).double()
    return (chances / chances.sum(-1, keepdim=True)).log()


def _half_by_heart(previous: Tensor) -> Tensor:
    knows = _Knows(0.98)(previous).exp()
    mixed: Tensor = 0.9 * knows + 0.1 * _by_heart(previous).exp()
    return mixed.log()


def _told(mistake: str) -> Callable[[Any], float]:
    """The number that stands for a mistake in measuring, of this model."""
    return lambda model: next(number for name, number in _tellings(model) if name == mistake)


def _changed(change: Callable[[list[str]], Any]) -> Callable[[], Sequence[Any]]:
    return lambda: [change(sentence) for sentence in agreement.sentences(_WRITTEN, generator(9))]


def _jumbled(words: list[str]) -> list[str]:
    return [*words[-2::-1], agreement.END]


# Results of which one is wrong, as _SAID says.
_ONE_WRONG: dict[str, Callable[[], Any]] = {
    "not shifted": _handed_in(lambda: _Spelled(_loud)),
    "nothing learned": _handed_in(lambda: _Knows(0.0)),
    "not near": _handed_in(lambda: _Knows(0.75)),
    "by heart": _handed_in(lambda: _Spelled(_by_heart)),
    "the grammar itself": _handed_in(lambda: _Knows(1 - 1e-9)),
    "probabilities": _handed_in(lambda: _Spelled(lambda words: _Knows()(words).exp())),
    **{
        mistake: _handed_in(tell=_told(mistake))
        for mistake in (
            "padding counted",
            "bits",
            "limit less loss",
            "the loss itself",
            "perplexity",
            "share of the perplexities",
            "share of the limit",
            "measured against previous",
            "per sentence",
            "summed",
            "limit of a sentence",
            "each sentence alike",
            "softmax before the loss",
        )
    },
    "measured on what it learned": _handed_in(
        lambda: _Spelled(_half_by_heart), tell=_told("measured on what it learned")
    ),
    "too few": _handed_in(write=lambda: agreement.sentences(9, generator(9))),
    "numbers": _handed_in(write=_changed(lambda words: [*range(len(words))])),
    "marks in them": _handed_in(write=_changed(lambda words: [agreement.START, *words])),
    "copied": _handed_in(write=lambda: _spoken_of("fresh").sentences[:_WRITTEN]),
    "one sentence": _handed_in(write=lambda: [["the", "king", "sees", "."]] * _WRITTEN),
    "gone on behind the full stop": _handed_in(write=_changed(lambda words: [*words, *words])),
    "no full stop": _handed_in(write=_changed(lambda words: words[:-1])),
    "broken off": _handed_in(write=_changed(lambda words: words[:5])),
    "not grammatical": _handed_in(write=_changed(_jumbled)),
}
