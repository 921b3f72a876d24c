"""Write one step of an attention that keeps its keys and values."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from bookkit.checking.answers import LARGE, Answer, WrongTypeError, returned
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.inputs import draw
from chapters.the_transformer.exercises.cached_step_mistakes import ELSEWHERE, MISTAKES
from chapters.the_transformer.exercises.cached_step_parts import _step


class _Cached:
    """A text on its way through the reader's step, with what is kept of it."""

    def __init__(self, work: Any, text: Tensor, table: Tensor, matrices: Sequence[Tensor]) -> None:
        self.work, self.more = work, (table, *matrices)
        self.outputs: list[Tensor] = []
        self.kept: tuple[Tensor, Tensor] = text[:, :0], text[:, :0]

    def read(self, words: Tensor) -> None:
        came = returned(self.work(words, self.kept, *self.more))
        try:
            output, (keys, values) = came
            for part in (output, keys, values):
                if not isinstance(part, Tensor) or part.dim() != 3 or part.numel() > LARGE:
                    raise TypeError
        except (TypeError, ValueError):
            raise WrongTypeError("Return the output, (B, n, d), and a pair: all keys, all values.") from None
        self.outputs.append(output)
        self.kept = keys, values

    @property
    def found(self) -> Answer:
        return torch.cat(self.outputs, dim=1), *self.kept


def _stepped(work: Any, text: Tensor, pieces: tuple[int, ...], table: Tensor, *matrices: Tensor) -> Answer:
    """What the reader's step makes of a text that is given to it piece by piece."""
    copies = text.clone(), table.clone(), tuple(matrix.clone() for matrix in matrices)
    alone = _Cached(work, text, table, matrices)
    for words in torch.split(text, list(pieces), dim=1):
        alone.read(words)
    # Once more, with another text in turn: what is kept anywhere but in `kept` is then the other's, too.
    one, other = _Cached(work, *copies), _Cached(work, *copies)
    for words in torch.split(copies[0], list(pieces), dim=1):
        one.read(words)
        other.read(-words)
    if not all(map(_equal, alone.found, one.found)):
        raise WrongTypeError(ELSEWHERE)
    return alone.found


def _equal(first: Tensor, second: Tensor) -> bool:
    return first.shape == second.shape and torch.equal(first.nan_to_num(), second.nan_to_num())


def _piecewise(label: str, seed: int, batch: int, *pieces: int, **more: Any) -> Case:
    d, length = 4, sum(pieces)
    text, table, *matrices = draw(seed, (batch, length, d), (length + 2, d), *[(d, d)] * 3, **more)
    return Case(label, text, pieces, table, *(matrix / 2 for matrix in matrices))


check_cached_step = Exercise(
    "cached_step",
    difficulty=3,
    minutes=25,
    takes=("words", "pieces", "table", "w_q", "w_k", "w_v"),
    returns=("outputs", "keys", "values"),
    reference=_step,
    ask=_stepped,
    trainable=False,
    cases=(
        _piecewise("right for the first word", 71, 1, 1),
        _piecewise("right word by word", 72, 1, 1, 1, 1),
        _piecewise("right for a text at once", 73, 2, 4),
        _piecewise("right for a beginning, and then word by word", 74, 2, 3, 1, 1),
        _piecewise("right in pieces", 75, 2, 2, 3, 1, 2),
        _piecewise("right in float64", 76, 2, 1, 2, 2, dtype=torch.float64),
    ),
    mistakes=MISTAKES,
)
