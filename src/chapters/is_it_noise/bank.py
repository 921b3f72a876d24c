"""The bank of trainings, as the page and its charts draw from it."""

from itertools import product

import torch
from torch import Tensor, nn

from bookkit import weights
from chapters.is_it_noise.models import DICE, LONGER, SEEDS, VARIANTS


def stored() -> dict[str, Tensor]:
    """`stored()["one head"]` are the nats a word that 40 seeds of this variant end at, (40,)."""
    losses = weights.load("is_it_noise/bank", nn.Identity())
    rows = torch.tensor(losses, dtype=torch.float64, device="cpu").view(-1, SEEDS)
    return dict(zip((*VARIANTS, *DICE), rows, strict=True))


def longer() -> dict[str, Tensor]:
    """`longer()["as it is"]` are the nats a word after four times as many updates, (12,)."""
    losses = weights.load("is_it_noise/longer", nn.Identity())
    rows = torch.tensor(losses, dtype=torch.float64, device="cpu").view(len(LONGER), -1)
    return dict(zip(LONGER, rows, strict=True))


def drawn(losses: Tensor, count: int, times: int, source: torch.Generator) -> Tensor:
    """`drawn(bank["one head"], 3, 1000, generator(0))` are three trainings, a thousand times, (1000, 3).

    Each is put back before the next is drawn, as if there were no end of seeds.
    """
    return losses[torch.randint(len(losses), (times, count), generator=source)]


def first_sweep(first: Tensor, second: Tensor, count: int = 3) -> tuple[range, range]:
    """`first_sweep(*twins)` are the first three seeds of each among which all of the second are better.

    >>> first_sweep(torch.tensor([2.0, 4, 4, 4]), torch.tensor([3.0, 1, 1, 1]))
    (range(0, 3), range(1, 4))
    """
    starts = range(len(first) - count + 1)
    for start, other in product(starts, starts):
        if second[other : other + count].max() < first[start : start + count].min():
            return range(start, start + count), range(other, other + count)
    raise ValueError("there are no three seeds of the second that are all better than three of the first")
