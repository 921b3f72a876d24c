"""Repair a causal convolution whose window opens into the future."""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional as F

from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.inputs import draw
from bookkit.checking.mistakes import in_parts


def _convolution(
    x: Tensor,
    weight: Tensor,
    dilation: int,
    *,
    pad: Callable[[int, int], tuple[int, int]] = lambda reach, dilation: (reach, 0),
    start: Callable[[int, int, int], int] = lambda place, kernel, dilation: place * dilation,
) -> Tensor:
    """The convolution in parts: its padding before and after, and where each place of the window begins."""
    length, kernel = x.shape[-2], len(weight)
    padded = F.pad(x, (0, 0, *pad((kernel - 1) * dilation, dilation)))
    output = x.new_zeros(())
    for place in range(kernel):
        begin = start(place, kernel, dilation)
        output = output + padded[..., begin : begin + length, :] @ weight[place]
    return output


check_repaired_convolution = Exercise(
    "repaired_convolution",
    difficulty=2,
    minutes=10,
    takes=("x", "weight", "dilation"),
    returns=("outputs",),
    reference=_convolution,
    cases=(
        # The broken code passes the first of these: a window of one needs no padding. It alone is in float64,
        # lest other faults be put down to the batch, which it has not.
        Case("right for a window of one", *draw(11, (6, 3), (1, 3, 3), dtype=torch.float64), 1),
        Case("right for a window of three", *draw(13, (1, 6, 3), (3, 3, 3)), 1),
        Case("right with dilation 2", *draw(15, (1, 7, 3), (3, 3, 3)), 2),
        Case("right for a batch", *draw(17, (2, 12, 3), (3, 3, 3)), 4),
    ),
    mistakes=in_parts(
        _convolution,
        pad={
            "still broken": (
                "The fault that it came with is still there: half of the padding stands after the last "
                "word, so that windows look ahead. A window of one looks nowhere, and passes.",
                lambda reach, dilation: (reach // 2, reach - reach // 2),
            ),
            "on the right": (
                "Each output sees its own word and those that come, as if all of the padding stood after "
                "the last word. Before the first word is its place; and windows begin at the front.",
                lambda reach, dilation: (0, reach),
            ),
            "kernel for kernel - 1": (
                "The padding is before the first word, and there is one dilation too much of it: each window "
                "ends before the output's own word. From the first of `kernel` places to the last it is "
                "(kernel - 1) * dilation.",
                lambda reach, dilation: (reach + dilation, 0),
            ),
            "padding without dilation": (
                "Your padding forgets the dilation. With it a window reaches that many times as far back: "
                "(kernel - 1) * dilation.",
                lambda reach, dilation: (reach // dilation, 0),
            ),
            "no padding": (
                "Without padding the first words have no whole window, and fewer outputs than words come "
                "out. Zeros before the first word fill the windows up.",
                lambda reach, dilation: (0, 0),
            ),
        },
        start={
            "window turned": (
                "The padding is right; but the window's places are taken in the other order. The last "
                "matrix belongs to the output's own word.",
                lambda place, kernel, dilation: (kernel - 1 - place) * dilation,
            ),
            "dilation forgotten": (
                "The window's places lie next to each other. With a dilation they lie that far apart.",
                lambda place, kernel, dilation: (kernel - 1) * (dilation - 1) + place,
            ),
            "too far back": (
                "The padding is right for this dilation; but the window steps without it, so that it never "
                "arrives at the output's own word.",
                lambda place, kernel, dilation: place,
            ),
            "one place only": (
                "Every matrix multiplies the same word. Each place of the window has a word of its own.",
                lambda place, kernel, dilation: (kernel - 1) * dilation,
            ),
        },
    ),
)
