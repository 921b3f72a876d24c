"""Find the induction head that a model uses."""

from dataclasses import replace

import torch
from torch import Tensor

from attnlab.runtime import generator
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from chapters.looking_inside.circuits import (
    INDUCTION,
    PREVIOUS,
    SAME_WORD,
    UNHEARD,
    WORDS,
    Circuit,
    Head,
)
from chapters.looking_inside.exercises.induction_head_mistakes import MISTAKES
from chapters.looking_inside.exercises.induction_head_parts import _induction_head
from chapters.looking_inside.exercises.looks import _repeated


def _sentences(seed: int) -> tuple[Tensor, Tensor]:
    """Eight of LENGTH words, each repeated after its own period; within a period no word comes twice."""
    source = generator(seed)
    periods = torch.randint(6, 11, (8,), generator=source, device="cpu")
    return _repeated(periods, torch.rand(8, WORDS, generator=source, device="cpu").argsort(-1)), periods


def _circuit(label: str, seed: int, layers: int, *heads: tuple[int, int, Head]) -> Case:
    model = Circuit({(layer, head): what for layer, head, what in heads}, layers)
    return Case(label, model, *_sentences(seed))


# Each says half of who stood before, so that neither is missed.
_HALF = replace(PREVIOUS, loud=0.5), replace(PREVIOUS, sharp=1.0, loud=0.5)


# Where the period is 9, it looks two places after the earlier word.
_SEVEN_BACK = replace(PREVIOUS, writes="unread", back=7, sharp=5.0)


check_induction_head = Exercise(
    "induction_head",
    difficulty=3,
    minutes=20,
    takes=("model", "words", "periods"),
    returns=("layer", "head"),
    reference=_induction_head,
    cases=(
        _circuit(
            "right where one head looks",
            1,
            2,
            (0, 0, _HALF[0]),
            (0, 2, _HALF[1]),
            (0, 1, SAME_WORD),
            (1, 0, _SEVEN_BACK),
            (1, 3, INDUCTION),
        ),
        _circuit(
            "right where another looks as well",
            2,
            2,
            (0, 1, PREVIOUS),
            (0, 3, SAME_WORD),
            (1, 0, UNHEARD),
            (1, 1, _SEVEN_BACK),
            (1, 2, INDUCTION),
        ),
        # The one that looks most, the first that looks and the one that costs least are three.
        _circuit(
            "right in three layers",
            9,
            3,
            (0, 1, SAME_WORD),
            (0, 3, PREVIOUS),
            (1, 0, replace(UNHEARD, sharp=2.0)),
            (1, 2, INDUCTION),
            (2, 0, _SEVEN_BACK),
            (2, 1, replace(UNHEARD, sharp=2.5, loud=2.0)),
            (2, 3, UNHEARD),
        ),
    ),
    mistakes=MISTAKES,
    trainable=False,
)
