"""The mistakes that `check_smallest_cache` knows by name, and a cache that passes."""

import math
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import torch
from torch import Tensor

from attnlab.attention import Cache
from attnlab.shapes import Keys, Values
from attnlab.today.model import turned
from bookkit.checking.mistakes import Mistakes
from chapters.fewer_keys_or_none.exercises.smallest_cache_parts import LAYERS, LENGTH, SAID, crops, stored


class Choice(NamedTuple):
    """`Choice(20, 6, 6)` keeps 20 places, of keys and values in 6 steps each."""

    places: int
    of_keys: int
    of_values: int


CHOSEN = Choice(20, 6, 6), Choice(48, 16, 16), Choice(24, 16, 16)  # for each layer


@cache
def angles() -> Tensor:
    """`angles()` are those by which keys are turned, (LENGTH, d_k/2)."""
    return torch.arange(LENGTH, device="cpu")[:, None] * stored().frequencies


@cache
def columns() -> list[tuple[tuple[Tensor, Tensor], tuple[Tensor, Tensor]]]:
    """`columns()[layer]` are the least and the most of each column, of keys turned back and of values.

    They are taken from the text that caches are tried on, which is quick; nothing hangs on it here.
    """
    held = [Cache() for _ in range(LAYERS)]
    with torch.no_grad():
        stored()(crops()[:, :-1], held)

    def ends(kept: Tensor) -> tuple[Tensor, Tensor]:
        return kept.amin((0, 2), keepdim=True), kept.amax((0, 2), keepdim=True)

    both = [(one.keys, one.values) for one in held]
    return [(ends(turned(k, -angles())), ends(v)) for k, v in both if k is not None and v is not None]


class Small:
    """`Small(0, Choice(20, 6, 6))` keeps whole numbers: steps of the last keys, turned back, and values."""

    def __init__(self, layer: int, choice: Choice) -> None:
        self.layer, self.choice, self.time = layer, choice, 0
        self.kept: list[Tensor] = []

    def scale(self, which: int) -> tuple[Tensor, Tensor]:
        """`small.scale(0)` is where the steps of keys begin, and how wide they are."""
        low, high = columns()[self.layer][which]
        return low, (high - low) / (self.choice[1 + which] - 1)

    def steps(self, numbers: Tensor, which: int) -> Tensor:
        """`small.steps(keys, 0)` are whole numbers from 0."""
        low, step = self.scale(which)
        return ((numbers - low) / step).round().clamp(0, self.choice[1 + which] - 1).byte()

    def extended(self, keys: Keys, values: Values) -> tuple[Keys, Values]:
        """`small.extended(keys, values)` are those of the last places, as they can be told from the steps."""
        new = [self.steps(turned(keys, -angles()[self.time, None]), 0), self.steps(values, 1)]
        self.time += 1
        both = [torch.cat(pair, -2) for pair in zip(self.kept, new, strict=True)] if self.kept else new
        self.kept = [each[..., -self.choice.places :, :] for each in both]  # (B, groups, places, d_k)
        keys, values = (
            low + step * each for each, (low, step) in zip(self.kept, self._scales(), strict=True)
        )
        return turned(keys, angles()[self.time - keys.shape[-2] : self.time]), values

    def _scales(self) -> list[tuple[Tensor, Tensor]]:
        return [self.scale(which) for which in (0, 1)]


def passing(layer: int) -> Small:
    """`passing(0)` is a cache that is small and loses little."""
    return Small(layer, CHOSEN[layer])


# ---- caches that do not pass ----

_SHARED = Cache()
_ELSEWHERE: dict[int, Small] = {}


class _Elsewhere:
    """All that depends on the text is in a dictionary outside."""

    def __init__(self, layer: int) -> None:
        self.layer = layer
        _ELSEWHERE[layer] = passing(layer)

    def extended(self, keys: Keys, values: Values) -> tuple[Keys, Values]:
        return _ELSEWHERE[self.layer].extended(keys, values)


class _Newest:
    def __init__(self, layer: int) -> None:
        self.layer = layer

    def extended(self, keys: Keys, values: Values) -> tuple[Keys, Values]:
        return keys, values


class _Again:
    """It rounds all that it has kept anew at each step, with one scale for all."""

    def __init__(self, layer: int) -> None:
        self.kept: list[tuple[Tensor, Tensor]] = []

    def extended(self, keys: Keys, values: Values) -> tuple[Keys, Values]:
        read = [whole * scale for whole, scale in self.kept]
        both = (
            [torch.cat(pair, -2) for pair in zip(read, (keys, values), strict=True)]
            if read
            else [keys, values]
        )
        scales = [each.abs().amax() / 3 for each in both]
        self.kept = [((each / scale).round().char(), scale) for each, scale in zip(both, scales, strict=True)]
        keys, values = (whole * scale for whole, scale in self.kept)
        return keys, values


class _Late(Cache):
    """It keeps whole floats, and rounds what it gives back."""

    def __init__(self, layer: int) -> None:
        super().__init__()

    def extended(self, keys: Keys, values: Values) -> tuple[Keys, Values]:
        keys, values = super().extended(keys, values)
        return (keys * 4).round() / 4, (values * 4).round() / 4


class _Infinite(Cache):
    """The scale of what is 0 throughout is 0."""

    def __init__(self, layer: int) -> None:
        super().__init__()

    def extended(self, keys: Keys, values: Values) -> tuple[Keys, Values]:
        keys, values = super().extended(keys, values)
        return keys * math.nan, values


_CACHES: dict[str, Callable[[int], Any]] = {
    "one for all layers": lambda layer: _SHARED,
    "kept elsewhere": _Elsewhere,
    "nothing kept": _Newest,
    "no number": _Infinite,
    "stored in full": _Late,
    "rounded again": _Again,
    "too much lost": lambda layer: Small(layer, Choice(6, 8, 8)),
    "too large": lambda layer: Cache(),
}

MISTAKES: Mistakes = {name: (SAID[name], make) for name, make in _CACHES.items()}
