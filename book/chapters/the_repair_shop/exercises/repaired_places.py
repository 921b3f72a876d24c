"""Repair a model that reads well, and writes rubbish behind short beginnings."""

import torch

from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from chapters.the_repair_shop.exercises.repaired_places_mistakes import MISTAKES
from chapters.the_repair_shop.exercises.repaired_places_parts import (
    LETTERS,
    LONGEST,
    WIDTH,
    _blocks,
    _logits,
)


def _case(label: str, seed: int, rows: int, length: int) -> Case:
    source = torch.Generator(device="cpu").manual_seed(seed)
    ids = torch.randint(LETTERS, (rows, length), generator=source, device="cpu")
    letters, places = (
        torch.randn(size, WIDTH, generator=source, dtype=torch.float64, device="cpu")
        for size in (LETTERS, LONGEST)
    )
    return Case(label, ids, letters, places, _blocks(seed).double())


check_repaired_places = Exercise(
    "repaired_places",
    difficulty=2,
    minutes=20,
    takes=("ids", "letters", "places", "blocks"),
    returns=("logits",),
    reference=_logits,
    cases=(
        _case("right for as many ids as there are places", 1, 2, LONGEST),
        _case("right for one less", 2, 2, LONGEST - 1),
        _case("right for three", 3, 1, 3),
        _case("right for several short texts", 4, 5, 4),
    ),
    mistakes=MISTAKES,
    trainable=False,
)
