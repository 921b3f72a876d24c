"""Say after how many positions a column of the table repeats."""

import math
from collections.abc import Callable
from typing import Any

from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.mistakes import in_answer, in_parts
from chapters.where_am_i.exercises.waves import _EXPONENTS, _POWERS, _radian


def _wavelength(column: int, d_model: int, base: float, **turn: Callable[..., Any]) -> float:
    """How many positions a column takes for one turn: columns 0 and 1 take 2π."""
    return math.tau * float(_radian(column, d_model, base, **turn))


check_wavelength = Exercise(
    "wavelength",
    difficulty=2,
    minutes=5,
    takes=("column", "d_model", "base"),
    returns=("wavelength",),
    reference=_wavelength,
    cases=(
        Case("right for the first column", 0, 16, 10000.0),
        Case("right for an even column", 6, 16, 10000.0),
        Case("right for an odd column", 7, 16, 10000.0),
        Case("right for another width and base", 5, 12, 500.0),
        Case("right for the last column", 511, 512, 10000.0),
    ),
    mistakes=in_parts(_wavelength, exponent=_EXPONENTS, power=_POWERS)
    | in_answer(
        _wavelength,
        {
            "without 2π": (
                "This is where the angle reaches 1. A whole turn is 2π.",
                lambda right: right / math.tau,
            ),
            "a whole turn is 360": (
                "This counts degrees. torch.sin and the formula take radians: a turn is 2π.",
                lambda right: 360 * right / math.tau,
            ),
            "the frequency": (
                "This is the angle that one position adds. The wavelength is how many positions fill a turn: "
                "2π divided by it.",
                lambda right: math.tau / right,
            ),
        },
    ),
)
