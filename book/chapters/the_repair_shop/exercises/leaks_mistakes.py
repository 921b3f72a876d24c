"""The mistakes that `check_leaks` knows by name."""

from typing import Any

import torch
from torch import Tensor

from bookkit.checking.mistakes import Mistakes, in_parts
from chapters.the_repair_shop.exercises.leaks_parts import _found, _other


def _all_from_there(ids: Tensor, place: int, classes: int) -> Tensor:
    changed = ids.clone()
    changed[:, place:] = (changed[:, place:] + 1) % classes
    return changed


def _zero(ids: Tensor, place: int, classes: int) -> Tensor:
    changed = ids.clone()
    changed[:, place] = 0
    return changed


def _only(place_of: Any) -> Any:
    """Of the places before, one alone is looked at."""

    def kept(moved: Tensor, place: int) -> Tensor:
        chosen = torch.zeros_like(moved)
        if place:
            chosen[:, place_of(place)] = moved[:, place_of(place)]
        return chosen

    return kept


def _first_row(ids: Tensor, place: int, classes: int) -> Tensor:
    changed = ids.clone()
    changed[0, place] = _other(ids, place, classes)[0, place]
    return changed


MISTAKES: Mistakes = in_parts(
    _found,
    still={
        "while it trains": (
            "You ask the model as it comes, and in training mode dropout changes its answer from call to "
            "call: all looks like a leak. Ask in eval mode, and put back the mode that it had.",
            lambda model: None,
        ),
    },
    change={
        "all ids from there on": (
            "You change all ids from a place on. Then a place is accused where a later one is seen. Change "
            "one id at a time.",
            _all_from_there,
        ),
        "always the id 0": (
            "You write the id 0, and where a 0 stands already, nothing changes. Take an id that differs from "
            "the one that is there: the next one, say, and behind the last the first.",
            _zero,
        ),
    },
    before={
        "its own place": (
            "You also look at the logits of the changed place itself. These may move, and should. Only those "
            "before it count: `[:, :place]`.",
            lambda moved, place: moved[:, : place + 1],
        ),
        "only the one before": (
            "You look only one place back. A leak can reach farther: all logits before the place count.",
            _only(lambda place: place - 1),
        ),
        "only the first": (
            "You look at the first place only. All logits before the changed place count.",
            _only(lambda place: 0),
        ),
    },
    told={
        "who sees instead of what is seen": (
            "You say which places see a later id. Asked is which ids are seen too early: the places that you "
            "changed.",
            lambda table: table.any(1),
        ),
        "one answer for all": (
            "You give one answer for the whole model. Wanted is one for each place, (T,): so one can tell "
            "where.",
            lambda table: table.any(),
        ),
        "the wrong way round": (
            "True and False are swapped: True is for a leak.",
            lambda table: ~table.any(0),
        ),
    },
)
