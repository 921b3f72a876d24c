"""Slow down the pairs that never turned full circle, and leave the others: frequencies for long texts."""

import math

import torch

from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from chapters.longer_than_it_was_trained.exercises.stretched_turns_mistakes import MISTAKES
from chapters.longer_than_it_was_trained.exercises.stretched_turns_parts import _mixed


def _case(label: str, turns: list[float], longest: int, factor: float, fast: float, slow: float) -> Case:
    """With pairs that turn so many times within longest."""
    frequencies = torch.tensor(turns, dtype=torch.float64, device="cpu") * 2 * math.pi / longest
    return Case(label, frequencies, longest, factor, fast, slow)


check_stretched_turns = Exercise(
    "stretched_turns",
    difficulty=3,
    minutes=20,
    takes=("frequencies", "longest", "factor", "fast", "slow"),
    returns=("mixed",),
    reference=_mixed,
    cases=(
        _case("fast pairs stay", [20.0, 9.0], 128, 4, 8, 1),
        _case("slow pairs are divided", [0.5, 0.04, 0.004], 128, 4, 8, 1),
        _case("there is a straight ramp between", [3.25, 1.7], 96, 8, 4, 1),
        _case("does all of this", [25.0, 6.0, 2.5, 0.9, 0.3, 0.02], 200, 2.5, 5, 0.5),
        Case(
            "right for the frequencies of the model",
            10_000 ** (-torch.arange(0, 16, 2, dtype=torch.float64, device="cpu") / 16),
            128,
            8,
            16,
            1,
        ),
    ),
    mistakes=MISTAKES,
    trainable=False,
)
