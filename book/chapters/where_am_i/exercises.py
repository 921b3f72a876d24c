"""The exercises of “Where am I?”."""

import itertools
import math
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from attnlab.positions import sinusoidal
from bookkit.attempts import Case
from bookkit.checker import Exercise
from bookkit.inputs import draw
from bookkit.mistakes import Mistakes, but, in_answer, in_parts
from bookkit.puzzle import ShapePuzzle


def _pair_start(column: Any) -> Any:
    """The first column of the pair that a column, or each of a tensor of them, belongs to."""
    return column - column % 2


def _radian(
    column: Any,
    d_model: int,
    base: float,
    *,
    exponent: Callable[..., Any] = lambda column, d_model: _pair_start(column) / d_model,
    power: Callable[..., Any] = pow,
) -> Any:
    """How many positions it takes a column, or each of a tensor of them, to turn by 1."""
    return power(base, exponent(column, d_model))


_EXPONENTS: Mistakes = {
    "exponent doubled": (
        "The exponent is twice too large. Pair i has 2i / d_model; where i goes 0, 2, 4, … it is 2i already.",
        lambda column, d_model: 2 * _pair_start(column) / d_model,
    ),
    "exponent halved": (
        "The exponent is half of what it should be. With i = 0, 1, 2, … for the pairs it is 2i / d_model.",
        lambda column, d_model: column // 2 / d_model,
    ),
    "an angle for each column": (
        "Right for even columns; but the odd ones have an angle of their own. Sine and cosine come in pairs "
        "that share one: columns 0 and 1, columns 2 and 3.",
        lambda column, d_model: column / d_model,
    ),
    "column doubled": (
        "The exponent is twice too large, and odd columns have one of their own. i numbers the pairs: "
        "columns 6 and 7 are pair 3, and 2i is 6.",
        lambda column, d_model: 2 * column / d_model,
    ),
    "pairs from column 1": (
        "Your pairs are one column off. Columns are counted from 0: 0 and 1 are the first pair.",
        lambda column, d_model: _pair_start(column + 1) / d_model,
    ),
    "last pair at the base": (
        "Your exponents go from 0 to 1, so that the last pair reaches the base. Other code does that, too; "
        "here pair i has 2i / d_model, and the last one stops short of 1.",
        lambda column, d_model: column // 2 / max(d_model // 2 - 1, 1),
    ),
}
_POWERS: Mistakes = {
    "power upside down": (
        "The power is upside down: later pairs of columns turn more slowly, so that their waves are longer.",
        lambda base, exponent: base**-exponent,
    ),
    "10000 for every base": (
        "Right for base 10000. But the base is an input, and the code does not use it.",
        lambda base, exponent: 10000.0**exponent,
    ),
    "base 1000": (
        "The numbers fit a base that is ten times smaller than the one given.",
        lambda base, exponent: (base / 10) ** exponent,
    ),
}


def _waves(angles: Tensor) -> Tensor:
    return torch.stack((angles[:, 0::2].sin(), angles[:, 1::2].cos()), dim=-1).flatten(-2)


def _table(
    length: int,
    d_model: int,
    base: float,
    *,
    places: Callable[[int], Tensor] = lambda length: torch.arange(length, device="cpu"),
    wave: Callable[[Tensor], Tensor] = _waves,
    **turn: Callable[..., Any],
) -> Tensor:
    """The table in parts, each of which can be mistaken; what is left over are the parts of `_radian`."""
    columns = torch.arange(d_model, device="cpu", dtype=torch.float64)
    # An angle for each column, though pairs share theirs: (length, 1) / (d_model,) -> (length, d_model)
    return wave(places(length).unsqueeze(-1) / _radian(columns, d_model, base, **turn)).float()


_PLACES: Mistakes = {
    "positions from 1": (
        "The positions begin with 1. The first word stands at 0, and its row is 0, 1, 0, 1, …",
        lambda length: torch.arange(1, length + 1, device="cpu"),
    ),
}
_WAVES: Mistakes = {
    "sine in every column": (
        "Both columns of each pair are sines. The odd ones hold the cosine of the same angle; without it row "
        "0 is all zeros.",
        torch.sin,
    ),
    "cosine in every column": (
        "Both columns of each pair are cosines. The even ones hold the sine of the same angle.",
        torch.cos,
    ),
    "sine and cosine swapped": (
        "Sines and cosines have changed places: column 0 is a sine, so row 0 begins 0, 1.",
        lambda angles: torch.stack((angles[:, 0::2].cos(), angles[:, 1::2].sin()), dim=-1).flatten(-2),
    ),
    "all sines first": (
        "All sines stand in the left half and all cosines in the right. Other libraries do that, too, but "
        "here sine and cosine of one angle are neighbours.",
        lambda angles: torch.cat((angles[:, 0::2].sin(), angles[:, 1::2].cos()), dim=-1),
    ),
    "angles alone": (
        "These are the angles, each one twice. Take the sine of one and the cosine of the other.",
        lambda angles: angles,
    ),
}

# --- the table ------------------------------------------------------------------------------------


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

# --- say the shapes -------------------------------------------------------------------------------

# positions is (5000, 1), frequencies (8,), table (5000, 16), words (32, 6, 16), query (32, 4, 6, 4).
check_position_shapes = ShapePuzzle(
    "position_shapes",
    difficulty=1,
    minutes=5,
    shapes={
        "positions * frequencies": (5000, 8),
        "table[:, 0::2]": (5000, 8),
        "table.unsqueeze(0)": (1, 5000, 16),
        "words + table[:6]": (32, 6, 16),
        "table[:6] @ table[:6].T": (6, 6),
        "table[7] @ table[10]": (),
        "shift_rotation(5, 16)": (16, 16),
        "rotate(query)": (32, 4, 6, 4),
        "alibi_bias(4, 6, 6)": (4, 6, 6),
    },
    mistakes={
        "one column of angles": (
            "a column of 5000 times a row of 8 is spread both ways: every position with every frequency.",
            {"positions * frequencies": (5000, 1)},
        ),
        "one row of angles": (
            "there is a product for each position, not only for each frequency.",
            {"positions * frequencies": (8,)},
        ),
        "angle for each column": (
            "there is one frequency for each pair of columns, so half as many as columns.",
            {"positions * frequencies": (5000, 16)},
        ),
        "all columns": (
            "0::2 takes every other column, beginning with the first.",
            {"table[:, 0::2]": (5000, 16)},
        ),
        "every other row": (
            "the comma comes first: `:` is for the rows, all of them, and 0::2 for the columns.",
            {"table[:, 0::2]": (2500, 16)},
        ),
        "a copy for each example": (
            "a new axis has length 1. It is spread over the batch only when something is added to it.",
            {"table.unsqueeze(0)": (32, 5000, 16)},
        ),
        "words appended": (
            "positions are added to the words, number by number. Nothing gets longer or wider.",
            {"words + table[:6]": (32, 12, 16)},
        ),
        "width appended": (
            "positions are added, not set beside the words: the sum is as wide as either.",
            {"words + table[:6]": (32, 6, 32)},
        ),
        "batch forgotten": (
            "the batch is missing. One set of six rows serves every example of it.",
            {"words + table[:6]": (6, 16), "rotate(query)": (4, 6, 4)},
        ),
        "columns with columns": (
            "this is columns against columns. Here rows meet rows: one number for each pair of positions.",
            {"table[:6] @ table[:6].T": (16, 16)},
        ),
        "product of elements": (
            "`@` of two vectors multiplies and adds up. A single number is left, which has no axis.",
            {"table[7] @ table[10]": (16,)},
        ),
        "a single number with an axis": (
            "a single number has no axis at all, where [3.0] has one of length 1.",
            {"table[7] @ table[10]": (1,)},
        ),
        "one matrix a pair": (
            "the 2-by-2 blocks stand along the diagonal of one large matrix that is zero elsewhere.",
            {"shift_rotation(5, 16)": (8, 2, 2)},
        ),
        "one matrix a step": (
            "five steps at once are one rotation: a single matrix.",
            {"shift_rotation(5, 16)": (5, 16, 16)},
        ),
        "one row a step": (
            "5 is how far it shifts. The matrix takes all 16 columns of a row to 16 new ones.",
            {"shift_rotation(5, 16)": (5, 16)},
        ),
        "scores for queries": (
            "turning a query leaves it as wide as it was. Scores come later, when it meets the keys.",
            {"rotate(query)": (32, 4, 6, 6)},
        ),
        "heads forgotten": (
            "each head has a slope of its own, and so a bias of its own.",
            {"alibi_bias(4, 6, 6)": (6, 6)},
        ),
        "a bias for each example": (
            "the distances are the same in every example: the bias has no batch axis, and is spread over it.",
            {"alibi_bias(4, 6, 6)": (32, 4, 6, 6)},
        ),
    },
)

# --- a wavelength ---------------------------------------------------------------------------------


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

# --- repair ---------------------------------------------------------------------------------------


def _positions(
    inputs: Tensor,
    *,
    axis: int = 1,
    base: float = 10000.0,
    add: Callable[[Tensor, Tensor], Tensor] = torch.add,
    **parts: Callable[..., Any],
) -> Tensor:
    """The repaired code in parts that can be mistaken; what is left over are the parts of `_table`."""
    return add(inputs, _table(inputs.shape[axis], inputs.shape[-1], base, **parts).to(inputs.dtype))


# Each fault: what is said of it while it is there, and the part that it is.
FAULTS: dict[str, tuple[str, dict[str, Any]]] = {
    "length": ("how many rows are taken (which axis holds the words?)", {"axis": 0}),
    "base": ("the base", {"base": 1000.0}),
    "sine": ("the odd columns (what does row 0 hold there?)", {"wave": torch.sin}),
    "doubled": (
        "the exponent of both columns (i goes 0, 2, 4, …)",
        {"power": lambda base, exponent: base ** (2 * exponent)},
    ),
    "apart": (
        "the angle of the odd columns (with whom do they share it?)",
        {"exponent": lambda column, d_model: column / d_model},
    ),
}


def _with_faults(*faults: str) -> Callable[[Tensor], Tensor]:
    return partial(_positions, **{part: code for fault in faults for part, code in FAULTS[fault][1].items()})


check_repaired_positions = Exercise(
    "repaired_positions",
    difficulty=3,
    minutes=15,
    takes=("inputs",),
    returns=("outputs",),
    reference=_positions,
    # One width but for the last: the loop over the columns came with the code, and deserves no remark.
    cases=(
        Case("right for one sentence of one word", *draw(41, (1, 1, 8))),
        Case("right for one sentence of five words", *draw(42, (1, 5, 8))),
        # As many sentences as words: a length read from the wrong axis goes unnoticed here.
        Case("right for six sentences of six words", *draw(43, (6, 6, 8))),
        Case("right for three sentences of seven words", *draw(44, (3, 7, 8))),
        Case("right in float64", *draw(45, (2, 9, 16), dtype=torch.float64)),
    ),
    mistakes={
        "still broken": (
            "All five faults that it came with are still there. Begin with the axis that holds the words, "
            "then look at row 0.",
            _with_faults(*FAULTS),
        ),
        "a row for each sentence": (
            "Every word of a sentence gets the row of the sentence's number, not that of its own place.",
            partial(_positions, axis=0, add=lambda inputs, rows: inputs + rows.unsqueeze(1)),
        ),
    }
    # Every way to have mended some of the faults and not the others.
    | {
        f"left: {', '.join(left)}": (
            f"Faults mended: {len(FAULTS) - count} of {len(FAULTS)}. Look again at "
            f"{'; '.join(FAULTS[fault][0] for fault in left)}.",
            _with_faults(*left),
        )
        for count in range(1, len(FAULTS))
        for left in itertools.combinations(FAULTS, count)
    }
    | in_parts(
        _positions,
        exponent={
            "doubled in the second line": (
                "The exponent is mended in the first of the two lines. In the second it is still doubled.",
                lambda column, d_model: (1 + column % 2) * _pair_start(column) / d_model,
            ),
            "base of the second line": (
                "The base is mended in the first of the two lines, and not in the second.",
                # 1000 is 10000 to the power of 3/4.
                lambda column, d_model: (1 - column % 2 / 4) * _pair_start(column) / d_model,
            ),
        },
        places=_PLACES,
        wave=but(_WAVES, "sine in every column"),
        add={
            "table alone": (
                "The words have vanished: this is the table alone. Return inputs plus the table.",
                lambda inputs, rows: rows,
            ),
            "multiplied": ("The words are multiplied by the table. Positions are added.", torch.mul),
            "words scaled": (
                "The words are multiplied by √d_model, as some models do. Here they stay as they are.",
                lambda inputs, rows: inputs * math.sqrt(inputs.shape[-1]) + rows,
            ),
        },
    ),
)
