"""An interval for the difference of two models, from texts that are drawn again."""

import torch

from attnlab.runtime import generator
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from chapters.is_it_noise.exercises.text_interval_parts import MISTAKES, _interval


def _case(label: str, pieces: list[int], times: int, number: int) -> Case:
    """With texts of so many pieces, some of which are hard, for both models."""
    source = generator(number)
    count = len(pieces)
    text = torch.repeat_interleave(torch.arange(count, device="cpu"), torch.tensor(pieces, device="cpu"))
    hard = torch.rand(count, generator=source, dtype=torch.float64, device="cpu") * 5 + 1
    both = torch.rand(2, len(text), generator=source, dtype=torch.float64, device="cpu")
    bits = hard[text] * (1 + both * torch.tensor([[0.5], [0.9]], dtype=torch.float64, device="cpu"))
    size = 3 * torch.tensor(pieces, device="cpu") + torch.randint(9, (count,), generator=source)
    draws = torch.randint(count, (times, count), generator=source)
    return Case(label, *bits, text, size, draws)


check_text_interval = Exercise(
    "text_interval",
    difficulty=3,
    minutes=25,
    takes=("first", "second", "text", "size", "draws"),
    returns=("low", "high"),
    reference=_interval,
    cases=(
        _case("right for texts of equal length", [4, 4, 4], 20, 1),
        _case("long texts weigh more", [2, 12, 5, 9], 50, 2),
        _case("right for many texts", [3, 30, 7, 1, 14, 9, 22, 5, 5, 11], 200, 3),
    ),
    mistakes=MISTAKES,
    trainable=False,
)
