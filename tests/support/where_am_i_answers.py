"""Answers to the exercises of *where am i* that several of its tests begin with."""

import math

import torch


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
