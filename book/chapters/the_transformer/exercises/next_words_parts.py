"""What `check_next_words` asks with, in parts that can be mistaken."""

import math
from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional as F

from bookkit.checking.inputs import whole
from bookkit.checking.mistakes import Mistakes, Part


def _chances(logits: Tensor, temperature: float) -> Tensor:
    """The right chances. Word 0 is padding, which is never drawn."""
    logits = logits.double().index_fill(-1, whole(0), -math.inf)
    return (logits / temperature).softmax(-1) if temperature else _likeliest(logits)


def _safe(logits: Tensor) -> Tensor:
    return logits.double().index_fill(-1, whole(0), -math.inf)


def _likeliest(logits: Tensor) -> Tensor:
    """All of the chance for it, padding or not."""
    return F.one_hot(logits.argmax(-1), logits.shape[-1]).double()


# What is drawn from at a temperature above 0, with one mistake in it: (logits, temperature) -> chances.
_WARM: Mistakes = {
    "multiplied": (
        "The logits are multiplied by the temperature. A high one must bring the chances together: divide.",
        lambda logits, temperature: (_safe(logits) * temperature).softmax(-1),
    ),
    "temperature used at 0 alone": (
        "The temperature makes no difference but at 0. (To divide the chances by it is no use, since they "
        "are made to sum to 1 again: divide the logits.)",
        lambda logits, temperature: _chances(logits, 1),
    ),
    "squared temperature": (
        "The logits are divided by the temperature twice.",
        lambda logits, temperature: _chances(logits, temperature**2),
    ),
    "always the likeliest": (
        "This is the likeliest word, at every temperature. That is right at 0 alone; else draw.",
        lambda logits, temperature: _chances(logits, 0),
    ),
    "softmax twice": (
        "The chances go through a second softmax, which brings them close together.",
        lambda logits, temperature: _chances(_chances(logits, temperature), 1),
    ),
    "softmax over the rows": (
        "The softmax runs over the rows, dim=0. The chances of one row's words sum to 1: dim=-1.",
        lambda logits, temperature: _chances((logits.double() / temperature).log_softmax(0), 1),
    ),
    "padding drawn but at 0": (
        "At 0 the padding, word 0, is left out, and else it is drawn as well. Give it the logit -inf.",
        lambda logits, temperature: (logits.double() / temperature).softmax(-1),
    ),
    "one place off but at 0": (
        "What is drawn is one too small: with the padding cut off, word 1 stands at place 0. Add 1.",
        lambda logits, temperature: _chances(logits, temperature).roll(-1, -1),
    ),
}


# What is drawn from at temperature 0, with one mistake in it.
_COLD: Mistakes = {
    "drawn at 0": (
        "At temperature 0 words are drawn as at 1. There the likeliest is meant: argmax.",
        lambda logits: _chances(logits, 1),
    ),
    "padding at 0": (
        "At temperature 0 word 0, the padding, is said where it is the likeliest. Leave it out there, too.",
        _likeliest,
    ),
    "one place off at 0": (
        "At temperature 0 the words are one too small: with the padding cut off, word 1 stands at place 0. "
        "Add 1.",
        lambda logits: _chances(logits, 0).roll(-1, -1),
    ),
}


# And at every temperature.
_ALWAYS: Mistakes = {
    "multiplied at 0, too": (
        "The logits are multiplied by the temperature, so that at 0 all words are alike. Divide, and take "
        "the likeliest at 0.",
        lambda logits, temperature: (
            (_safe(logits) * temperature).softmax(-1) if temperature else _chances(0 * logits, 1)
        ),
    ),
    "temperature not used": (
        "The temperature makes no difference. (To divide the chances by it is no use, since they are made to "
        "sum to 1 again: divide the logits.)",
        lambda logits, temperature: _chances(logits, 1),
    ),
    "all alike": (
        "Every word is as likely as the next: the logits play no part.",
        lambda logits, temperature: _chances(0 * logits, 1),
    ),
    "least likely": (
        "The less likely a word, the more often it is drawn: a sign is turned.",
        lambda logits, temperature: _chances(-logits, temperature),
    ),
    "first row for all": (
        "All words are drawn by the first row's chances. Each row has its own.",
        lambda logits, temperature: _chances(logits[:1].expand_as(logits), temperature),
    ),
    "padding drawn": (
        "Word 0, the padding, is drawn as well. Give it the logit -inf, and no chance is left to it.",
        lambda logits, temperature: (
            (logits.double() / temperature).softmax(-1) if temperature else _likeliest(logits)
        ),
    ),
    "padding's logit 0": (
        "The padding is given the logit 0, which is a logit like any other. Give it -inf.",
        lambda logits, temperature: (
            (logits.double().index_fill(-1, whole(0), 0) / temperature).softmax(-1)
            if temperature
            else _likeliest(logits.index_fill(-1, whole(0), 0))
        ),
    ),
    "one place off": (
        "All words are one too small: with the padding cut off, word 1 stands at place 0. Add 1 to what "
        "comes out.",
        lambda logits, temperature: _chances(logits, temperature).roll(-1, -1),
    ),
}


def _if_warm(chances: Part) -> Part:
    return lambda logits, temperature: (chances if temperature else _chances)(logits, temperature)


def _if_cold(chances: Part) -> Part:
    return lambda logits, temperature: _chances(logits, temperature) if temperature else chances(logits)


_DRAWN: Mistakes = (
    _ALWAYS
    | {name: (sentence, _if_warm(code)) for name, (sentence, code) in _WARM.items()}
    | {name: (sentence, _if_cold(code)) for name, (sentence, code) in _COLD.items()}
)


def _drawn(chances: Part) -> Callable[[Tensor, float, torch.Generator], Tensor]:
    """A draw of the next words, from these chances."""

    def draw(logits: Tensor, temperature: float, source: torch.Generator) -> Tensor:
        words: Tensor = chances(logits, temperature).multinomial(1, generator=source)
        return words[:, 0]

    return draw
