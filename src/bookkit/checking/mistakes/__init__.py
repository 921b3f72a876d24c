"""Mistakes that many exercises share, in families: what goes wrong in one part of the right answer.

A family knows nothing of the rest: `in_parts(attention, weigh=WEIGHING)` puts each of its mistakes into the
place of attention's own way to weigh.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

from torch import Tensor

from attnlab.shapes import Values, Weights

# One step of an answer, in whose place a mistake may stand.
Part: TypeAlias = Callable[..., Any]
# Its name: what the reader is told, and code that makes it.
Mistakes: TypeAlias = dict[str, tuple[str, Callable[..., Any]]]


def in_parts(function: Callable[..., Any], **parts: Mistakes) -> Mistakes:
    """`in_parts(attention, weigh=WEIGHING)` calls attention(…, weigh=…) with each mistake in its place."""
    return {
        name: (sentence, partial(function, **{part: code}))
        for part, mistakes in parts.items()
        for name, (sentence, code) in mistakes.items()
    }


def in_answer(reference: Callable[..., Any], mistakes: Mistakes) -> Mistakes:
    """`in_answer(hidden_bytes, BYTES)` makes each mistake of the right answer, when all is done."""

    def mistaken(change: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *inputs: change(reference(*inputs))

    return {name: (sentence, mistaken(change)) for name, (sentence, change) in mistakes.items()}


def but(mistakes: Mistakes, *names: str) -> Mistakes:
    """`but(WEIGHING, "sigmoid")` leaves out what an exercise says in its own words, or can't tell."""
    if unknown := set(names) - mistakes.keys():
        raise ValueError(f"names must be among {sorted(mistakes)}, got {sorted(unknown)}")
    return {name: mistake for name, mistake in mistakes.items() if name not in names}


# --- what comes back ------------------------------------------------------------------------------


def swapped(reference: Callable[..., Any], first: str, second: str) -> Mistakes:
    """`swapped(attend, "output", "weights")` hands over both results in the wrong order."""
    sentence = f"Both results are right, in the wrong order: return {first}, {second}."
    return {"results swapped": (sentence, lambda *inputs: reference(*inputs)[::-1])}


def mixed(weights: Weights, value: Values) -> tuple[Tensor, Weights]:
    """`mixed(weights, value)` is what an attention returns: the output, and the weights."""
    return weights @ value, weights
