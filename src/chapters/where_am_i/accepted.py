"""Right answers to the exercises, in other words than the book's: each must be accepted."""

import math

import numpy as np
import torch

from attnlab import positions
from bookkit.other_words import named
from chapters.where_am_i.exercises import (
    check_position_shapes,
    check_repaired_penalties,
    check_repaired_positions,
    check_rotated_halves,
    check_sinusoidal_table,
    check_wavelength,
)

# --- shared ---


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


def penalties(*left):
    """The ALiBi to repair, mended but for these."""

    def code(heads, n, m):
        slope = 2.0 ** (-8 * (torch.arange(heads) + ("slopes" not in left)) / heads)
        first = 0 if "places" in left else m - n
        distance = (torch.arange(first, first + n).unsqueeze(-1) - torch.arange(m)).abs()
        return (1 if "sign" in left else -1) * slope[:, None, None] * distance

    return code


def looped_table(length, d_model, base):
    table = torch.empty(length, d_model)
    for position in range(length):
        for column in range(d_model):
            angle = position / base ** (2 * (column // 2) / d_model)
            table[position, column] = math.cos(angle) if column % 2 else math.sin(angle)
    return table


def phase_table(length, d_model, base):
    column = torch.arange(d_model, dtype=torch.float64)
    angle = torch.arange(length)[:, None] * base ** (-2 * (column // 2) / d_model)
    return (angle + (column % 2) * math.pi / 2).sin().float()


# --- sinusoidal_table ---


def complex_table(length, d_model, base):
    angle = torch.arange(length)[:, None] * base ** (-torch.arange(0, d_model, 2) / d_model)
    turned = torch.polar(torch.ones_like(angle), angle)  # cos + i sin
    return torch.view_as_real(turned).flip(-1).flatten(-2)


# --- position_shapes ---


SHAPES = check_position_shapes.shapes


# --- rotated_halves ---


def turned_in_pairs(vectors, turned, base=10000.0):
    """Columns [i, j] of each pair, turned as complex numbers."""
    length, d_k = vectors.shape[-2:]
    pairs = torch.view_as_complex(vectors[..., turned].contiguous().double())  # (…, T, pairs)
    angle = torch.arange(length).double().unsqueeze(-1) * base ** (-torch.arange(0, d_k, 2).double() / d_k)
    outputs = torch.empty_like(vectors)
    outputs[..., turned] = torch.view_as_real(pairs * torch.polar(torch.ones_like(angle), angle)).to(vectors)
    return outputs


def halves(d_k):
    return torch.arange(d_k).view(2, -1).T  # (pairs, 2): i with i + d_k/2


def by_reordering(vectors):
    # attnlab turns neighbours, so put partners side by side, and back.
    order = halves(vectors.shape[-1]).flatten()
    return positions.rotate(vectors[..., order])[..., order.argsort()]


def by_rotating_half(vectors):
    # As many libraries have it: each angle twice, and half of the vector negated.
    length, d_k = vectors.shape[-2:]
    angle = torch.arange(length, dtype=torch.float64).unsqueeze(-1)
    angle = angle * 10000.0 ** (-torch.arange(0, d_k, 2, dtype=torch.float64) / d_k)
    angle = torch.cat((angle, angle), -1)
    x, y = vectors.chunk(2, -1)
    return vectors * angle.cos().to(vectors.dtype) + torch.cat((-y, x), -1) * angle.sin().to(vectors.dtype)


# --- repaired_positions ---


class KeepsItsRows(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.rows = {}

    def forward(self, inputs):
        length, d_model = inputs.shape[-2:]
        if len(self.rows.get(d_model, ())) < length:
            self.rows[d_model] = phase_table(2 * length, d_model, 10000.0)
        return torch.add(self.rows[d_model][:length].to(inputs), inputs)


# --- repaired_penalties ---


def by_einsum(heads, n, m):
    slopes = torch.tensor([2 ** (-8 * (head + 1) / heads) for head in range(heads)], dtype=torch.float64)
    distance = (torch.arange(m - n, m)[:, None] - torch.arange(m)).abs()
    return -torch.einsum("h,nm->hnm", slopes, distance.double())


ACCEPTED = {
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
    check_rotated_halves: named(by_reordering, by_rotating_half)
    | {"complex numbers": lambda vectors: turned_in_pairs(vectors, halves(vectors.shape[-1]))},
    check_repaired_positions: {
        "mended in all": mended(),
        "attnlab's module": lambda inputs: positions.SinusoidalPositions(inputs.shape[-1]).to(inputs)(inputs),
        "a module that keeps its rows": KeepsItsRows(),
        "one sentence at a time": lambda inputs: torch.stack(
            [one + looped_table(*one.shape, 10000.0).to(one.dtype) for one in inputs]
        ),
    },
    check_repaired_penalties: {
        "mended in all": penalties(),
        "attnlab's": positions.alibi_bias,
        "einsum in float64": by_einsum,
        "rows taken from the end": lambda heads, n, m: positions.alibi_bias(heads, m, m)[:, m - n :],
    },
}
