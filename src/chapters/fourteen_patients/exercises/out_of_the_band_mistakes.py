"""The mistakes that `check_out_of_the_band` knows by name."""

from collections.abc import Callable
from typing import TypeAlias

import torch

from attnlab.runtime import generator
from chapters.fourteen_patients.exercises.out_of_the_band_parts import (
    IN_A_ROW,
    SAID,
    UPDATES,
    Curves,
    apart,
    first_losses,
    first_row,
    outside,
    with_right_numbers,
)

Change: TypeAlias = Callable[[Curves], Curves]


def _rows(change: Callable[[Curves], Curves]) -> Change:
    """Other curves, and what follows from them."""
    return lambda curves: with_right_numbers(change(curves))


def _unpaired(curves: Curves) -> Curves:
    dice = 0.06 * torch.randn(curves.ill.shape, generator=generator(8), device="cpu").double()
    smooth = curves.ill.mean(0, keepdim=True)
    return curves._replace(ill=smooth + dice)


def _never(curves: Curves) -> Curves:
    """A fault that neither the band nor the pairs show: to one side at even updates, to the other at odd."""
    sides = torch.where(torch.arange(curves.ill.shape[1], device="cpu") % 2 > 0, 1e-3, -1e-3)
    return curves._replace(ill=curves.healthy + sides)


def _with_a_stray(curves: Curves) -> Curves:
    """Once, early, all ill curves are far outside, and then again within."""
    ill = curves.ill.clone()
    ill[:, 3] += 1.0
    ill[:, 4] -= 0.05
    return with_right_numbers(curves._replace(ill=ill))


def _mean_alone(curves: Curves) -> Curves:
    """All ill curves but one are far above, which one keeps just inside."""
    ill = curves.ill + 0.5
    ill[0, :20] = curves.healthy[0, :20] - 1e-3
    changed = with_right_numbers(curves._replace(ill=ill))
    return changed._replace(leaves=first_row(outside(changed.healthy, ill.mean(0, keepdim=True))))


_CHANGES: dict[str, Change] = {
    "too few seeds": _rows(
        lambda curves: curves._replace(seeds=curves.seeds[:3], healthy=curves.healthy[:3], ill=curves.ill[:3])
    ),
    "one seed many times": _rows(
        lambda curves: curves._replace(
            healthy=curves.healthy[:1].repeat(5, 1), ill=curves.ill[:1].repeat(5, 1)
        )
    ),
    "healthy and ill exchanged": _rows(
        lambda curves: curves._replace(
            healthy=curves.healthy[:, :UPDATES], ill=torch.tensor([first_losses(0, UPDATES)] * 5).double()
        )
    ),
    "too few updates": lambda curves: curves._replace(
        healthy=curves.healthy[:, :8], ill=curves.ill[:, :8], leaves=None, told=None
    ),
    "not this training": lambda curves: curves._replace(healthy=curves.healthy + 0.4, ill=curves.ill + 0.4),
    "nothing planted": _rows(lambda curves: curves._replace(ill=curves.healthy.clone())),
    "pairs in another order": _rows(lambda curves: curves._replace(ill=curves.ill.roll(1, 0))),
    "not paired": _rows(_unpaired),
    "never leaves": lambda curves: _never(curves)._replace(leaves=20, told=None),
    "leaves after all": lambda curves: curves._replace(leaves=None),
    "never told": lambda curves: _never(curves)._replace(leaves=None, told=20),
    "told after all": lambda curves: curves._replace(told=None),
    "one update is no row": lambda curves: _with_a_stray(curves)._replace(leaves=3),
    "one difference is no row": lambda curves: _with_a_stray(curves)._replace(told=3),
    "counted from 1": lambda curves: curves._replace(leaves=_later(curves.leaves), told=_later(curves.told)),
    "end of the row": lambda curves: curves._replace(leaves=_later(curves.leaves, IN_A_ROW - 1)),
    "the mean alone": _mean_alone,
    "pairs for the band": lambda curves: curves._replace(leaves=curves.told),
    "band for the pairs": lambda curves: curves._replace(told=curves.leaves),
    "leaves too early": lambda curves: curves._replace(leaves=2),
    "leaves too late": lambda curves: curves._replace(leaves=_later(curves.leaves, 2)),
    "told too early": lambda curves: curves._replace(told=_undecided(curves)),
    "told too late": lambda curves: curves._replace(told=_later(curves.told, 2)),
}


def _undecided(curves: Curves) -> int:
    """An update at which some pairs differ to the one side, and some to the other."""
    decided = apart(curves.healthy, curves.ill).any(0)
    return int(decided.int()[1:].argmin()) + 1


def _later(update: int | None, by: int = 1) -> int:
    return (update or 0) + by


MISTAKES: dict[str, tuple[str, Change]] = {name: (SAID[name], change) for name, change in _CHANGES.items()}
