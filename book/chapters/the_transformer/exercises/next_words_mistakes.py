"""The mistakes that `check_next_words` knows by name."""

import math

import torch
from torch import Tensor

from attnlab.runtime import generator
from bookkit.checking.mistakes import Mistakes
from chapters.the_transformer.exercises.next_words_parts import _DRAWN, _chances, _drawn, _safe


def _not_greedy(logits: Tensor, temperature: float) -> Tensor:
    return (_safe(logits) / torch.tensor(float(temperature), device="cpu")).softmax(-1)


def _overflowing(logits: Tensor, temperature: float) -> Tensor:
    if temperature == 0:
        return _chances(logits, 0)
    powers = (_safe(logits).float() / temperature).exp()
    return powers / powers.sum(-1, keepdim=True)


def _one_for_all(logits: Tensor, temperature: float, source: torch.Generator) -> Tensor:
    return _drawn(_chances)(logits[:1], temperature, source).expand(len(logits))


def _written_into(logits: Tensor, temperature: float, source: torch.Generator) -> Tensor:
    logits[:, 0] = -math.inf
    return _drawn(_chances)(logits, temperature, source)


def _from_elsewhere(logits: Tensor, temperature: float, source: torch.Generator) -> Tensor:
    return _drawn(_chances)(logits, temperature, generator(0))


MISTAKES: Mistakes = {name: (sentence, _drawn(code)) for name, (sentence, code) in _DRAWN.items()} | {
    "divided by 0": (
        "Right, but at temperature 0, where you divide by 0. There the likeliest word is meant: argmax.",
        _drawn(_not_greedy),
    ),
    "overflow": (
        "Right, but for large logits: there exp is infinite. Let torch.softmax do it.",
        _drawn(_overflowing),
    ),
    "one draw for all": (
        "One word is drawn for all rows. Each has chances of its own, and its own draw.",
        _one_for_all,
    ),
    "writes into the logits": (
        "The words are right, but the logits that were handed in are changed. Change a copy: "
        "masked_fill, or clone() first.",
        _written_into,
    ),
    "randomness from elsewhere": (
        "The words do not follow from `source`: twice the same must give the same words, and another "
        "one others. Hand it on, generator=source, and do not seed it.",
        _from_elsewhere,
    ),
    "no chances": (
        "torch.multinomial gets numbers that are no chances: some are negative, infinite or NaN. Is there a "
        "softmax, and is it over the words, dim=-1? (Over the rows, a column of -inf becomes NaN.)",
        _drawn(
            lambda logits, temperature: _safe(logits) / temperature if temperature else _chances(logits, 0)
        ),
    ),
}
