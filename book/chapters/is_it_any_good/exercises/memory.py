"""Say from memory what comes next: what followed the last id each time that it stood earlier."""

import torch

from attnlab.runtime import generator
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.inputs import whole
from chapters.is_it_any_good.exercises.memory_mistakes import MISTAKES
from chapters.is_it_any_good.exercises.memory_parts import _memory

check_memory = Exercise(
    "memory",
    difficulty=3,
    minutes=25,
    takes=("ids", "vocabulary", "share"),
    returns=("chances",),
    reference=_memory,
    cases=(
        Case("right where it stood once before", whole(2, 0, 4, 1, 0), 5, 0.75),
        Case("right where it stood there more often", whole(3, 1, 0, 3, 1, 4, 3, 2, 0, 3), 5, 0.6),
        Case("right where it followed itself", whole(0, 2, 4, 2, 2), 8, 0.8),
        Case("right where it followed itself", whole(3, 3), 4, 0.6),
        Case("right where it never stood before", whole(4, 1, 3), 6, 0.7),
        Case("right where it never stood before", whole(0, 1), 4, 0.2),
        Case(
            "right for many ids",
            torch.randint(9, (80,), generator=generator(2), device="cpu"),
            12,
            0.35,
        ),
    ),
    mistakes=MISTAKES,
    trainable=False,
)
