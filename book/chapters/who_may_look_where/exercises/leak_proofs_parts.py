"""What `check_leak_proofs` asks with, in parts that can be mistaken."""

from collections.abc import Callable

import torch
from torch import Tensor, nn

_WORDS, _PLACES, _WIDE = 6, 8, 16


def _prove(
    model: nn.Module,
    *,
    tries: int = 8,
    places: tuple[int, ...] = tuple(range(1, _PLACES)),
    start: Callable[[Tensor], Tensor] = lambda text: text,
    change: Callable[[Tensor, int], Tensor] = lambda text, place: torch.cat(
        [text[:, :place], (text[:, place:] + 1) % _WORDS], dim=-1
    ),
    differ: Callable[[Tensor, Tensor, int], object] = lambda one, other, place: (
        (one - other)[:, :place].abs().max() > 1e-6
    ),
) -> tuple[Tensor, Tensor, int] | None:
    """Tries every place in several drawn texts."""
    source = torch.Generator("cpu").manual_seed(0)
    for _ in range(tries):
        one = start(torch.randint(_WORDS, (1, _PLACES), generator=source, device="cpu"))
        for place in places:
            other = change(one, place)
            if differ(model(one), model(other), place):
                return one, other, place
    return None
