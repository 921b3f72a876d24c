"""The exercise `sinusoidal_table`, tried as readers would."""

import torch
from exercise_cases import changed, judged_as, named
from torch.nn import functional as F
from where_am_i_answers import looped_table, phase_table

from chapters.where_am_i.exercises import (
    check_sinusoidal_table,
)

table_of = check_sinusoidal_table.reference


def complex_table(length, d_model, base):
    angle = torch.arange(length)[:, None] * base ** (-torch.arange(0, d_model, 2) / d_model)
    turned = torch.polar(torch.ones_like(angle), angle)  # cos + i sin
    return torch.view_as_real(turned).flip(-1).flatten(-2)


def table_by(divisor):
    """Of what the positions are divided by, divisor(pair, d_model, base)."""

    def table(length, d_model, base):
        angle = torch.arange(length).unsqueeze(-1) / divisor(torch.arange(d_model // 2), d_model, base)
        return torch.stack((angle.sin(), angle.cos()), -1).flatten(-2)

    return table


def an_angle_for_each_column(length, d_model, base):
    angle = torch.arange(length).unsqueeze(-1) / base ** (torch.arange(d_model) / d_model)
    return angle.sin().where(torch.arange(d_model) % 2 == 0, angle.cos())


RIGHT = {check_sinusoidal_table: named(looped_table, complex_table, phase_table)}


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
    }
}


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
    }
}


test_right_code_is_accepted, test_a_learners_mistake_is_named, test_an_unknown_fault_is_rejected = judged_as(
    RIGHT, NAMED, UNKNOWN
)
