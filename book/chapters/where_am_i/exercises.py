"""The exercises of “Where am I?”."""

import itertools
import math
from collections.abc import Callable

import torch
from torch import Tensor

from attnlab.positions import sinusoidal
from attnlab.runtime import generator
from bookkit.checker import Case, Exercise, Mistake, Report, check
from bookkit.puzzle import ShapePuzzle, WrongShapes, check_shapes

# --- the table ------------------------------------------------------------------------------------


def _angles(length: int, d_model: int, base: float) -> Tensor:
    """The angle of each position in each pair of columns: (length, pairs)."""
    exponents = torch.arange(0, d_model, 2, device="cpu") / d_model
    return torch.arange(length, device="cpu").unsqueeze(-1) * base**-exponents


def _woven(even: Tensor, odd: Tensor) -> Tensor:
    return torch.stack((even, odd), dim=-1).flatten(-2)  # two of (length, pairs) -> (length, d_model)


def _waves(angles: Tensor) -> Tensor:
    return _woven(angles.sin(), angles.cos())


def _doubled(length: int, d_model: int, base: float) -> Tensor:
    """The angles where 2i is taken although i already goes 0, 2, 4, …"""
    exponents = 2 * torch.arange(0, d_model, 2, device="cpu") / d_model
    return torch.arange(length, device="cpu").unsqueeze(-1) * base**-exponents


def _by_column(length: int, d_model: int, base: float) -> Tensor:
    """An angle for each column in place of each pair: (length, d_model)."""
    exponents = torch.arange(d_model, device="cpu") / d_model
    return torch.arange(length, device="cpu").unsqueeze(-1) * base**-exponents


def _table_case(label: str, length: int, d_model: int, base: float) -> Case:
    return Case(label, {"length": length, "d_model": d_model, "base": base})


SINUSOIDAL_TABLE = Exercise(
    name="sinusoidal_table",
    difficulty=2,
    minutes=10,
    reference=sinusoidal,
    returns=("table",),
    cases=(
        _table_case("right for two positions and four columns", 2, 4, 10000.0),
        _table_case("right for a single position", 1, 6, 10000.0),
        _table_case("right for another base", 5, 6, 50.0),
        _table_case("right for more columns than positions", 7, 16, 10000.0),
        _table_case("right for more positions than columns", 40, 8, 10000.0),
    ),
    mistakes=(
        Mistake(
            "sine in every column",
            "Both columns of each pair are sines. The odd ones hold the cosine of the same angle; without it "
            "row 0 is all zeros.",
            lambda length, d_model, base: _woven(*2 * (_angles(length, d_model, base).sin(),)),
        ),
        Mistake(
            "sine and cosine swapped",
            "Sines and cosines have changed places: column 0 is a sine, so row 0 begins 0, 1.",
            lambda length, d_model, base: _woven(
                _angles(length, d_model, base).cos(), _angles(length, d_model, base).sin()
            ),
        ),
        Mistake(
            "all sines first",
            "All sines stand in the left half and all cosines in the right. Other libraries do that, too, "
            "but here sine and cosine of one angle are neighbours.",
            lambda length, d_model, base: torch.cat(
                (_angles(length, d_model, base).sin(), _angles(length, d_model, base).cos()), dim=-1
            ),
        ),
        Mistake(
            "exponent doubled",
            "The exponent is twice too large. Where i goes 0, 2, 4, … it is 2i already: the exponent is then "
            "i / d_model.",
            lambda length, d_model, base: _waves(_doubled(length, d_model, base)),
        ),
        Mistake(
            "exponent halved",
            "The exponent is half of what it should be. With i = 0, 1, 2, … for the pairs it is "
            "2i / d_model.",
            lambda length, d_model, base: _waves(_angles(length, d_model, math.sqrt(base))),
        ),
        Mistake(
            "an angle for each column",
            "Each column has an angle of its own. Sine and cosine come in pairs that share one: columns 0 "
            "and 1, columns 2 and 3.",
            lambda length, d_model, base: _woven(
                _by_column(length, d_model, base)[:, 0::2].sin(),
                _by_column(length, d_model, base)[:, 1::2].cos(),
            ),
        ),
        Mistake(
            "multiplied",
            "The position is multiplied by base^(2i / d_model) where it should be divided: later pairs turn "
            "more slowly, not faster.",
            lambda length, d_model, base: _waves(_angles(length, d_model, 1 / base)),
        ),
        Mistake(
            "10000 for every base",
            "Right for base 10000. But the base is an input, and the code does not use it.",
            lambda length, d_model, base: sinusoidal(length, d_model),
        ),
        Mistake(
            "base 1000",
            "The numbers fit a base that is ten times smaller than the one given.",
            lambda length, d_model, base: sinusoidal(length, d_model, base / 10),
        ),
        Mistake(
            "positions from 1",
            "The positions begin with 1. The first word stands at 0, and its row is 0, 1, 0, 1, …",
            lambda length, d_model, base: sinusoidal(length + 1, d_model, base)[1:],
        ),
        Mistake(
            "turned over",
            "Positions are the columns and waves the rows. The table is (length, d_model): one row a "
            "position.",
            lambda length, d_model, base: sinusoidal(length, d_model, base).T,
        ),
        Mistake(
            "an axis too many",
            "The numbers are right, with an axis of length 1 in front. That is how the buffer is kept; the "
            "table has two axes.",
            lambda length, d_model, base: sinusoidal(length, d_model, base).unsqueeze(0),
        ),
        Mistake(
            "angles alone",
            "These are the angles, each one twice. Take the sine of one and the cosine of the other.",
            lambda length, d_model, base: _woven(*2 * (_angles(length, d_model, base),)),
        ),
        Mistake(
            "zeros",
            "These are all zeros. Is the table ever filled? `table[:, 0::2] = …` writes into the even "
            "columns.",
            lambda length, d_model, base: torch.zeros(length, d_model, device="cpu"),
        ),
    ),
    trainable=False,
)


def check_sinusoidal_table(function: object) -> Report:
    """`check_sinusoidal_table(my_function)` tests function(length, d_model, base) -> the table.

    >>> check_sinusoidal_table(sinusoidal).passed
    True
    """
    return check(SINUSOIDAL_TABLE, function)


# --- say the shapes -------------------------------------------------------------------------------

# positions is (5000, 1), frequencies (8,), table (5000, 16), words (32, 6, 16), query (32, 4, 6, 4).
POSITION_SHAPES = ShapePuzzle(
    name="position_shapes",
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
    mistakes=(
        WrongShapes(
            "one column of angles",
            "a column of 5000 times a row of 8 is spread in both directions: every position with every "
            "frequency.",
            {"positions * frequencies": (5000, 1)},
        ),
        WrongShapes(
            "one row of angles",
            "there is a product for each position, not only for each frequency.",
            {"positions * frequencies": (8,)},
        ),
        WrongShapes(
            "angle for each column",
            "there is one frequency for each pair of columns, so half as many as columns.",
            {"positions * frequencies": (5000, 16)},
        ),
        WrongShapes(
            "all columns",
            "0::2 takes every other column, beginning with the first.",
            {"table[:, 0::2]": (5000, 16)},
        ),
        WrongShapes(
            "every other row",
            "the comma comes first: `:` is for the rows, all of them, and 0::2 for the columns.",
            {"table[:, 0::2]": (2500, 16)},
        ),
        WrongShapes(
            "axis at the end",
            "the new axis goes where the 0 says, in front of all others.",
            {"table.unsqueeze(0)": (5000, 16, 1)},
        ),
        WrongShapes(
            "a copy for each example",
            "a new axis has length 1. It is spread over the batch only when something is added to it.",
            {"table.unsqueeze(0)": (32, 5000, 16)},
        ),
        WrongShapes(
            "words appended",
            "positions are added to the words, number by number. Nothing gets longer or wider.",
            {"words + table[:6]": (32, 12, 16)},
        ),
        WrongShapes(
            "width appended",
            "positions are added, not set beside the words: the sum is as wide as either.",
            {"words + table[:6]": (32, 6, 32)},
        ),
        WrongShapes(
            "batch forgotten",
            "the batch is missing. One set of six rows serves every example of it.",
            {"words + table[:6]": (6, 16), "rotate(query)": (4, 6, 4)},
        ),
        WrongShapes(
            "columns with columns",
            "this is columns against columns. Here rows meet rows: one number for each pair of positions.",
            {"table[:6] @ table[:6].T": (16, 16)},
        ),
        WrongShapes(
            "product of elements",
            "`@` of two vectors multiplies and adds up. A single number is left, which has no axis.",
            {"table[7] @ table[10]": (16,)},
        ),
        WrongShapes(
            "a single number with an axis",
            "a single number has no axis at all, where [3.0] has one of length 1.",
            {"table[7] @ table[10]": (1,)},
        ),
        WrongShapes(
            "one matrix a pair",
            "the 2-by-2 blocks stand along the diagonal of one large matrix that is zero elsewhere.",
            {"shift_rotation(5, 16)": (8, 2, 2)},
        ),
        WrongShapes(
            "one matrix a step",
            "five steps at once are one rotation: a single matrix.",
            {"shift_rotation(5, 16)": (5, 16, 16)},
        ),
        WrongShapes(
            "scores for queries",
            "turning a query leaves it a query of the same width. Scores come later, when it meets the keys.",
            {"rotate(query)": (32, 4, 6, 6)},
        ),
        WrongShapes(
            "heads forgotten",
            "each head has a slope of its own, and so a bias of its own.",
            {"alibi_bias(4, 6, 6)": (6, 6)},
        ),
        WrongShapes(
            "a bias for each example",
            "the distances are the same in every example: the bias has no batch axis, and is spread over it.",
            {"alibi_bias(4, 6, 6)": (32, 4, 6, 6)},
        ),
    ),
)


def check_position_shapes(answers: object) -> Report:
    """`check_position_shapes(my_shapes)` tests a dictionary of expressions, with the shape of each.

    >>> shapes = POSITION_SHAPES.shapes | {"table[:, 0::2]": (2500, 16)}
    >>> check_position_shapes(shapes).mistake
    'every other row'
    """
    return check_shapes(POSITION_SHAPES, answers)


# --- a wavelength ---------------------------------------------------------------------------------


def _wavelength(column: int, d_model: int, base: float) -> float:
    """How many positions a column takes for one turn: columns 0 and 1 take 2π."""
    return 2 * math.pi * math.pow(base, 2 * (column // 2) / d_model)


def _wavelength_case(label: str, column: int, d_model: int, base: float) -> Case:
    return Case(label, {"column": column, "d_model": d_model, "base": base})


WAVELENGTH = Exercise(
    name="wavelength",
    difficulty=2,
    minutes=5,
    reference=_wavelength,
    returns=("wavelength",),
    cases=(
        _wavelength_case("right for the first column", 0, 16, 10000.0),
        _wavelength_case("right for an even column", 6, 16, 10000.0),
        _wavelength_case("right for an odd column", 7, 16, 10000.0),
        _wavelength_case("right for another width and base", 5, 12, 500.0),
        _wavelength_case("right for the last column", 511, 512, 10000.0),
    ),
    mistakes=(
        Mistake(
            "without 2π",
            "This is where the angle reaches 1. A whole turn is 2π.",
            lambda column, d_model, base: _wavelength(column, d_model, base) / (2 * math.pi),
        ),
        Mistake(
            "half a turn",
            "This is half a turn, π. A wave repeats after a whole one.",
            lambda column, d_model, base: _wavelength(column, d_model, base) / 2,
        ),
        Mistake(
            "a whole turn is 360",
            "This counts degrees. torch.sin and the formula take radians: a turn is 2π.",
            lambda column, d_model, base: 360 * _wavelength(column, d_model, base) / (2 * math.pi),
        ),
        Mistake(
            "the frequency",
            "This is the angle that one position adds. The wavelength is how many positions fill a turn: 2π "
            "divided by it.",
            lambda column, d_model, base: base ** (-2 * (column // 2) / d_model),
        ),
        Mistake(
            "turns per position",
            "This is upside down: turns per position, where positions per turn are asked for.",
            lambda column, d_model, base: 1 / _wavelength(column, d_model, base),
        ),
        Mistake(
            "2π in the wrong place",
            "The power is turned upside down: later columns turn more slowly, so their waves are longer.",
            lambda column, d_model, base: 2 * math.pi * base ** (-2 * (column // 2) / d_model),
        ),
        Mistake(
            "odd columns apart",
            "Right for even columns. An odd column holds the cosine of the angle to its left: the same wave.",
            lambda column, d_model, base: 2 * math.pi * base ** (column / d_model),
        ),
        Mistake(
            "exponent doubled",
            "The exponent is twice too large: i numbers the pairs, and column 6 belongs to pair 3.",
            lambda column, d_model, base: 2 * math.pi * base ** (2 * column / d_model),
        ),
        Mistake(
            "exponent doubled in pairs",
            "The pairs are right and the exponent is twice too large: for column 6 of 16 it is 6/16.",
            lambda column, d_model, base: 2 * math.pi * base ** (4 * (column // 2) / d_model),
        ),
        Mistake(
            "exponent halved",
            "The exponent is half of what it should be: pair i has 2i / d_model.",
            lambda column, d_model, base: 2 * math.pi * base ** ((column // 2) / d_model),
        ),
        Mistake(
            "10000 for every base",
            "Right for base 10000. But the base is an input, and the code does not use it.",
            lambda column, d_model, base: _wavelength(column, d_model, 10000.0),
        ),
        Mistake(
            "rounded",
            "The wavelength is rounded to whole positions. A wave need not fit a whole number of them.",
            lambda column, d_model, base: round(_wavelength(column, d_model, base)),
        ),
    ),
    trainable=False,
)


def check_wavelength(function: object) -> Report:
    """`check_wavelength(my_function)` tests function(column, d_model, base) -> positions in one turn.

    >>> check_wavelength(lambda column, d_model, base: math.tau * base ** (column // 2 * 2 / d_model)).passed
    True
    """
    return check(WAVELENGTH, function)


# --- repair ---------------------------------------------------------------------------------------


def _draw(seed: int, *shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
    """Numbers between -2 and 2, in eighths: exact in every dtype, and the same on every machine."""
    whole = torch.randint(-16, 17, shape, generator=generator(seed), device="cpu")
    return whole.to(dtype) / 8


# Each fault, and what is said of it while it is there.
FAULTS = {
    "length": "how many rows are taken (which axis holds the words?)",
    "base": "the base",
    "sine": "the odd columns (what does row 0 hold there?)",
    "doubled": "the exponent of both columns (i goes 0, 2, 4, …)",
    "apart": "the angle of the odd columns (with whom do they share it?)",
}


def _faulty_rows(inputs: Tensor, faults: frozenset[str]) -> Tensor:
    """The rows that the code adds while some of its faults are still there."""
    length, d_model = inputs.shape[0 if "length" in faults else 1], inputs.shape[-1]
    base = 1000.0 if "base" in faults else 10000.0
    factor = 2 if "doubled" in faults else 1
    even = torch.arange(0, d_model, 2, device="cpu", dtype=torch.float64)
    odd = even + 1 if "apart" in faults else even
    positions = torch.arange(length, device="cpu").unsqueeze(-1)
    left = (positions / base ** (factor * even / d_model)).sin()
    right = positions / base ** (factor * odd / d_model)
    return _woven(left, right.sin() if "sine" in faults else right.cos()).to(inputs.dtype)


def _with_faults(*faults: str) -> Callable[[Tensor], Tensor]:
    return lambda inputs: inputs + _faulty_rows(inputs, frozenset(faults))


def _right_rows(inputs: Tensor) -> Tensor:
    return _faulty_rows(inputs, frozenset())


def _partly_mended() -> tuple[Mistake, ...]:
    """Every way to have mended some of the faults and not the others."""
    mistakes = []
    for count in range(1, len(FAULTS)):
        for left in itertools.combinations(FAULTS, count):
            mended = len(FAULTS) - count
            words = "; ".join(FAULTS[fault] for fault in left)
            mistakes.append(
                Mistake(
                    f"left: {', '.join(left)}",
                    f"Faults mended: {mended} of {len(FAULTS)}. Look again at {words}.",
                    _with_faults(*left),
                )
            )
    return tuple(mistakes)


REPAIRED_POSITIONS = Exercise(
    name="repaired_positions",
    difficulty=3,
    minutes=15,
    reference=lambda inputs: inputs + _right_rows(inputs),
    returns=("outputs",),
    cases=(
        Case("right for one sentence of one word", {"inputs": _draw(41, 1, 1, 4)}),
        Case("right for one sentence of five words", {"inputs": _draw(42, 1, 5, 8)}),
        # As many sentences as words: a length read from the wrong axis goes unnoticed here.
        Case("right for six sentences of six words", {"inputs": _draw(43, 6, 6, 8)}),
        Case("right for three sentences of seven words", {"inputs": _draw(44, 3, 7, 10)}),
        Case("right in float64", {"inputs": _draw(45, 2, 9, 16, dtype=torch.float64)}),
    ),
    mistakes=(
        Mistake(
            "still broken",
            "All five faults that it came with are still there. Begin with the axis that holds the words, "
            "then look at row 0.",
            _with_faults(*FAULTS),
        ),
        *_partly_mended(),
        Mistake(
            "table alone",
            "The words have vanished: this is the table alone. Return inputs plus the table.",
            lambda inputs: _right_rows(inputs).expand_as(inputs),
        ),
        Mistake(
            "table without batch",
            "The words have vanished, and so has the batch: this is the table alone. Return inputs plus the "
            "table.",
            _right_rows,
        ),
        Mistake(
            "multiplied",
            "The words are multiplied by the table. Positions are added.",
            lambda inputs: inputs * _right_rows(inputs),
        ),
        Mistake(
            "sine and cosine swapped",
            "Sines and cosines have changed places: row 0 begins 0, 1.",
            lambda inputs: inputs + _woven(_right_rows(inputs)[:, 1::2], _right_rows(inputs)[:, 0::2]),
        ),
        Mistake(
            "cosine in every column",
            "Now both columns of each pair are cosines. The even ones were right before.",
            lambda inputs: inputs + _right_rows(inputs)[:, 1::2].repeat_interleave(2, dim=-1),
        ),
        Mistake(
            "positions from 1",
            "The table is right, but its rows are one off: the first word stands at position 0.",
            lambda inputs: inputs + sinusoidal(inputs.shape[1] + 1, inputs.shape[-1])[1:].to(inputs.dtype),
        ),
    ),
)


def check_repaired_positions(function: object) -> Report:
    """`check_repaired_positions(my_function)` tests function(inputs) -> inputs plus the table's rows.

    >>> check_repaired_positions(lambda inputs: inputs).passed
    False
    """
    return check(REPAIRED_POSITIONS, function)
