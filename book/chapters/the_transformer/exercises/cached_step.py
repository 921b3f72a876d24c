"""Write one step of an attention that keeps its keys and values."""

from typing import Any

import torch
from torch import Tensor

from bookkit.checking.answers import WrongTypeError
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.inputs import draw
from chapters.the_transformer.exercises.cached_step_mistakes import MISTAKES
from chapters.the_transformer.exercises.cached_step_parts import _step


def _stepped(work: Any, text: Tensor, pieces: tuple[int, ...], table: Tensor, *matrices: Tensor) -> Any:
    """What the reader's step makes of a text that is given to it piece by piece."""
    outputs, empty = [], text[:, :0]
    kept: Any = empty, empty
    for words in torch.split(text, list(pieces), dim=1):
        came = work(words, kept, table, *matrices)
        if came is None or came is ...:
            return came
        try:
            output, (keys, values) = came
            outputs.append(output)
            kept = keys, values
            if not all(isinstance(part, Tensor) and part.dim() == 3 for part in (output, keys, values)):
                raise TypeError
        except (TypeError, ValueError):
            raise WrongTypeError("Return the output, (B, n, d), and a pair: all keys, all values.") from None
    return torch.cat(outputs, dim=1), *kept


def _piecewise(label: str, seed: int, batch: int, *pieces: int, **more: Any) -> Case:
    d, length = 4, sum(pieces)
    text, table, *matrices = draw(seed, (batch, length, d), (length + 2, d), *[(d, d)] * 3, **more)
    return Case(label, text, pieces, table, *(matrix / 2 for matrix in matrices))


check_cached_step = Exercise(
    "cached_step",
    difficulty=3,
    minutes=25,
    takes=("text", "pieces", "table", "W_Q", "W_K", "W_V"),
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
