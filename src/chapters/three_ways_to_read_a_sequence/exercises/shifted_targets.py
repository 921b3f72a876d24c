"""Make inputs and targets of texts, one place apart."""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional as F

from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.inputs import whole
from bookkit.checking.mistakes import in_parts, swapped

_IGNORED, _PADDING, _END = -100, 0, 2


def _ignoring(targets: Tensor, where: Tensor) -> Tensor:
    return targets.masked_fill(where, _IGNORED)


def _shifted(
    texts: Tensor,
    *,
    inputs: Callable[[Tensor], Tensor] = lambda texts: texts[:, :-1],
    targets: Callable[[Tensor], Tensor] = lambda texts: texts[:, 1:],
    skip: Callable[[Tensor, Tensor], Tensor] = lambda inputs, targets: _ignoring(
        targets, targets == _PADDING
    ),
) -> tuple[Tensor, Tensor]:
    """The shift in parts: which numbers go in, which are asked for, and what the loss shall skip."""
    given, asked = inputs(texts), targets(texts)
    return given, skip(given, asked)


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
    mistakes=in_parts(
        _shifted,
        inputs={
            "whole inputs": (
                "Your inputs are the whole texts. After the last number nothing is asked for: leave it out.",
                lambda texts: texts,
            ),
            "inputs marked too": (
                "-100 stands among the inputs, too. It is a word to the loss; no embedding has a row for it.",
                lambda texts: _ignoring(texts[:, :-1], texts[:, :-1] == _PADDING),
            ),
            "inputs shifted too": (
                "The inputs begin with the second number, as the targets do, so that each input is its own "
                "target. Inputs go from the first number to the last but one.",
                lambda texts: texts[:, 1:],
            ),
            "end mark taken from the inputs": (
                "The end marks are gone from the inputs. They may stay: what is asked there is skipped.",
                lambda texts: texts[:, :-1].masked_fill(texts[:, :-1] == _END, _PADDING),
            ),
        },
        targets={
            "not shifted": (
                "Inputs and targets are the same: a model that reads the input can copy it. The target is "
                "the *next* number.",
                lambda texts: texts[:, :-1],
            ),
            "filled up again": (
                "Your targets are as long as the texts: something stands after the last number. Nothing is "
                "asked there, so there is nothing to fill up.",
                lambda texts: F.pad(texts[:, 1:], (0, 1)),
            ),
        },
        skip={
            "padding counted": (
                "The padding among the targets still counts. -100 tells the loss to skip it.",
                lambda inputs, targets: targets,
            ),
            "skipped by the inputs": (
                "You skip the places whose *input* is padding. At the end mark the input is real and its "
                "target is not: look at the targets.",
                lambda inputs, targets: _ignoring(targets, inputs == _PADDING),
            ),
            "end mark skipped": (
                "The end mark is skipped as well. A writer that is never told to stop does not stop.",
                lambda inputs, targets: _ignoring(targets, (targets == _PADDING) | (targets == _END)),
            ),
            "end mark for padding": (
                "You skip the end marks, 2, and count the padding, 0. It is the other way round.",
                lambda inputs, targets: _ignoring(targets, targets == _END),
            ),
            "the words skipped": (
                "You skip the words and count the padding. `masked_fill` writes where its condition is True.",
                lambda inputs, targets: _ignoring(targets, targets != _PADDING),
            ),
            "100": (
                "You write 100. The number that PyTorch's cross-entropy skips is -100: mind the sign.",
                lambda inputs, targets: targets.masked_fill(targets == _PADDING, -_IGNORED),
            ),
            "-1": (
                "You write -1. The number that PyTorch's cross-entropy skips is -100.",
                lambda inputs, targets: targets.masked_fill(targets == _PADDING, -1),
            ),
        },
    )
    | {
        "whole and not shifted": (
            "Both are the whole text, so that the target is the input. The target is the *next* number.",
            lambda texts: (texts, texts),
        ),
        "inputs marked instead": (
            "-100 stands among the inputs. It is the targets that the loss looks at.",
            lambda texts: (_ignoring(texts[:, :-1], texts[:, :-1] == _PADDING), texts[:, 1:]),
        ),
        "backwards": (
            "Your targets are the number *before*. The model would learn to write backwards.",
            lambda texts: (texts[:, 1:], _ignoring(texts[:, :-1], texts[:, 1:] == 0)),
        ),
        "by two": (
            "The target is the number after the next.",
            lambda texts: (texts[:, :-2], _ignoring(texts[:, 2:], texts[:, 2:] == 0)),
        ),
        "end mark cut off": (
            "The end mark is cut off with the inputs' last place, so that nobody learns when to stop.",
            lambda texts: (texts[:, :-2], _ignoring(texts[:, 1:-1], texts[:, 1:-1] == 0)),
        ),
        "rolled": (
            "The text is rolled round: its first number becomes the last target. Cut, don't roll.",
            lambda texts: (texts, _ignoring(texts.roll(-1, 1), texts.roll(-1, 1) == 0)),
        ),
        "start mark dropped": (
            "The inputs begin after the start mark. Without it nobody can begin to write.",
            lambda texts: (texts[:, 1:-1], _ignoring(texts[:, 2:], texts[:, 2:] == 0)),
        ),
        "both marks dropped": (
            "Both marks are gone. The model needs one to begin, and one to learn when to stop.",
            lambda texts: (texts[:, 1:-1], _ignoring(texts[:, 1:-1], texts[:, 1:-1] == 0)),
        ),
    }
    | swapped(_shifted, "inputs", "targets"),
    trainable=False,
)
