"""Write the sinusoidal table of positions."""

import torch

from attnlab.positions import sinusoidal
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.mistakes import in_answer, in_parts
from chapters.where_am_i.exercises.waves import _EXPONENTS, _PLACES, _POWERS, _WAVES, _table

check_sinusoidal_table = Exercise(
    "sinusoidal_table",
    difficulty=2,
    minutes=10,
    takes=("length", "d_model", "base"),
    returns=("table",),
    reference=sinusoidal,
    # Small bases for the larger tables: where the power is upside down, float32 can tell its angles, too.
    cases=(
        Case("right for two positions and four columns", 2, 4, 10000.0),
        Case("right for a single position", 1, 6, 10000.0),
        Case("right for another base", 5, 6, 50.0),
        Case("right for more columns than positions", 7, 16, 100.0),
        Case("right for more positions than columns", 40, 8, 20.0),
    ),
    mistakes=in_parts(_table, exponent=_EXPONENTS, power=_POWERS, places=_PLACES, wave=_WAVES)
    | in_answer(
        _table,
        {
            "zeros": (
                "These are all zeros. Is the table ever filled? `table[:, 0::2] = …` writes into the even "
                "columns.",
                torch.zeros_like,
            ),
        },
    ),
)
