"""“Where am I?”: many right ways, learners' mistakes, and faults that no catalogue holds."""

import math
import operator

import exercise_cases
import numpy as np
import torch
from exercise_cases import changed, judged_as, named
from torch.nn import functional as F

from attnlab import positions
from chapters.where_am_i.exercises import (
    FAULTS,
    check_position_shapes,
    check_repaired_positions,
    check_sinusoidal_table,
    check_wavelength,
)

table_of, wavelength_of = check_sinusoidal_table.reference, check_wavelength.reference
repaired, SHAPES = check_repaired_positions.reference, check_position_shapes.shapes


def by_lines(first, second, odd=torch.cos, axis=1):
    """The code to repair, with what its two lines divide by."""

    def code(inputs):
        length, d_model = inputs.size(axis), inputs.size(-1)
        table = torch.zeros(length, d_model, dtype=inputs.dtype)
        place = torch.arange(length)
        for i in range(0, d_model, 2):
            table[:, i] = torch.sin(place / first(i, d_model))
            table[:, i + 1] = odd(place / second(i, d_model))
        return inputs + table

    return code


def mended(*left):
    """The code to repair, mended but for these."""
    base, factor = 1000 if "base" in left else 10000, 2 if "doubled" in left else 1
    return by_lines(
        lambda i, d_model: base ** (factor * i / d_model),
        lambda i, d_model: base ** (factor * (i + ("apart" in left)) / d_model),
        torch.sin if "sine" in left else torch.cos,
        0 if "length" in left else 1,
    )


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
    exercise_cases.assert_right_shapes(check_position_shapes, names)


def test_the_broken_code_has_all_its_faults():
    exercise_cases.assert_still_broken(check_repaired_positions, mended(*FAULTS), "✗✗✗✗✗")


# --- right, in other words ---


def looped_table(length, d_model, base):
    table = torch.empty(length, d_model)
    for position in range(length):
        for column in range(d_model):
            angle = position / base ** (2 * (column // 2) / d_model)
            table[position, column] = math.cos(angle) if column % 2 else math.sin(angle)
    return table


def complex_table(length, d_model, base):
    angle = torch.arange(length)[:, None] * base ** (-torch.arange(0, d_model, 2) / d_model)
    turned = torch.polar(torch.ones_like(angle), angle)  # cos + i sin
    return torch.view_as_real(turned).flip(-1).flatten(-2)


def phase_table(length, d_model, base):
    column = torch.arange(d_model, dtype=torch.float64)
    angle = torch.arange(length)[:, None] * base ** (-2 * (column // 2) / d_model)
    return (angle + (column % 2) * math.pi / 2).sin().float()


class KeepsItsRows(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.rows = {}

    def forward(self, inputs):
        length, d_model = inputs.shape[-2:]
        if len(self.rows.get(d_model, ())) < length:
            self.rows[d_model] = phase_table(2 * length, d_model, 10000.0)
        return torch.add(self.rows[d_model][:length].to(inputs), inputs)


RIGHT = {
    check_sinusoidal_table: named(looped_table, complex_table, phase_table),
    check_position_shapes: {
        "lists": {expression: list(shape) for expression, shape in SHAPES.items()},
        "torch.Size, in another order": {name: torch.Size(SHAPES[name]) for name in reversed(SHAPES)},
        "a function": lambda: dict(SHAPES),
    },
    check_wavelength: {
        "tau": lambda column, d_model, base: math.tau * base ** ((column - column % 2) / d_model),
        "tensor": lambda column, d_model, base: math.tau * torch.tensor(base) ** ((column & ~1) / d_model),
        "numpy, over the frequency": lambda column, d_model, base: (
            2 * np.pi / np.power(base, -2 * np.floor(column / 2) / d_model)
        ),
        "logarithm": lambda column, d_model, base: math.exp(
            math.log(math.tau) + (column // 2) * 2 / d_model * math.log(base)
        ),
    },
    check_repaired_positions: {
        "mended in all": mended(),
        "attnlab's module": lambda inputs: positions.SinusoidalPositions(inputs.shape[-1]).to(inputs)(inputs),
        "a module that keeps its rows": KeepsItsRows(),
        "one sentence at a time": lambda inputs: torch.stack(
            [one + looped_table(*one.shape, 10000.0).to(one.dtype) for one in inputs]
        ),
    },
}

# --- as learners got it wrong ---


def table_by(divisor):
    """Of what the positions are divided by, divisor(pair, d_model, base)."""

    def table(length, d_model, base):
        angle = torch.arange(length).unsqueeze(-1) / divisor(torch.arange(d_model // 2), d_model, base)
        return torch.stack((angle.sin(), angle.cos()), -1).flatten(-2)

    return table


def an_angle_for_each_column(length, d_model, base):
    angle = torch.arange(length).unsqueeze(-1) / base ** (torch.arange(d_model) / d_model)
    return angle.sin().where(torch.arange(d_model) % 2 == 0, angle.cos())


def rows_of(inputs):
    return repaired(torch.zeros_like(inputs))


def mended_line(i, d_model):
    return 10000 ** (i / d_model)


NAMED = {
    check_sinusoidal_table: {
        "all sines first": changed(table_of, lambda table: torch.cat((table[:, 0::2], table[:, 1::2]), -1)),
        "exponent doubled": table_by(lambda pair, d_model, base: base ** (4 * pair / d_model)),
        "an angle for each column": an_angle_for_each_column,
        "last pair at the base": table_by(lambda pair, d_model, base: base ** (pair / (len(pair) - 1))),
        "axis of length 1 too many": changed(table_of, lambda table: table[None]),
        "10000 for every base": lambda length, d_model, base: table_of(length, d_model),
        "power upside down": table_by(lambda pair, d_model, base: 1 / base ** (2 * pair / d_model)),
        "transposed": changed(table_of, torch.t),
    },
    check_position_shapes: {
        "every other row": SHAPES | {"table[:, 0::2]": (2500, 16)},
        "in another order": SHAPES | {"table.unsqueeze(0)": (5000, 1, 16)},
        "a single number with an axis": SHAPES | {"table[7] @ table[10]": (1,)},
        "columns with columns": SHAPES | {"table[:6] @ table[:6].T": (16, 16)},
        "one row a step": SHAPES | {"shift_rotation(5, 16)": (5, 16)},
        "width appended": SHAPES | {"words + table[:6]": (32, 6, 32), "alibi_bias(4, 6, 6)": (32, 4, 6, 6)},
    },
    check_wavelength: {
        "an angle for each column": lambda column, d_model, base: math.tau * base ** (column / d_model),
        "exponent halved": lambda column, d_model, base: math.tau * base ** (column // 2 / d_model),
        "without 2π": lambda column, d_model, base: base ** (column // 2 * 2 / d_model),
        "pairs from column 1": lambda column, d_model, base: (
            math.tau * base ** (2 * ((column + 1) // 2) / d_model)
        ),
        "rounded": changed(wavelength_of, math.ceil),
        "upside down": changed(wavelength_of, lambda length: 1 / length),
        "constant factor": changed(wavelength_of, lambda length: length / 2),
    },
    check_repaired_positions: {f"left: {fault}": mended(fault) for fault in FAULTS}
    | {
        "left: base, sine, apart": mended("apart", "base", "sine"),
        "a row for each sentence": lambda inputs: (
            inputs + looped_table(len(inputs), inputs.size(-1), 10000).to(inputs.dtype)[:, None]
        ),
        "doubled in the second line": by_lines(mended_line, lambda i, d_model: 10000 ** (2 * i / d_model)),
        "base of the second line": by_lines(mended_line, lambda i, d_model: 1000 ** (i / d_model)),
        "changes its inputs": lambda inputs: inputs.add_(rows_of(inputs)),
        "words scaled": lambda inputs: inputs * inputs.size(-1) ** 0.5 + rows_of(inputs),
        "ignored input": rows_of,
    },
}

# --- wrong, in ways that the catalogue does not hold ---

UNKNOWN = {
    check_sinusoidal_table: {
        "cosine negative": changed(
            table_of, lambda table: torch.stack((table[:, 0::2], -table[:, 1::2]), -1).flatten(-2)
        ),
        "backwards": changed(table_of, lambda table: table.flip(0)),
        "slowest first": changed(table_of, lambda table: table.flip(-1)),
        "in degrees": changed(table_of, torch.deg2rad),
        "of unit norm": changed(table_of, lambda table: F.normalize(table, dim=-1)),
        "last pair forgotten": changed(table_of, lambda table: F.pad(table[:, :-2], (0, 2))),
        "one row too many": lambda length, d_model, base: table_of(length + 1, d_model, base),
        "float64": changed(table_of, torch.Tensor.double),
    },
    check_wavelength: {
        "always 2π": lambda column, d_model, base: math.tau,
        "one pair on": lambda column, d_model, base: wavelength_of(column + 2, d_model, base),
        "base times the share": lambda column, d_model, base: math.tau * base * column / d_model,
        "negative": changed(wavelength_of, operator.neg),
        "not a number": lambda column, d_model, base: math.nan,
    },
    check_repaired_positions: {
        "nothing added": lambda inputs: inputs,
        "added twice": lambda inputs: 2 * repaired(inputs) - inputs,
        "sum scaled": lambda inputs: repaired(inputs) * math.sqrt(inputs.shape[-1]),
        "positions backwards": lambda inputs: repaired(inputs.flip(1)).flip(1),
        "first sentence only": lambda inputs: torch.cat((repaired(inputs[:1]), inputs[1:])),
        "detached words": lambda inputs: repaired(inputs.detach()),
        "base 100": lambda inputs: (
            inputs + positions.sinusoidal(inputs.shape[1], inputs.shape[2], 100.0, inputs.dtype)
        ),
        "batch summed away": changed(repaired, lambda outputs: outputs.sum(0)),
    },
}

test_right_code_is_accepted, test_a_learners_mistake_is_named, test_an_unknown_fault_is_rejected = judged_as(
    RIGHT, NAMED, UNKNOWN
)
