"""Draw the next word of each row, at a temperature."""

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from attnlab.runtime import generator
from bookkit.checking.answers import WrongTypeError, returned
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.inputs import exact, whole
from bookkit.checking.mistakes import Mistakes, Part
from bookkit.checking.wording import dtype


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


_CALLS, _ROWS = 8, 1500


_CLOSE = 0.03  # of 12,000 draws, from their own chances: over twenty seeds at most .015


def _shares(work: Any, logits: Tensor, temperature: float) -> Any:
    """How often each word is drawn: the known chances themselves, where only chance is between."""
    given, calls = logits.repeat(_ROWS // len(logits), 1), []
    for seed in range(_CALLS):
        rows = given.clone()
        words = returned(work(rows, temperature, generator(seed)))
        if not isinstance(words, Tensor) or words.shape != given.shape[:1] or words.is_floating_point():
            whole_numbers = f"as many whole numbers, ({len(given)},)"
            came = type(words).__name__
            came = f"{dtype(words)} {tuple(words.shape)}" if isinstance(words, Tensor) else came
            raise WrongTypeError(f"For logits {tuple(given.shape)} return {whole_numbers}: it is {came}.")
        if not torch.equal(rows, given):
            raise WrongTypeError("It writes into the logits that it is given.")
        if words.min() < 0 or words.max() >= logits.shape[-1]:
            raise WrongTypeError(f"Words are numbers from 1 to {logits.shape[-1] - 1}: it says another.")
        calls.append(words.long())
    same = [torch.equal(calls[0], each) for each in calls]
    alike = [bool((words == words[0]).all()) for words in calls]
    if all(alike) and not all(same):
        raise WrongTypeError("In each call all rows get the same word.")
    counts = torch.stack([F.one_hot(words, logits.shape[-1]) for words in calls]).double()
    shares = counts.mean(0).view(-1, *logits.shape).mean(0)
    is_settled = bool(((shares == 0) | (shares == 1)).all())
    once, again = (work(given[:9].clone(), temperature, generator(0)) for _ in range(2))
    if not torch.equal(once, again) or (all(same) and not is_settled):
        raise WrongTypeError("Its words do not follow from `source`.")
    known = (chances(logits, temperature) for chances in (_chances, *(code for _, code in _DRAWN.values())))
    # What has no chance is never drawn.
    possible = ((_apart(shares, chances), chances) for chances in known if not shares[chances == 0].any())
    gap, nearest = min(possible, key=lambda each: each[0], default=(math.inf, shares))
    return nearest if gap < _CLOSE else shares.round(decimals=2)


def _apart(shares: Tensor, chances: Tensor) -> float:
    """By how much one would have to change to be the other."""
    return (shares - chances).abs().sum(-1).mean().item() / 2


_EASY = [2, 1.5, 0.5, -0.5, 1, -1]


_TWO = exact(_EASY, [-0.5, -1, 1, 2, 0.5, 1.5])


check_next_words = Exercise(
    "next_words",
    difficulty=3,
    minutes=20,
    takes=("logits", "temperature"),
    returns=("shares",),
    reference=_drawn(_chances),
    ask=_shares,
    trainable=False,
    cases=(
        Case("right at temperature 1", exact(_EASY), 1.0),
        Case("right at a low temperature", exact(_EASY), 0.5),
        Case("right at a high temperature", exact(_EASY), 2.0),
        Case("right for rows that differ", _TWO, 1.0),
        Case("the likeliest at temperature 0", _TWO, 0),
        Case("right for large logits", exact([3, 99, 98, 97.5]), 1.0),
    ),
    mistakes=MISTAKES,
)
