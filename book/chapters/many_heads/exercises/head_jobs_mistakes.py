"""The mistakes that `check_head_jobs` knows by name."""

from typing import Any

import torch
from torch import Tensor

from bookkit.checking.mistakes import Mistakes, in_parts
from chapters.many_heads.exercises.head_jobs_parts import _GUESTS, _WIDTH, _found


def _rows(weight: Tensor, head: int, heads: int) -> None:
    weight[head * _WIDTH // heads : (head + 1) * _WIDTH // heads] = 0


def _every_other(weight: Tensor, head: int, heads: int) -> None:
    weight[:, head::heads] = 0


def _up_to(weight: Tensor, head: int, heads: int) -> None:
    weight[:, : (head + 1) * _WIDTH // heads] = 0


def _by_the_weights(model: Any, x: Tensor, names: Tensor) -> Tensor:
    """Of each head the neighbour at which it looks most: what a picture of the weights tells."""
    _, weights = model(x)
    seen = weights.argmax(-1)  # (tables, heads, 8): a seat for each guest
    said = x[..., :_GUESTS].argmax(-1)  # (tables, 8)
    brought = said.unsqueeze(1).expand(-1, model.attention.heads, -1).gather(-1, seen)
    right = (brought.unsqueeze(-1) == names.unsqueeze(1)).double().mean((0, 2))  # (heads, asked)
    return torch.where(right.amax(-1) > 0.9, right.argmax(-1), -1)


def _steps(model: Any, x: Tensor, names: Tensor) -> Tensor:
    """How many seats on each head looks, 0 to 7: read off the weights, too, and never brought to names."""
    _, weights = model(x)
    each = weights.mean(0)  # (heads, 8, 8)
    ahead = [each.roll(-step, -1).diagonal(dim1=1, dim2=2).mean(-1) for step in range(_GUESTS)]
    return torch.stack(ahead).argmax(0)


def _steps_back_and_forth(model: Any, x: Tensor, names: Tensor) -> Tensor:
    steps = _steps(model, x, names)
    return torch.where(steps > _GUESTS // 2, steps - _GUESTS, steps)


_STEPS = (
    "These are seats: how many further on each head looks, {}. Asked for is the place of that neighbour "
    "among the names, 0, 1, …; and a head that looks need not be heard: take it away, and see what is lost."
)


MISTAKES: Mistakes = {
    "seats for places": (_STEPS.format("from 0 to 7"), _steps),
    "seats for places, back and forth": (_STEPS.format("back or forth"), _steps_back_and_forth),
    "read off the weights": (
        "This is where the heads look. One of them looks sharply, and nothing of what it finds reaches "
        "the output. Take the heads away, and see what is no longer right.",
        _by_the_weights,
    ),
} | in_parts(
    _found,
    cut={
        "rows of W_O": (
            "You set rows of W_O.weight to zero: numbers of the output, to which every head writes. "
            "nn.Linear holds its matrix turned, so that a head's part are columns.",
            _rows,
        ),
        "every other column": (
            "You take every so-and-so-many-th column. A head's columns are neighbours: from head · d_k "
            "to (head + 1) · d_k.",
            _every_other,
        ),
        "never put back": (
            "The heads that you took away stay away: by the last of them nothing is left. Begin with a "
            "fresh copy each time.",
            _up_to,
        ),
    },
    name={
        "a job for every head": (
            "Right but for the heads without a job: if nothing is lost without it, say -1.",
            lambda lost: int(lost.argmax()),
        ),
        "what is left": (
            "These are the names that are still right without the head. Asked for is the one that is lost.",
            lambda lost: int(lost.argmin()) if lost.max() > 0.2 else -1,
        ),
        "nobody has a job": (
            "You say of every head that it has no job. Do you wait for too much to be lost? Whoever guesses "
            "is right once in eight times, so that without its head about 7/8 of a name is lost, not all.",
            lambda lost: -1,
        ),
        "counted from 1": (
            "The neighbours are counted from 0, and yours from 1.",
            lambda lost: int(lost.argmax()) + 1 if lost.max() > 0.2 else -1,
        ),
        "idle or not": (
            "This says which heads have a job. Which one is it?",
            lambda lost: 1 if lost.max() > 0.2 else -1,
        ),
    },
)
