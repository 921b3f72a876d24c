"""Search with a beam, where only the last word counts."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from bookkit.checking.answers import WrongTypeError
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.inputs import exact
from chapters.translating_with_attention.exercises.beam_search_mistakes import MISTAKES
from chapters.translating_with_attention.exercises.beam_search_parts import _search


def _as_words(work: Callable[..., Any], *inputs: Any) -> Any:
    """Lists of words are as good as tensors."""
    found = work(*inputs)
    if isinstance(found, (tuple, list)) and len(found) == 2 and isinstance(found[0], (tuple, list)):
        try:
            return torch.tensor(found[0], dtype=torch.int64, device="cpu"), found[1]
        except (TypeError, ValueError, RuntimeError) as error:
            raise WrongTypeError("Return the words as whole numbers, and the log-probability.") from error
    return found


def _table(*rows: list[float]) -> Tensor:
    return exact(*rows).log()


# Words 0 and 1 are the start and the end. From 2 on the likeliest first word leads to unlikely ones.
_SMALL = _table([0, 0, 0.6, 0.4], [0, 1, 0, 0], [0, 0.4, 0.3, 0.3], [0, 0.9, 0.1, 0])


_LARGER = _table(
    [0, 0.12, 0.2, 0.18, 0.5],
    [0, 1, 0, 0, 0],
    [0, 0.32, 0.08, 0.18, 0.42],
    [0, 0.26, 0.2, 0.14, 0.4],
    [0, 0.16, 0.7, 0.1, 0.04],
)


_LATE = _table(
    [0, 0.3, 0.36, 0.34, 0],
    [0, 1, 0, 0, 0],
    [0, 0.3, 0.4, 0, 0.3],
    [0, 0, 0, 0.05, 0.95],
    [0, 0.99, 0, 0, 0.01],
)


# The start alone may end at once, and does so seldom: a beam of one runs on until it is cut.
_SELDOM = _table(
    [0, 0.05, 0.95, 0, 0],
    [0, 1, 0, 0, 0],
    [0, 0.05, 0.15, 0.5, 0.3],
    [0, 0.3, 0.15, 0.5, 0.05],
    [0, 0, 0.15, 0.7, 0.15],
)


# What goes on is likelier after 20 words than the one row that ended at once.
_ONWARD = _table([0, 0.25, 0.75, 0], [0, 1, 0, 0], [0, 0.005, 0.99, 0.005], [0, 0, 1, 0])


# Two rows have ended when the likeliest has not: it needs both places of a beam of two again.
_AGAIN = _table(
    [0, 0.15, 0, 0, 0, 0.85],
    [0, 1, 0, 0, 0, 0],
    [0, 0.35, 0.4, 0.1, 0.05, 0.1],
    [0, 0.3, 0.35, 0.15, 0.15, 0.05],
    [0, 0.75, 0, 0.05, 0.05, 0.15],
    [0, 0.25, 0.75, 0, 0, 0],
)


check_beam_search = Exercise(
    "beam_search",
    difficulty=3,
    minutes=25,
    takes=("table", "start", "end", "width"),
    returns=("words", "total"),
    reference=_search,
    ask=_as_words,
    cases=(
        Case("right for a beam of one", _SMALL, 0, 1, 1),
        Case("right for a beam of two", _SMALL, 0, 1, 2),
        Case("right for five words", _LARGER, 0, 1, 2),
        Case("right for a beam of three", _LARGER, 0, 1, 3),
        Case("right where rows end one after the other", _LATE, 0, 1, 2),
        Case("right where the best ends late", _LATE, 0, 1, 4),
        Case("right where rows seldom end", _SELDOM, 0, 1, 2),
        Case("right where rows seldom end", _ONWARD, 0, 1, 2),
        Case("right where no row ends", _SELDOM, 0, 1, 1),
        Case("right where the place of a row that ended is needed", _AGAIN, 0, 1, 2),
        Case("right with start and end in other places", _AGAIN.flip(0, 1), 5, 4, 2),
    ),
    mistakes=MISTAKES,
    trainable=False,
)
