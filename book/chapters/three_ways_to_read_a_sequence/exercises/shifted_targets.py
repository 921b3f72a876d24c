"""Make inputs and targets of texts, one place apart."""

import torch
from torch import Tensor

from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.inputs import whole
from bookkit.checking.mistakes import swapped

_IGNORED = -100


def _ignoring(targets: Tensor, where: Tensor) -> Tensor:
    return targets.masked_fill(where, _IGNORED)


def _shifted(texts: Tensor) -> tuple[Tensor, Tensor]:
    targets = texts[:, 1:]
    return texts[:, :-1], _ignoring(targets, targets == 0)


check_shifted_targets = Exercise(
    "shifted_targets",
    difficulty=2,
    minutes=10,
    takes=("texts",),
    returns=("inputs", "targets"),
    reference=_shifted,
    cases=(
        Case("right for one text", whole(1, 5, 6, 7, 2)[None]),
        Case("right for two of a length", torch.tensor([[1, 5, 6, 7, 2], [1, 3, 3, 9, 2]], device="cpu")),
        Case("right with padding", torch.tensor([[1, 5, 6, 7, 8, 2], [1, 3, 9, 2, 0, 0]], device="cpu")),
        Case("right for a text of one letter", torch.tensor([[1, 4, 2, 0], [1, 4, 5, 2]], device="cpu")),
    ),
    mistakes={
        "not shifted": (
            "Inputs and targets are the same: whoever reads the input can copy it. The target is the *next* "
            "number.",
            lambda texts: (texts[:, :-1], _ignoring(texts[:, :-1], texts[:, :-1] == 0)),
        ),
        "whole and not shifted": (
            "Both are the whole text, so that the target is the input. The target is the *next* number.",
            lambda texts: (texts, texts),
        ),
        "backwards": (
            "Your targets are the number *before*. The model would learn to write backwards.",
            lambda texts: (texts[:, 1:], _ignoring(texts[:, :-1], texts[:, 1:] == 0)),
        ),
        "by two": (
            "The target is the number after the next.",
            lambda texts: (texts[:, :-2], _ignoring(texts[:, 2:], texts[:, 2:] == 0)),
        ),
        "padding counted": (
            "Shifted right; but the padding among the targets still counts. -100 tells the loss to skip it.",
            lambda texts: (texts[:, :-1], texts[:, 1:]),
        ),
        "skipped by the inputs": (
            "You skip the places whose *input* is padding. At the end mark the input is real and its target "
            "is not: look at the targets.",
            lambda texts: (texts[:, :-1], _ignoring(texts[:, 1:], texts[:, :-1] == 0)),
        ),
        "end mark skipped": (
            "The end mark is skipped as well. A writer that is never told to stop does not stop.",
            lambda texts: (texts[:, :-1], _ignoring(texts[:, 1:], (texts[:, 1:] == 0) | (texts[:, 1:] == 2))),
        ),
        "end mark cut off": (
            "The end mark is cut off with the inputs' last place, so that nobody learns when to stop.",
            lambda texts: (texts[:, :-2], _ignoring(texts[:, 1:-1], texts[:, 1:-1] == 0)),
        ),
        "inputs marked too": (
            "-100 stands among the inputs, too. It is a word to the loss; no embedding has a row for it.",
            lambda texts: (
                _ignoring(texts[:, :-1], texts[:, :-1] == 0),
                _ignoring(texts[:, 1:], texts[:, 1:] == 0),
            ),
        ),
        "rolled": (
            "The text is rolled round: its first number becomes the last target. Cut, don't roll.",
            lambda texts: (texts, _ignoring(texts.roll(-1, 1), texts.roll(-1, 1) == 0)),
        ),
        "start mark dropped": (
            "The inputs begin after the start mark. Without it nobody can begin to write.",
            lambda texts: (texts[:, 1:-1], _ignoring(texts[:, 2:], texts[:, 2:] == 0)),
        ),
    }
    | swapped(_shifted, "inputs", "targets"),
    trainable=False,
)
