"""Lay a line through losses, in logarithms, and say what it foretells."""

import torch

from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from chapters.is_it_any_good.exercises.power_law_mistakes import MISTAKES
from chapters.is_it_any_good.exercises.power_law_parts import _law


def _losses(label: str, points: dict[float, float], asked: float) -> Case:
    """Losses by the updates after which they were measured, and for how many updates one asks."""
    updates, bits = (
        torch.tensor([*column], dtype=torch.float64, device="cpu") for column in (points, points.values())
    )
    return Case(label, updates, bits, asked)


check_power_law = Exercise(
    "power_law",
    difficulty=2,
    minutes=15,
    takes=("updates", "bits", "asked"),
    returns=("a", "b", "foretold"),
    reference=_law,
    cases=(
        _losses("right where all points lie on a law", {100: 0.8, 400: 0.4, 1600: 0.2}, 6400.0),
        _losses(
            "right where they lie near one", {200: 2.9, 400: 2.6, 800: 2.3, 1600: 2.15, 3200: 1.8}, 12800.0
        ),
        _losses("right in any order, for few updates, too", {3000: 1.9, 100: 4.1, 1200: 2.5, 500: 2.7}, 20.0),
        _losses("right where it rises", {2: 0.3, 5: 0.45, 30: 1.7, 80: 2.4}, 50.0),
    ),
    mistakes=MISTAKES,
    trainable=False,
)
