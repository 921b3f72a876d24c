"""How long reading takes, of one piece or of several behind a cache."""

import time
from collections.abc import Callable

import torch

from attnlab.attention import Cache
from attnlab.today.model import Today


@torch.no_grad()
def behind(model: Today, new: int, rows: int = 1, length: int = 128) -> Callable[[], None]:
    """`behind(model, 5)()` reads the last five of 128 pieces, behind a cache of the others."""
    ids, caches = torch.full((rows, length), 5), [Cache() for _ in model.blocks]
    if new < length:
        model(ids[:, :-new], caches)

    @torch.no_grad()
    def run() -> None:
        model(ids[:, length - new :], caches)
        for cache in caches:
            cache.cut(length - new)

    return run


def times(*runs: Callable[[], None], repeats: int = 25) -> list[float]:
    """`times(behind(model, 1), behind(model, 5))` is how long each takes, in turns, at least."""
    taken: list[list[float]] = [[] for _ in runs]
    for run, its in repeats * list(zip(runs, taken, strict=True)):
        start = time.process_time()
        run()
        its.append(time.process_time() - start)
    return [min(its) for its in taken]


def pieces_a_reading(chance: float, guesses: int) -> float:
    """`pieces_a_reading(0.5, 2)` is 1.75: 1 in any case, half a first guess, a quarter of a second."""
    return float(sum(chance**kept for kept in range(guesses + 1)))


def times_as_fast(chance: float, guesses: int, cost: float) -> float:
    """`times_as_fast(0.5, 1, 0.5)` is 1.0: a reading costs 1, and each guess 0.5 more."""
    return pieces_a_reading(chance, guesses) / (1 + guesses * cost)
