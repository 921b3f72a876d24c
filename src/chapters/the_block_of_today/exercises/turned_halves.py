"""Turn vectors in halves, by where each stands."""

import torch
from torch import Tensor

from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.inputs import draw
from bookkit.checking.mistakes import Mistakes, Part, in_parts


def _halves(vectors: Tensor) -> tuple[Tensor, Tensor]:
    first, second = vectors.chunk(2, dim=-1)  # (…, T, d_k/2) each
    return first, second


def _exponents(d_k: int) -> Tensor:
    return torch.arange(0, d_k, 2, dtype=torch.float64, device="cpu") / d_k  # (d_k/2,)


def _turned_halves(
    vectors: Tensor,
    places: Tensor,
    base: float,
    *,
    exponents: Part = _exponents,
    frequency: Part = lambda base, exponents: base**-exponents,
    angle: Part = lambda places, frequencies: places[:, None] * frequencies,
    apart: Part = _halves,
    turn: Part = lambda x, y, cos, sin: (x * cos - y * sin, y * cos + x * sin),
    together: Part = lambda x, y: torch.cat([x, y], dim=-1),
) -> Tensor:
    """Column i and column i + d_k/2 of each vector, turned by what its place says."""
    angles = angle(places, frequency(base, exponents(vectors.shape[-1])))  # (T, d_k/2)
    cos, sin = angles.cos().to(vectors.dtype), angles.sin().to(vectors.dtype)
    turned: Tensor = together(*turn(*apart(vectors), cos, sin))
    return turned  # the shape of vectors


def _woven(x: Tensor, y: Tensor) -> Tensor:
    return torch.stack([x, y], dim=-1).flatten(-2)


def _of_neighbours(vectors: Tensor) -> tuple[Tensor, Tensor]:
    return vectors[..., 0::2], vectors[..., 1::2]


def _counted(places: Tensor, frequencies: Tensor) -> Tensor:
    return torch.arange(len(places), device=places.device)[:, None] * frequencies


def _with_angles_for_neighbours(x: Tensor, y: Tensor, *waves: Tensor) -> tuple[Tensor, Tensor]:
    (cos, cos_of_y), (sin, sin_of_y) = (_halves(wave.repeat_interleave(2, -1)) for wave in waves)
    return x * cos - y * sin, y * cos_of_y + x * sin_of_y


def _neighbours(vectors: Tensor, places: Tensor, base: float) -> Tensor:
    turned: Tensor = _turned_halves(vectors, places, base, apart=_of_neighbours, together=_woven)
    return turned


MISTAKES: Mistakes = {
    "neighbours": (
        "This turns neighbours, columns 0 and 1, 2 and 3, as *Where am I?* does. Here column i turns with "
        "column i + d_k/2: take the vectors apart in the middle.",
        _neighbours,
    ),
    "not turned": (
        "The vectors come back as they were. Each pair of columns turns by its angle: x·cos − y·sin, and "
        "y·cos + x·sin.",
        lambda vectors, places, base: vectors.clone(),
    ),
} | in_parts(
    _turned_halves,
    exponents={
        "i for 2i": (
            "The exponents are half as large as they should be, up to 1/2. For i = 0, 1, 2, … they are "
            "−2i / d_k, up to nearly −1.",
            lambda d_k: torch.arange(d_k // 2, dtype=torch.float64, device="cpu") / d_k,
        ),
        "2i doubled": (
            "The exponents are twice as large as they should be: `torch.arange(0, d_k, 2)` is 2i already.",
            lambda d_k: 2 * torch.arange(0, d_k, 2, dtype=torch.float64, device="cpu") / d_k,
        ),
        "from 1 pair on": (
            "The pairs are numbered from 1. The first is pair 0, which turns by a whole radian a place.",
            lambda d_k: torch.arange(2, d_k + 2, 2, dtype=torch.float64, device="cpu") / d_k,
        ),
        "up to a whole −1": (
            "The last exponent is −1, as 2i is divided by d_k − 2. Divide by d_k: no pair "
            "is as slow as 1/base.",
            lambda d_k: torch.arange(0, d_k, 2, dtype=torch.float64, device="cpu") / max(1, d_k - 2),
        ),
    },
    frequency={
        "pairs in reverse": (
            "The frequencies stand in reverse: the first pair turns fastest, by a whole radian a place.",
            lambda base, exponents: (base**-exponents).flip(0),
        ),
        "power upside down": (
            "The power is upside down, and later pairs turn faster. The exponent is negative.",
            lambda base, exponents: base**exponents,
        ),
        "always 10,000": (
            "Right where `base` is 10,000, which you have written in. Take the one that is given.",
            lambda base, exponents: 10000.0**-exponents,
        ),
    },
    angle={
        "places counted anew": (
            "Right where places are 0, 1, 2, … The first vector may stand anywhere, as behind a cache: "
            "multiply by `places`.",
            _counted,
        ),
        "places from 1": (
            "Each vector turns by one place too many. A vector at place 0 does not turn.",
            lambda places, frequencies: (places + 1)[:, None] * frequencies,
        ),
        "from the first place on": (
            "You take the first place off all the others. A vector turns by where it stands, wherever the "
            "first one does.",
            lambda places, frequencies: (places - places[0])[:, None] * frequencies,
        ),
        "places sorted": (
            "You sort the places. They stand in the order of the vectors, which may be any.",
            lambda places, frequencies: places.sort().values[:, None] * frequencies,
        ),
        "whole turns": (
            "You multiply the angles by 2π. A place times a frequency is in radians already.",
            lambda places, frequencies: 2 * torch.pi * places[:, None] * frequencies,
        ),
    },
    turn={
        "turned back": (
            "The vectors turn the other way round: it is x·cos − y·sin, and y·cos + x·sin.",
            lambda x, y, cos, sin: (x * cos + y * sin, y * cos - x * sin),
        ),
        "a sign lost": (
            "One sign is wrong, so that lengths change: it is x·cos − y·sin, and y·cos + x·sin.",
            lambda x, y, cos, sin: (x * cos + y * sin, y * cos + x * sin),
        ),
        "the other sign lost": (
            "One sign is wrong, so that lengths change: only the first half has a minus.",
            lambda x, y, cos, sin: (x * cos - y * sin, y * cos - x * sin),
        ),
        "cos and sin swapped": (
            "`cos` and `sin` have changed places. At place 0 nothing may turn: cos 0 is 1, and sin 0 is 0.",
            lambda x, y, cos, sin: (x * sin - y * cos, y * sin + x * cos),
        ),
        "the first half is new already": (
            "You turn the second half with the first, which is turned already. Keep x until both are made.",
            lambda x, y, cos, sin: (x * cos - y * sin, y * cos + (x * cos - y * sin) * sin),
        ),
        "angles for neighbours": (
            "Each angle stands twice in a row, as `repeat_interleave` lays them for neighbours. For "
            "halves, all of them come once, and then once more: `torch.cat([angles, angles], dim=-1)`.",
            _with_angles_for_neighbours,
        ),
        "a half lost": (
            "Each half is multiplied by one wave alone. Both halves mix: x·cos − y·sin, and y·cos + x·sin.",
            lambda x, y, cos, sin: (x * cos, y * sin),
        ),
        "the first half alone": (
            "Only the first half turns. The second is new, too: y·cos + x·sin.",
            lambda x, y, cos, sin: (x * cos - y * sin, y),
        ),
        "the second half alone": (
            "Only the second half turns. The first is new, too: x·cos − y·sin.",
            lambda x, y, cos, sin: (x, y * cos + x * sin),
        ),
    },
    together={
        "halves woven": (
            "The halves are turned rightly, and then woven like neighbours. Put them back side by side.",
            _woven,
        ),
        "halves swapped": (
            "The halves come back in the wrong order. Each column returns to where it was.",
            lambda x, y: torch.cat([y, x], dim=-1),
        ),
    },
)


check_turned_halves = Exercise(
    "turned_halves",
    difficulty=2,
    minutes=15,
    takes=("vectors", "places", "base"),
    returns=("turned",),
    reference=_turned_halves,
    cases=(
        Case("right from place 0 on", *draw(71, (1, 2, 5, 8)), torch.arange(5, device="cpu"), 10000.0),
        Case(
            "right for one pair of columns", *draw(72, (2, 1, 3, 2)), torch.arange(3, device="cpu"), 10000.0
        ),
        Case("right behind a cache", *draw(73, (2, 3, 1, 6)), torch.tensor([7], device="cpu"), 10000.0),
        Case(
            "right for places in any order, with gaps",
            *draw(74, (1, 2, 4, 6)),
            torch.tensor([5, 2, 11, 3], device="cpu"),
            10000.0,
        ),
        Case("right for another base", *draw(75, (2, 2, 3, 8)), torch.arange(4, 7, device="cpu"), 500.0),
        Case(
            "right for several heads in float64",
            *draw(76, (3, 2, 4, 10), dtype=torch.float64),
            torch.arange(4, device="cpu"),
            50.0,
        ),
    ),
    mistakes=MISTAKES,
)
