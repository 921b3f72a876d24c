"""“Where am I?”: many right ways, learners' mistakes, and faults that no catalogue holds."""

import math
import operator

import exercise_cases
import numpy as np
import pytest
import torch
from exercise_cases import changed, judged_as, named, words
from torch.nn import functional as F

from attnlab import positions
from chapters.where_am_i.exercises import (
    check_position_shapes,
    check_reach,
    check_repaired_penalties,
    check_repaired_positions,
    check_rotated_halves,
    check_sinusoidal_table,
    check_wavelength,
)
from chapters.where_am_i.exercises.repaired_penalties import PENALTY_FAULTS
from chapters.where_am_i.exercises.repaired_positions import FAULTS
from chapters.where_am_i.reader import Reader, copying, share_right, train

table_of, wavelength_of = check_sinusoidal_table.reference, check_wavelength.reference
repaired, SHAPES = check_repaired_positions.reference, check_position_shapes.shapes
halves_of, penalties_of = check_rotated_halves.reference, check_repaired_penalties.reference


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
    # At distance 0 there is nothing to see.
    exercise_cases.assert_still_broken(check_repaired_penalties, penalties(*PENALTY_FAULTS), "✓✗✗")


def penalties(*left):
    """The ALiBi to repair, mended but for these."""

    def code(heads, n, m):
        slope = 2.0 ** (-8 * (torch.arange(heads) + ("slopes" not in left)) / heads)
        first = 0 if "places" in left else m - n
        distance = (torch.arange(first, first + n).unsqueeze(-1) - torch.arange(m)).abs()
        return (1 if "sign" in left else -1) * slope[:, None, None] * distance

    return code


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
    check_rotated_halves: named(by_reordering, by_rotating_half)
    | {"complex numbers": lambda vectors: turned_in_pairs(vectors, halves(vectors.shape[-1]))},
    check_repaired_penalties: {
        "mended in all": penalties(),
        "attnlab's": positions.alibi_bias,
        "rows taken from the end": lambda heads, n, m: positions.alibi_bias(heads, m, m)[:, m - n :],
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
    check_rotated_halves: {
        "neighbours": positions.rotate,
        # With partners swapped a complex number turns the other way.
        "turned back": lambda vectors: turned_in_pairs(vectors, halves(vectors.shape[-1]).flip(-1)),
        "positions from 1": lambda vectors: halves_of(F.pad(vectors, (0, 0, 1, 0)))[..., 1:, :],
        "halves woven": changed(halves_of, lambda turned: turned[..., halves(turned.shape[-1]).flatten()]),
    },
    check_repaired_penalties: {f"left: {fault}": penalties(fault) for fault in PENALTY_FAULTS}
    | {
        "left: slopes, sign": penalties("sign", "slopes"),
        "keys counted from the end": lambda heads, n, m: (
            -torch.tensor(positions.alibi_slopes(heads))[:, None, None]
            * (m - 1 + torch.arange(n).unsqueeze(-1) - torch.arange(m)).abs()
        ),
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
    check_rotated_halves: {
        "nothing turned": lambda vectors: vectors,
        "turned twice": lambda vectors: halves_of(halves_of(vectors)),
        "base 500": lambda vectors: turned_in_pairs(vectors, halves(vectors.shape[-1]), 500.0),
        "from the end": lambda vectors: halves_of(vectors.flip(-2)).flip(-2),
    },
    check_repaired_penalties: {
        "one slope": lambda heads, n, m: penalties_of(1, n, m).expand(heads, n, m),
        "squared distance": lambda heads, n, m: penalties_of(heads, n, m) ** 2,
        "heads last": changed(penalties_of, lambda bias: bias.permute(1, 2, 0)),
        "no distance below": changed(penalties_of, torch.tril),
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

# --- the experiment ---


def reaches(found):
    """An experiment that finds these mean shares, each start a little off them."""
    asked = {(314.0, 24): 0, (314.0, 96): 1, (63.0, 96): 2, (63.0, 48): 3}
    return lambda wave, length: found[asked[wave, length]] + 0.01 * torch.arange(-2, 3)


def reach(base, *, length=24, trained=True):
    """The chapter's own readers, with the slow hand that a `base` gives to a wave."""

    def experiment(wave, tested):
        reader = Reader("rotary", width=16, base=base(wave))
        if trained:
            train(reader, copying, length=length or tested)
        return share_right(reader, copying, tested)

    return experiment


def right_base(wave):
    return (wave / math.tau) ** 2


@pytest.mark.parametrize("kind", [torch.as_tensor, torch.Tensor.tolist, lambda shares: shares.float()])
def test_an_honest_experiment_passes_however_its_shares_come(kind):
    honest = reaches([0.97, 0.95, 0.12, 0.6])
    assert check_reach.judge(lambda wave, length: kind(honest(wave, length))).passed


@pytest.mark.slow
def test_the_chapters_readers_show_what_the_check_asks_for():
    assert check_reach.judge(reach(right_base)).passed


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "experiment"),
    [
        ("not trained", reach(right_base, trained=False)),
        ("lengths mixed up", reach(right_base, length=None)),
        ("wave for base", reach(lambda wave: wave)),
        ("without 2π", reach(lambda wave: wave**2)),
    ],
)
def test_a_real_experiment_gone_wrong_is_named(name, experiment):
    report = check_reach.judge(experiment)
    assert not report.passed, report
    assert report.mistake == name, report


def test_starts_that_are_all_alike_are_noticed():
    report = check_reach.judge(
        lambda wave, length: reaches([0.97, 0.95, 0.12, 0.6])(wave, length)[2:3].expand(5)
    )
    assert report.mistake == "one start many times", report


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (torch.tensor(0.5), "each start's own share, not their mean"),
        (torch.full((4,), 0.5), "at least 5 starts"),
        (torch.full((5,), 50.0), "between 0 and 1"),
        (0.5, "returns float"),
        (["all"] * 5, "something else than numbers"),
    ],
)
def test_what_is_no_share_for_each_start_is_told(answer, said):
    assert said in words(check_reach.judge(lambda wave, length: answer))


def test_other_work_than_an_experiment_is_told():
    assert check_reach.judge(...).state == "not written yet"
    assert check_reach.judge(lambda wave, length: ...).state == "not written yet"
    assert "function itself" in words(check_reach.judge(torch.ones(5)))
    assert "ZeroDivisionError" in words(check_reach.judge(lambda wave, length: 1 / 0))
    # Shares that fit no mistake get no name.
    report = check_reach.judge(reaches([0.5, 0.5, 0.5, 0.5]))
    assert (report.state, report.mistake) == ("not yet", None), report
