"""The exercise `turned_halves`, tried as readers would."""

import math

import pytest
import torch
from exercise_cases import changed, judged_as, named, words

from attnlab.positions import rotate
from attnlab.today.model import turned
from chapters.the_block_of_today.exercises.turned_halves import check_turned_halves


def as_attnlab(vectors, places, base):
    d_k = vectors.shape[-1]
    frequencies = base ** (-torch.arange(0, d_k, 2).double() / d_k)
    return turned(vectors, places[:, None] * frequencies)


def with_a_rotated_half(vectors, places, base):
    """As in Hugging Face's code: each angle twice, and the halves changed over with a minus."""
    half = vectors.shape[-1] // 2
    frequencies = base ** -(torch.arange(half).double() / half)
    angles = torch.outer(places.double(), frequencies).repeat(1, 2)
    cos, sin = angles.cos().to(vectors), angles.sin().to(vectors)
    other = torch.cat((-vectors[..., half:], vectors[..., :half]), dim=-1)
    return vectors * cos + other * sin


def column_by_column(vectors, places, base):
    made, d_k = vectors.clone(), vectors.shape[-1]
    for row, place in enumerate(places.tolist()):
        for pair in range(d_k // 2):
            angle = place / base ** (2 * pair / d_k)
            x, y = vectors[..., row, pair], vectors[..., row, pair + d_k // 2]
            made[..., row, pair] = math.cos(angle) * x - math.sin(angle) * y
            made[..., row, pair + d_k // 2] = math.sin(angle) * x + math.cos(angle) * y
    return made


def as_complex_numbers(vectors, places, base):
    x, y = vectors.double().tensor_split(2, dim=-1)
    angles = places[:, None] * torch.logspace(0, -1, x.shape[-1] + 1, base, dtype=torch.float64)[:-1]
    pairs = torch.complex(x, y) * torch.polar(torch.ones_like(angles), angles)
    return torch.cat([pairs.real, pairs.imag], -1).to(vectors.dtype)


def by_neighbours(vectors, places, base):
    """The columns brought beside each other, turned as in *Where am I?*, and brought back."""
    half, most = vectors.shape[-1] // 2, int(places.max()) + 1
    order = torch.arange(2 * half).view(2, half).T.flatten()
    spread = vectors.new_zeros(*vectors.shape[:-2], most, 2 * half)
    spread[..., places, :] = vectors[..., order]
    return rotate(spread, base=base)[..., places, :][..., order.argsort()]


def turning(
    angle=lambda place, frequency: place * frequency,
    turn=lambda x, y, c, s: (x * c - y * s, x * s + y * c),
    frequency=lambda pair, d_k, base: base ** (-2 * pair / d_k),
    columns=lambda pair, d_k: (pair, pair + d_k // 2),
    back=None,
):
    """A reader's function, pair by pair, in which one step may be another."""

    def code(vectors, places, base):
        made, d_k = torch.empty_like(vectors), vectors.shape[-1]
        for pair in range(d_k // 2):
            angles = angle(places.double(), frequency(pair, d_k, base))
            c, s = angles.cos().to(vectors.dtype), angles.sin().to(vectors.dtype)
            one, other = columns(pair, d_k)
            x, y = turn(vectors[..., one], vectors[..., other], c, s)
            to = (back or columns)(pair, d_k)
            made[..., to[0]], made[..., to[1]] = x, y
        return made

    return code


def beside(pair, d_k):
    return 2 * pair, 2 * pair + 1


RIGHT = {
    check_turned_halves: named(
        as_attnlab, with_a_rotated_half, column_by_column, as_complex_numbers, by_neighbours
    )
    | {"pair by pair": turning()}
}
NAMED = {
    check_turned_halves: {
        "neighbours": turning(columns=beside),
        "not turned": turning(angle=lambda place, frequency: 0 * place),
        "i for 2i": turning(frequency=lambda pair, d_k, base: base ** (-pair / d_k)),
        "2i doubled": turning(frequency=lambda pair, d_k, base: base ** (-4 * pair / d_k)),
        "from 1 pair on": turning(frequency=lambda pair, d_k, base: base ** (-2 * (pair + 1) / d_k)),
        "power upside down": turning(frequency=lambda pair, d_k, base: base ** (2 * pair / d_k)),
        "always 10,000": lambda vectors, places, base: as_attnlab(vectors, places, 1e4),
        "one angle for all": turning(frequency=lambda pair, d_k, base: 1.0),
        "slower in a straight line": turning(
            frequency=lambda pair, d_k, base: 1 / (1 + base * 2 * pair / d_k)
        ),
        "places counted anew": lambda vectors, places, base: as_attnlab(
            vectors, torch.arange(vectors.shape[-2]), base
        ),
        "places from 1": lambda vectors, places, base: as_attnlab(vectors, places + 1, base),
        "from the first place on": lambda vectors, places, base: as_attnlab(
            vectors, places - places.min(), base
        ),
        "degrees": turning(angle=lambda place, frequency: place * frequency * math.pi / 180),
        "whole turns": turning(angle=lambda place, frequency: 2 * math.pi * place * frequency),
        "turned back": lambda vectors, places, base: as_attnlab(vectors, -places, base),
        "a sign lost": turning(turn=lambda x, y, c, s: (x * c + y * s, x * s + y * c)),
        "the other sign lost": turning(turn=lambda x, y, c, s: (x * c - y * s, y * c - x * s)),
        "cos and sin swapped": turning(turn=lambda x, y, c, s: (x * s - y * c, y * s + x * c)),
        "a half lost": turning(turn=lambda x, y, c, s: (x * c, y * s)),
        "halves woven": turning(back=beside),
        "halves swapped": turning(turn=lambda x, y, c, s: (x * s + y * c, x * c - y * s)),
    }
}
UNKNOWN = {
    check_turned_halves: {
        "a table added": lambda vectors, places, base: (
            vectors + as_attnlab(torch.ones_like(vectors), places, base)
        ),
        "a list": changed(as_attnlab, torch.Tensor.tolist),
        "one row": changed(as_attnlab, lambda made: made[..., :1, :]),
        "float16": changed(as_attnlab, torch.Tensor.half),
    }
}
test_right, test_named, test_unknown = judged_as(RIGHT, NAMED, UNKNOWN)


@pytest.mark.parametrize("case", check_turned_halves.cases, ids=lambda case: case.label)
def test_turning_keeps_lengths(case):
    vectors, places, base = case.fresh()
    came = check_turned_halves.reference(vectors, places, base)
    torch.testing.assert_close(came.norm(dim=-1), vectors.norm(dim=-1))


def test_whoever_turns_in_place_is_told_so():
    def in_place(vectors, places, base):
        return vectors.copy_(as_attnlab(vectors, places, base))

    assert "inputs" in words(check_turned_halves.judge(in_place))
