"""What writing costs: arithmetic, counted, and time, measured."""

import time
from collections.abc import Callable

import torch

from attnlab.attention import Cache
from attnlab.today.model import Today

Run = Callable[[], object]


def arithmetic(model: Today, new: int, seen: int) -> int:
    """`arithmetic(model, 1, 128)` are multiplications: by all weights, and of queries with what they see."""
    weights = sum(weight.numel() for weight in model.parameters())
    return new * weights + 2 * new * seen * model.pieces.weight.shape[1] * len(model.blocks)


@torch.no_grad()
def behind(model: Today, new: int, length: int = 128) -> Run:
    """`behind(model, 5)()` reads the last five of 128 pieces, behind a cache of the others."""
    ids, caches = torch.full((1, length), 5), [Cache() for _ in model.blocks]
    if new < length:
        model(ids[:, :-new], caches)

    @torch.no_grad()
    def run() -> None:
        model(ids[:, length - new :], caches)
        for cache in caches:
            cache.cut(length - new)

    return run


def times(*runs: Run, repeats: int = 25) -> list[float]:
    """How long each takes, in turns: the least of the processor's seconds."""
    taken: list[list[float]] = [[] for _ in runs]
    for run, its in repeats * list(zip(runs, taken, strict=True)):
        start = time.process_time()
        run()
        its.append(time.process_time() - start)
    return [min(its) for its in taken]
