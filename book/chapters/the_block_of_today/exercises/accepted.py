"""Say which guesses a large model keeps, and what it draws from behind them."""

import torch
from torch import Tensor

from attnlab import decoding
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.inputs import whole
from chapters.the_block_of_today.exercises.accepted_mistakes import MISTAKES
from chapters.the_block_of_today.exercises.accepted_parts import _accepted


def _shares(*rows: list[int]) -> Tensor:
    """Chances, given as per cents."""
    return torch.tensor(rows, dtype=torch.float64, device="cpu") / 100


def _numbers(*numbers: float) -> Tensor:
    return torch.tensor(numbers, dtype=torch.float64, device="cpu")


_P = _shares([50, 30, 15, 5], [5, 15, 45, 35], [20, 40, 5, 35], [65, 5, 20, 10])
_Q = _shares([20, 60, 10, 10], [25, 35, 30, 10], [35, 30, 10, 25])


check_accepted = Exercise(
    "accepted",
    difficulty=3,
    minutes=30,
    takes=("p", "q", "guesses", "u"),
    returns=("kept", "chances"),
    reference=_accepted,
    cases=(
        Case("right where one guess is kept", _P[:2], _Q[:1], whole(1), _numbers(0.4)),
        Case("right where one guess is refused", _P[:2], _Q[:1], whole(1), _numbers(0.55)),
        Case("right where p is larger", _P[:2], _Q[:1], whole(0), _numbers(0.95)),
        Case("right where all are kept", _P, _Q, whole(0, 3, 2), _numbers(0.7, 0.9, 0.3)),
        Case("right where the first is refused", _P, _Q, whole(1, 3, 1), _numbers(0.8, 0.2, 0.4)),
        Case("right where one in the middle is refused", _P, _Q, whole(1, 1, 3), _numbers(0.2, 0.7, 0.5)),
        Case("right where the last is refused", _P, _Q, whole(2, 2, 0), _numbers(0.97, 0.1, 0.75)),
        Case(
            "right where one model never says a word",
            *(
                _shares([0, 60, 40], [50, 25, 25], [10, 80, 10]),
                _shares([30, 0, 70], [0, 55, 45]),
                whole(2, 1),
                _numbers(0.35, 0.5),
            ),
        ),
    ),
    mistakes=MISTAKES,
    without=(decoding,),
    trainable=False,
)
