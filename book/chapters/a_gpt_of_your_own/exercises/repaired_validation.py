"""Repair a validation that drops, draws and counts in a unit of its own."""

import torch
from torch import nn

from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from chapters.a_gpt_of_your_own.exercises.repaired_validation_mistakes import MISTAKES
from chapters.a_gpt_of_your_own.exercises.repaired_validation_parts import HalfSilent, _validated


def _case(label: str, seed: int, size: int, length: int, text_bytes: int, *, training: bool) -> Case:
    source = torch.Generator().manual_seed(seed)
    row = torch.randint(6, (size,), generator=source, device="cpu")
    model: nn.Module = HalfSilent(6, seed)
    return Case(label, model.train(training), row, length, text_bytes)


check_repaired_validation = Exercise(
    "repaired_validation",
    difficulty=3,
    minutes=25,
    takes=("model", "row", "length", "text_bytes"),
    returns=("bits per byte",),
    reference=_validated,
    cases=(
        # One window is the whole row, wherever crops begin.
        _case("is in bits a byte", 1, 5, 4, 11, training=False),
        _case("reads each id once", 2, 17, 4, 40, training=False),
        _case("reads the last ids, too", 3, 19, 4, 40, training=False),
        _case("drops nothing", 4, 5, 4, 11, training=True),
        _case("does all of this", 5, 30, 3, 77, training=True),
    ),
    mistakes=MISTAKES,
    trainable=False,
)
