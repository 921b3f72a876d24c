"""Turn vectors in halves, by where each stands."""

import torch

from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.inputs import draw
from chapters.the_block_of_today.exercises.turned_halves_mistakes import MISTAKES
from chapters.the_block_of_today.exercises.turned_halves_parts import _turned_halves

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
            "right for places with gaps",
            *draw(74, (1, 2, 4, 6)),
            torch.tensor([2, 3, 5, 11], device="cpu"),
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
