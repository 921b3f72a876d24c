"""Search with a beam, where only the last word counts."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

import torch
from torch import Tensor

from attnlab.decoding import beam
from bookkit.checking.answers import WrongTypeError
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.inputs import exact, whole
from bookkit.checking.mistakes import Mistakes, Part, in_parts


def _search(table: Tensor, start: int, end: int, width: int) -> tuple[Tensor, Tensor]:
    """The right answer: attnlab's, where only the last word counts."""
    nothing = torch.zeros(1, 1, device=table.device)
    return beam(lambda words, state: (table[words], state), nothing, start, end, width, longest=20)


Rows: TypeAlias = list[tuple[float, list[int]]]  # each with its log-probability in front


def _kept(longer: Rows, width: int) -> Rows:
    return sorted(longer, key=lambda one: -one[0])[:width]


def _kept_of_each(longer: Rows, width: int) -> Rows:
    """Of each row its likeliest next word, once there are as many rows as the beam is wide."""
    if len({tuple(row[:-1]) for _, row in longer}) == 1:
        return _kept(longer, width)
    best: dict[tuple[int, ...], tuple[float, list[int]]] = {}
    for total, row in longer:
        if tuple(row[:-1]) not in best or total > best[tuple(row[:-1])][0]:
            best[tuple(row[:-1])] = total, row
    return _kept([*best.values()], width)


def _going_on(rows: Rows, end: int) -> Rows:
    return [one for one in rows if one[1][-1] != end]


def _ending(rows: Rows, end: int) -> Rows:
    return [one for one in rows if one[1][-1] == end]


def _chosen(longer: Rows, ended: Rows, width: int, end: int, keep: Part = _kept) -> tuple[Rows, Rows]:
    """The rows that go on, and those that have ended by now."""
    kept = keep(longer, width)
    return _going_on(kept, end), ended + _ending(kept, end)


def _step_by_step(
    table: Tensor,
    start: int,
    end: int,
    width: int,
    *,
    longest: int = 20,
    add: Callable[[float, float], float] = lambda total, log: total + log,
    choose: Part = _chosen,
    enough: Callable[[int, int], bool] = lambda ended, width: False,
    among: Part = lambda ended, rows: ended or rows,
    rank: Callable[[float, list[int]], float] = lambda total, row: total,
    answer: Part = lambda row, total: (row[1:], total),
) -> tuple[Tensor, Tensor]:
    """A beam in parts, each of which can be mistaken."""
    rows: Rows = [(0.0, [start])]
    ended: Rows = []
    for _ in range(longest):
        longer = [
            (add(total, log), [*row, word])
            for total, row in rows
            for word, log in enumerate(table[row[-1]].tolist())
            if log > -math.inf
        ]
        rows, ended = choose(longer, ended, width, end)
        if not rows or enough(len(ended), width):
            break
    total, row = max(among(ended, rows), key=lambda one: rank(*one))
    row, total = answer(row, total)
    return whole(*row), torch.tensor(total, dtype=table.dtype, device="cpu")


def _without_its_end(table: Tensor, start: int, end: int, width: int) -> tuple[Tensor, Tensor]:
    words, total = _search(table, start, end, width)
    return words[words != end], total


# Those that are in no one part.
_ALONE: Mistakes = {
    "greedy": (
        "This is greedy search, whatever `width` says: one row is kept. Keep the `width` likeliest.",
        lambda table, start, end, width: _search(table, start, end, 1),
    ),
    "end left out": ("The end is missing at the end of the row.", _without_its_end),
    "one word too few": (
        "You cut after 19 words: the start does not count among the 20.",
        partial(_step_by_step, longest=19),
    ),
    "one word too many": (
        "You cut after 21 words. At most 20 come behind the start.",
        partial(_step_by_step, longest=21),
    ),
    "end taken for 1": (
        "You take the word 1 for the end. Which word ends a row is given: `end`.",
        lambda table, start, end, width: _search(table, start, 1, width),
    ),
    "one wider": (
        "One row more than `width` is kept.",
        lambda table, start, end, width: _search(table, start, end, width + 1),
    ),
}

MISTAKES: Mistakes = _ALONE | in_parts(
    _step_by_step,
    add={
        "probabilities added": (
            "You add up probabilities. They multiply; it is their logarithms that add up.",
            lambda total, log: total + math.exp(log),
        ),
        "last word only": (
            "A row is judged by its last word alone. Add up the logarithms of all its words.",
            lambda total, log: log,
        ),
    },
    choose={
        "best of each row": (
            "Each row goes on with its own likeliest word. Compare the next words of all rows with each "
            "other, and keep the `width` likeliest: one row may go on twice, and another not at all.",
            partial(_chosen, keep=_kept_of_each),
        ),
        "least likely": (
            "You keep the rows that are least likely. A log-probability is negative: nearer to "
            "0 is likelier.",
            partial(_chosen, keep=lambda longer, width: sorted(longer)[:width]),
        ),
        "ended rows take no place": (
            "You set aside every row that ends, and keep `width` others. To be set aside a row must be "
            "among the `width` likeliest of all.",
            lambda longer, ended, width, end: (
                _kept(_going_on(longer, end), width),
                ended + _ending(longer, end),
            ),
        ),
        "ended rows stay in the beam": (
            "Rows that ended keep a place at every later step, or lose it to likelier ones. Set them "
            "aside: only rows that go on share the places.",
            lambda longer, ended, width, end: _chosen(longer + ended, [], width, end),
        ),
        "places lost": (
            "With each row that ends your beam gets narrower for good. At the next step there are "
            "`width` places again.",
            lambda longer, ended, width, end: _chosen(longer, ended, width - len(ended), end),
        ),
    },
    enough={
        "stops at the first end": (
            "You return a row that ends first. Another row may still end with a higher probability.",
            lambda ended, width: ended > 0,
        ),
        "stops when enough have ended": (
            "You stop when `width` rows have ended. One that goes on may still end with a higher "
            "probability.",
            lambda ended, width: ended >= width,
        ),
    },
    among={
        "cut rows beside ended ones": (
            "You return a row that was cut although another had ended. Rows without an end count where "
            "none has one.",
            lambda ended, rows: ended + rows,
        ),
    },
    rank={
        "divided by the length": (
            "You choose among the rows that ended by their mean per word. That is often done, and "
            "favours long rows; asked for is the likeliest.",
            lambda total, row: total / (len(row) - 1),
        ),
        "least likely to end": (
            "Of the rows that ended, you return the least likely. A log-probability is negative: the largest "
            "is nearest to 0.",
            lambda total, row: -total,
        ),
        "last to end": (
            "Of the rows that ended, you return the last. Return the likeliest of them.",
            lambda total, row: len(row),
        ),
    },
    answer={
        "start kept": (
            "The row begins with the start. Return the words behind it.",
            lambda row, total: (row, total),
        ),
        "mean per word": (
            "The words are right. The log-probability is that of the whole row, not divided by its length.",
            lambda row, total: (row[1:], total / (len(row) - 1)),
        ),
        "from the end to the start": (
            "The words are right, and come from the last to the first.",
            lambda row, total: (row[:0:-1], total),
        ),
        "probability": (
            "The words are right, and this is their probability. Return its logarithm.",
            lambda row, total: (row[1:], math.exp(total)),
        ),
        "total turned": (
            "The words are right. The log-probability has lost its minus sign.",
            lambda row, total: (row[1:], -total),
        ),
    },
)


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
