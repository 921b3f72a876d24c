"""Draw the next word of each row, at a temperature."""

import math
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from attnlab.runtime import generator
from bookkit.checking.answers import WrongTypeError, returned
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.inputs import exact
from bookkit.checking.wording import dtype
from chapters.the_transformer.exercises.next_words_mistakes import MISTAKES
from chapters.the_transformer.exercises.next_words_parts import _DRAWN, _chances, _drawn

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
