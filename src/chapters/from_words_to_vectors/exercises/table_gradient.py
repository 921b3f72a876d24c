"""Compute by hand the gradient that an embedding table gets."""

from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from bookkit.checking.answers import WrongTypeError
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.inputs import draw, whole
from bookkit.checking.mistakes import Part


def _gradient(ids: Tensor, incoming: Tensor, vocabulary: int) -> Tensor:
    gradient = torch.zeros(vocabulary, incoming.shape[-1], dtype=incoming.dtype, device="cpu")
    return gradient.index_add(0, ids, incoming)


def _last_one_wins(ids: Tensor, incoming: Tensor, vocabulary: int) -> Tensor:
    gradient = torch.zeros(vocabulary, incoming.shape[-1], dtype=incoming.dtype, device="cpu")
    for number, row in zip(ids.tolist(), incoming, strict=True):
        gradient[number] = row
    return gradient


class _Calls(TorchFunctionMode):
    """`with _Calls() as calls:` sees whether autograd is asked for anything. All its ways pass here."""

    autograd = False

    def __torch_function__(
        self, function: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        self.autograd |= function in (torch.autograd.grad, torch.autograd.backward, Tensor.backward)
        return function(*args, **kwargs or {})


def _by_hand(work: Part, *inputs: Any) -> Any:
    with _Calls() as calls:
        answer = work(*inputs)
    if calls.autograd:
        raise WrongTypeError("It asks autograd for the gradient.")
    return answer


def _by_autograd(ids: Tensor, incoming: Tensor, vocabulary: int) -> Tensor:
    with torch.enable_grad():
        table = incoming.new_zeros(vocabulary, incoming.shape[-1], requires_grad=True)
        return torch.autograd.grad(table[ids], table, incoming)[0]


def _times_read(ids: Tensor, vocabulary: int) -> Tensor:
    return torch.bincount(ids, minlength=vocabulary).clamp(min=1)[:, None]


check_table_gradient = Exercise(
    "table_gradient",
    difficulty=2,
    minutes=10,
    takes=("ids", "incoming", "vocabulary"),
    returns=("gradient",),
    reference=_gradient,
    ask=_by_hand,
    trainable=False,
    cases=(
        Case("right where every word occurs once", whole(2, 0, 1), *draw(11, (3, 2)), 3),
        Case("right where a row is not read", whole(4, 1), *draw(12, (2, 3)), 6),
        Case("right where a word is read twice", whole(1, 3, 1), *draw(13, (3, 2)), 4),
        Case("right for a longer text", whole(5, 2, 5, 0, 5, 2, 6), *draw(14, (7, 4)), 9),
    ),
    mistakes={
        "autograd": (
            "You ask autograd. This time write down yourself what it does: begin with zeros, and send each "
            "row of `incoming` to the row of the table that was read there.",
            _by_autograd,
        ),
        "the last one wins": (
            "A word that is read several times keeps only its last gradient. `gradient[ids] = incoming` "
            "overwrites; the gradients of all its places add up.",
            _last_one_wins,
        ),
        "the mean of its places": (
            "You take the mean over a word's places. Each place is a path to the same row, and gradients of "
            "several paths add up.",
            lambda ids, incoming, vocabulary: (
                _gradient(ids, incoming, vocabulary) / _times_read(ids, vocabulary)
            ),
        ),
        "divided by the length": (
            "Everything is divided by the number of words. That belongs to a mean loss, and is in `incoming` "
            "already.",
            lambda ids, incoming, vocabulary: _gradient(ids, incoming, vocabulary) / len(ids),
        ),
        "a row for each place": (
            "These are the gradients as they came, a row for each place of the text. Send each to the row of "
            "the table that was read there.",
            lambda ids, incoming, vocabulary: incoming.clone(),
        ),
        "places for numbers": (
            "The gradient of place i went to row i. It belongs to row ids[i], which was read there.",
            lambda ids, incoming, vocabulary: _gradient(
                torch.arange(len(ids), device="cpu") % vocabulary, incoming, vocabulary
            ),
        ),
        "every row": (
            "Every row gets the sum of all gradients. Only the rows that were read get any.",
            lambda ids, incoming, vocabulary: incoming.sum(0).expand(vocabulary, -1).clone(),
        ),
        "how often": (
            "This counts how often each row was read. Multiply by what came back for it.",
            lambda ids, incoming, vocabulary: _gradient(ids, torch.ones_like(incoming), vocabulary),
        ),
        "nothing but zeros": (
            "These are all zeros. If you loop, does the loop write into what you return?",
            lambda ids, incoming, vocabulary: torch.zeros(vocabulary, incoming.shape[-1], device="cpu"),
        ),
    },
)
