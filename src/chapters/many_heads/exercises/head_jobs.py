"""An experiment: find which job each head does."""

import copy
import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from attnlab.shapes import Weights
from bookkit.checking.answers import WrongTypeError, returned
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.mistakes import Mistakes, Part, in_parts
from bookkit.checking.mistakes.weighing import softmax
from chapters.many_heads.exercises.heads import _NAMES, _join, _projected, _split

_GUESTS, _WIDTH = 8, 16


def _share_right(model: nn.Module, x: Tensor, names: Tensor) -> Tensor:
    said: Tensor = model(x)[0]  # (tables, 8, asked, 8)
    return (said.argmax(-1) == names).double().mean((0, 1))  # (asked,)


def _taken_away(model: Any, head: int, cut: Part) -> Any:
    """A copy of the model, of whose W_O a cut is set to zero."""
    damaged = copy.deepcopy(model)
    cut(damaged.attention.W_O.weight.data, head, model.attention.heads)
    return damaged


def _columns(weight: Tensor, head: int, heads: int) -> None:
    weight[:, head * _WIDTH // heads : (head + 1) * _WIDTH // heads] = 0


def _found(
    model: Any,
    x: Tensor,
    names: Tensor,
    *,
    cut: Part = _columns,
    name: Part = lambda lost: int(lost.argmax()) if lost.max() > 0.2 else -1,
) -> Tensor:
    """The job of each head, by taking it away."""
    whole = _share_right(model, x, names)
    heads = range(model.attention.heads)
    return torch.tensor(
        [name(whole - _share_right(_taken_away(model, head, cut), x, names)) for head in heads], device="cpu"
    )


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
            "You say of every head that it has no job. Do you wait for too much to be lost? A guess is "
            "right once in eight times, so that without its head about 7/8 of a name is lost, not all.",
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


class _Attention(nn.Module):
    """As the chapter's MultiHead, for the models whose heads are to be found out."""

    def __init__(self, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.W_Q, self.W_K, self.W_V, self.W_O = (nn.Linear(_WIDTH, _WIDTH) for _ in _NAMES)

    def forward(self, query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Weights]:
        queries, keys, values = (_split(x, self.heads) for x in _projected(self, query, key, value))
        weights = softmax(queries @ keys.mT / math.sqrt(queries.shape[-1]))
        return self.W_O(_join(weights @ values)), weights


class _Guests(nn.Module):
    """A model made by hand: head i looks `looks[i]` seats on, and brings name `jobs[i]`, or is not heard.

    Names and seats are points of a circle, two numbers each, so that a head of four numbers holds either. No
    two are mirror images: where half of a head is taken away, rounding would decide between such.
    """

    def __init__(self, looks: tuple[int, ...], jobs: tuple[int, ...], source: torch.Generator) -> None:
        super().__init__()
        heads, asked = len(looks), max(jobs) + 1
        self.attention, self.read = _Attention(heads), nn.Linear(_WIDTH, _GUESTS * asked)
        d_k = _WIDTH // heads
        turn = (torch.arange(_GUESTS, device="cpu") + 0.3) * math.tau / _GUESTS
        circle = torch.stack([turn.cos(), turn.sin()], dim=-1)  # (8, 2)
        matrices = {name: torch.zeros(_WIDTH, _WIDTH, device="cpu") for name in _NAMES}
        reading = torch.zeros(_GUESTS * asked, _WIDTH, device="cpu")
        for head, (look, job) in enumerate(zip(looks, jobs, strict=True)):
            own = slice(head * d_k, head * d_k + 2)
            matrices["W_Q"][own, _GUESTS:] = 9 * circle.roll(-look, 0).mT
            matrices["W_K"][own, _GUESTS:] = 9 * circle.mT
            matrices["W_V"][own, :_GUESTS] = circle.mT
            if job >= 0:
                matrices["W_O"][own, own] = torch.eye(2, device="cpu")
                reading[job * _GUESTS : (job + 1) * _GUESTS, own] = circle
        # A rotation of the output hides from the eye which head wrote what.
        mixing, _ = torch.linalg.qr(torch.randn(_WIDTH, _WIDTH, generator=source, device="cpu"))
        matrices["W_O"] = mixing @ matrices["W_O"]
        for name, matrix in matrices.items():
            _fill(getattr(self.attention, name), matrix)
        _fill(self.read, reading @ mixing.mT)

    def forward(self, x: Tensor) -> tuple[Tensor, Weights]:
        mixed, weights = self.attention(x, x, x)
        return self.read(mixed).unflatten(-1, (-1, _GUESTS)), weights  # (tables, 8, asked, 8)


def _fill(linear: nn.Linear, matrix: Tensor) -> None:
    linear.weight.data, linear.bias.data = matrix, torch.zeros(len(matrix), device="cpu")


def _table(label: str, looks: tuple[int, ...], jobs: tuple[int, ...], asked: tuple[int, ...]) -> Case:
    """A model, tables as vectors, (60, 8, 16), and the names that are right, (60, 8, asked)."""
    source = torch.Generator("cpu").manual_seed(5)
    names = torch.randint(_GUESTS, (60, _GUESTS), generator=source, device="cpu")
    seats = torch.eye(_GUESTS, device="cpu").expand(60, -1, -1)
    right = torch.stack([names.roll(-step, 1) for step in asked], dim=-1)
    x = torch.cat([F.one_hot(names, _GUESTS), seats], dim=-1)
    with torch.random.fork_rng(devices=[]):  # a module's first numbers are drawn, and replaced by ours
        model = _Guests(looks, jobs, source)
    return Case(label, model, x, right)


_EIGHT = (1, 2, -1, 3, -1, -3, 1, 3)


def _as_numbers(work: Callable[..., Any], model: nn.Module, x: Tensor, names: Tensor) -> Tensor:
    jobs = returned(work(model, x, names))
    heads = model.attention.heads  # type: ignore[union-attr]
    try:
        numbers = torch.as_tensor(jobs, device="cpu")
    except (TypeError, ValueError, RuntimeError):
        numbers = torch.zeros(0, device="cpu")
    if numbers.shape != (heads,) or numbers.is_floating_point():
        raise WrongTypeError(f"Return a list of {heads} whole numbers, one for each head.")
    return numbers.long()


check_head_jobs = Exercise(
    "head_jobs",
    difficulty=4,
    minutes=40,
    takes=("model", "x", "names"),
    returns=("jobs",),
    reference=_found,
    ask=_as_numbers,
    cases=(
        _table("right for two heads", (1, -1), (1, 0), asked=(-1, 1)),
        # A head that looks sharply at a neighbour, and nothing of it reaches the output.
        _table("right where a head is idle", (-1, 1, 1, 2), (0, -1, 1, 2), asked=(-1, 1, 2)),
        _table("right where another is", (3, -2, 1, 1), (2, 0, 1, -1), asked=(-2, 1, 3)),
        _table("right for eight heads", _EIGHT, (-1, 3, 1, -1, -1, 0, 2, 4), asked=(-3, -1, 1, 2, 3)),
    ),
    mistakes=MISTAKES,
    trainable=False,
)
