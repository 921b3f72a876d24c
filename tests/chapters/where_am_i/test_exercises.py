"""“Where am I?”: the solutions, many right ways to write them, and faults that no catalogue holds."""

import math
import operator

import exercise_cases
import numpy as np
import pytest
import torch
from exercise_cases import cases, changed, checked, named
from torch.nn import functional as F

from attnlab import positions
from chapters.where_am_i.exercises import (
    FAULTS,
    POSITION_SHAPES,
    REPAIRED_POSITIONS,
    SINUSOIDAL_TABLE,
    WAVELENGTH,
)

# --- the solutions, as the chapter gives them ---


def solved_table(length, d_model, base):
    position = torch.arange(length).unsqueeze(-1)
    angle = position * base ** (-torch.arange(0, d_model, 2) / d_model)
    table = torch.zeros(length, d_model)
    table[:, 0::2] = angle.sin()
    table[:, 1::2] = angle.cos()
    return table


def solved_wavelength(column, d_model, base):
    return 2 * math.pi * base ** (2 * (column // 2) / d_model)


def broken_positions(inputs):
    length, d_model = inputs.size(0), inputs.size(-1)
    table = torch.zeros(length, d_model, dtype=inputs.dtype)
    place = torch.arange(length)
    for i in range(0, d_model, 2):
        table[:, i] = torch.sin(place / 1000 ** (2 * i / d_model))
        table[:, i + 1] = torch.sin(place / 1000 ** (2 * (i + 1) / d_model))
    return inputs + table


def solved_positions(inputs):
    length, d_model = inputs.size(1), inputs.size(-1)
    table = torch.zeros(length, d_model, dtype=inputs.dtype)
    place = torch.arange(length)
    for i in range(0, d_model, 2):
        table[:, i] = torch.sin(place / 10000 ** (i / d_model))
        table[:, i + 1] = torch.cos(place / 10000 ** (i / d_model))
    return inputs + table


def test_the_shapes_are_what_pytorch_says():
    names = {
        "positions": torch.ones(5000, 1),
        "frequencies": torch.ones(8),
        "table": torch.ones(5000, 16),
        "words": torch.ones(32, 6, 16),
        "query": torch.ones(32, 4, 6, 4),
        "shift_rotation": positions.shift_rotation,
        "rotate": positions.rotate,
        "alibi_bias": positions.alibi_bias,
    }
    exercise_cases.assert_right_shapes(POSITION_SHAPES, names)


def test_the_broken_code_has_all_its_faults():
    exercise_cases.assert_still_broken(REPAIRED_POSITIONS, broken_positions, "✗✗✗✗✗")


def mended(mend):
    """The broken code, mended but for one fault."""

    def code(inputs):
        length, d_model = inputs.size(1 - ("length" in mend)), inputs.size(-1)
        base = 1000 if "base" in mend else 10000
        factor = 2 if "doubled" in mend else 1
        odd = torch.sin if "sine" in mend else torch.cos
        table = torch.zeros(length, d_model, dtype=inputs.dtype)
        place = torch.arange(length)
        for i in range(0, d_model, 2):
            table[:, i] = torch.sin(place / base ** (factor * i / d_model))
            other = i + 1 if "apart" in mend else i
            table[:, i + 1] = odd(place / base ** (factor * other / d_model))
        return inputs + table

    return code


@pytest.mark.parametrize("left", FAULTS)
def test_one_fault_left_is_named(left):
    assert checked(REPAIRED_POSITIONS, mended([left])).mistake == f"left: {left}"


# --- right, in other words ---


def looped_table(length, d_model, base):
    table = torch.empty(length, d_model)
    for position in range(length):
        for column in range(d_model):
            angle = position / base ** (2 * (column // 2) / d_model)
            table[position, column] = math.cos(angle) if column % 2 else math.sin(angle)
    return table


def exponential_table(length, d_model, base):
    frequency = torch.exp(torch.arange(0, d_model, 2).float() * (-math.log(base) / d_model))
    angle = torch.outer(torch.arange(length).float(), frequency)
    return torch.stack((angle.sin(), angle.cos()), dim=2).reshape(length, d_model)


def numpy_table(length, d_model, base):
    angle = np.arange(length)[:, None] / base ** (np.arange(0, d_model, 2) / d_model)
    table = np.zeros((length, d_model), dtype=np.float32)
    table[:, 0::2], table[:, 1::2] = np.sin(angle), np.cos(angle)
    return torch.from_numpy(table)


def complex_table(length, d_model, base):
    angle = torch.arange(length)[:, None] * base ** (-torch.arange(0, d_model, 2) / d_model)
    turned = torch.polar(torch.ones_like(angle), angle)  # cos + i sin
    return torch.view_as_real(turned).flip(-1).flatten(-2)


def phase_table(length, d_model, base):
    column = torch.arange(d_model, dtype=torch.float64)
    angle = torch.arange(length)[:, None] * base ** (-2 * (column // 2) / d_model)
    return (angle + (column % 2) * math.pi / 2).sin().float()


TABLES = named(
    positions.sinusoidal,
    solved_table,
    looped_table,
    exponential_table,
    numpy_table,
    complex_table,
    phase_table,
)
WAVELENGTHS = {
    "solution": solved_wavelength,
    "tau": lambda column, d_model, base: math.tau * base ** ((column - column % 2) / d_model),
    "from the frequency": lambda column, d_model, base: math.tau / base ** -(column // 2 * 2 / d_model),
    "tensor": lambda column, d_model, base: 2 * torch.pi * torch.tensor(base) ** (column // 2 * 2 / d_model),
    "logarithm": lambda column, d_model, base: math.exp(
        math.log(math.tau) + (column // 2) * 2 / d_model * math.log(base)
    ),
}  # fmt: skip
REPAIRS = {
    "solution": solved_positions,
    "attnlab's module": lambda inputs: positions.SinusoidalPositions(inputs.shape[-1])
    .to(inputs.dtype)(inputs),
    "attnlab's table": lambda inputs: (
        inputs + positions.sinusoidal(inputs.shape[1], inputs.shape[2], dtype=inputs.dtype)
    ),
    "a batch axis": lambda inputs: (
        inputs + solved_table(inputs.shape[1], inputs.shape[2], 10000.0).to(inputs.dtype).unsqueeze(0)
    ),
    "one sentence at a time": lambda inputs: torch.stack(
        [one + looped_table(*one.shape, 10000.0).to(one.dtype) for one in inputs]
    ),
    "mended in all": mended([]),
}  # fmt: skip


@cases((SINUSOIDAL_TABLE, TABLES), (WAVELENGTH, WAVELENGTHS), (REPAIRED_POSITIONS, REPAIRS))
def test_right_code_is_accepted(exercise, code):
    exercise_cases.assert_accepted(exercise, code)


# --- wrong, in ways that the catalogue does not hold ---

UNKNOWN_TABLES = {
    "cosine negative": changed(
        solved_table, lambda table: torch.stack((table[:, 0::2], -table[:, 1::2]), -1).flatten(-2)
    ),
    "backwards": changed(solved_table, lambda table: table.flip(0)),
    "slowest first": changed(solved_table, lambda table: table.flip(-1)),
    "in degrees": changed(solved_table, torch.deg2rad),
    "of unit norm": changed(solved_table, lambda table: F.normalize(table, dim=-1)),
    "random": lambda length, d_model, base: torch.rand(
        length, d_model, generator=torch.Generator().manual_seed(0)
    ),
    "halved": changed(solved_table, lambda table: table / 2),
    "last pair forgotten": changed(solved_table, lambda table: F.pad(table[:, :-2], (0, 2))),
    "one row too many": lambda length, d_model, base: solved_table(length + 1, d_model, base),
    "float64": changed(solved_table, torch.Tensor.double),
}  # fmt: skip
UNKNOWN_WAVELENGTHS = {
    "always 2π": lambda column, d_model, base: math.tau,
    "one column on": lambda column, d_model, base: solved_wavelength(column + 2, d_model, base),
    "base times the share": lambda column, d_model, base: math.tau * base * column / d_model,
    "negative": changed(solved_wavelength, operator.neg),
    "pairs for columns": lambda column, d_model, base: solved_wavelength(column, d_model / 4, base),
    "not a number": lambda column, d_model, base: math.nan,
}  # fmt: skip
UNKNOWN_REPAIRS = {
    "nothing added": lambda inputs: inputs,
    "added twice": lambda inputs: 2 * solved_positions(inputs) - inputs,
    "taken away": lambda inputs: 2 * inputs - solved_positions(inputs),
    "words scaled": lambda inputs: solved_positions(inputs * math.sqrt(inputs.shape[-1])),
    "positions backwards": lambda inputs: solved_positions(inputs.flip(1)).flip(1),
    "first sentence only": lambda inputs: torch.cat((solved_positions(inputs[:1]), inputs[1:])),
    "detached words": lambda inputs: solved_positions(inputs.detach()),
    "base 100": lambda inputs: (
        inputs + positions.sinusoidal(inputs.shape[1], inputs.shape[2], 100.0, inputs.dtype)
    ),
    "batch first summed away": changed(solved_positions, lambda outputs: outputs.sum(0)),
}  # fmt: skip


@cases(
    (SINUSOIDAL_TABLE, UNKNOWN_TABLES),
    (WAVELENGTH, UNKNOWN_WAVELENGTHS),
    (REPAIRED_POSITIONS, UNKNOWN_REPAIRS),
)
def test_a_fault_that_no_catalogue_holds_is_rejected_and_given_no_wrong_name(exercise, code):
    exercise_cases.assert_rejected_without_a_name(exercise, code)
