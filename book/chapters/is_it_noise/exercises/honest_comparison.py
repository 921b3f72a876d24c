"""Repair a comparison that lets one side choose by test text, and try more, and keep its best seed."""

import torch

from attnlab.runtime import generator
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from chapters.is_it_noise.exercises.honest_comparison_parts import MISTAKES, _compared


def _case(label: str, ours: list[float], theirs: list[float], noise: float, number: int) -> Case:
    """With what each rate is worth to each side, and so much noise of four seeds."""
    source = generator(number)
    worth = torch.tensor([ours, theirs], dtype=torch.float64, device="cpu")[..., None]
    drawn = [
        worth + noise * torch.randn(2, len(ours), 4, generator=source, dtype=torch.float64, device="cpu")
        for _ in range(2)
    ]
    return Case(label, *drawn)


check_honest_comparison = Exercise(
    "honest_comparison",
    difficulty=3,
    minutes=20,
    takes=("validation", "test"),
    returns=("ours_minus_theirs",),
    reference=_compared,
    cases=(
        _case("right where there is one rate and no noise", [1.7], [1.65], 0.0, 1),
        _case("each side gets its own best rate", [1.8, 1.7, 1.9], [1.6, 1.75, 1.9], 0.001, 2),
        _case("seeds are averaged", [1.7], [1.7], 0.05, 3),
        _case("does all of this", [1.75, 1.74, 1.73], [1.72, 1.74, 1.76], 0.06, 15),
        _case("right for five rates", [1.75, 1.74, 1.73, 1.71, 1.7], [1.72, 1.74, 1.73, 1.7, 1.76], 0.06, 48),
    ),
    mistakes=MISTAKES,
    trainable=False,
)
