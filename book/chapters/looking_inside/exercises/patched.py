"""Run a model with what one head finds in another sentence."""

from collections.abc import Callable
from typing import Any

from torch import Tensor

from bookkit.checking.answers import WrongTypeError, returned
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from chapters.looking_inside.circuits import (
    drawn,
)
from chapters.looking_inside.exercises.looks import _FIRST, _SECOND, _hooks, _words
from chapters.looking_inside.exercises.patched_mistakes import MISTAKES
from chapters.looking_inside.exercises.patched_parts import _Pair, _patched


def _two_differences(work: Callable[..., Any], model: Any, *inputs: Any) -> Any:
    found = returned(work(model, *inputs))
    if not isinstance(found, (tuple, list)) or len(found) != 2:
        raise WrongTypeError(
            "Return two numbers: the difference before, and the one with the head exchanged."
        )
    return *found, _hooks(model)


def _exchange(
    label: str, seed: int, words: Tensor, other: Tensor, place: tuple[int, int], pair: _Pair, **sizes: int
) -> Case:
    return Case(label, drawn(seed, **sizes), words, other, *place, pair)


check_patched = Exercise(
    "patched",
    difficulty=3,
    minutes=20,
    takes=("model", "words", "other", "layer", "head", "pair"),
    returns=("before", "after", "hooks left"),
    reference=_patched,
    ask=_two_differences,
    cases=(
        _exchange("right in one layer", 11, _FIRST, _SECOND, (0, 1), (2, 7), layers=1, heads=3, d_model=12),
        _exchange(
            "right in the second layer", 12, _SECOND, _FIRST, (1, 1), (3, 1), layers=2, heads=2, d_model=8
        ),
        _exchange(
            "right in the first layer",
            13,
            _words([1, 2, 3, 4, 5]),
            _words([6, 2, 0, 4, 8]),
            (0, 2),
            (0, 5),
            layers=2,
            heads=3,
            d_model=12,
        ),
    ),
    mistakes=MISTAKES,
    trainable=False,
)
