"""Repair a gradient that is accumulated over micro-batches."""

import math
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor

from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.inputs import draw
from bookkit.checking.mistakes import Mistakes, Part, in_parts


def _gradient(weight: Tensor, inputs: Tensor, targets: Tensor, size: int = 1) -> Tensor:
    return 2 * inputs.T @ (inputs @ weight - targets) / len(inputs)


def _accumulated(weight: Tensor, inputs: Tensor, targets: Tensor, size: int, share: Part) -> Tensor:
    """Each micro-batch's gradient times its share, summed."""
    total, pieces = torch.zeros_like(weight), math.ceil(len(inputs) / size)
    for start in range(0, len(inputs), size):
        x, y = inputs[start : start + size], targets[start : start + size]
        counts = {"own": len(x), "full": min(size, len(inputs)), "examples": len(inputs), "pieces": pieces}
        piece = SimpleNamespace(**counts, size=size, is_last=start + len(x) == len(inputs))
        total += share(piece) * _gradient(weight, x, y)
    return total


_SHARES: Mistakes = {
    "still broken": (
        "The fault that it came with is still there. It passes where all micro-batches have the same size. "
        "What does the last one count for, and what should it?",
        lambda piece: 1 / piece.pieces,
    ),
    "means added up": (
        "Now the means are added up: too large, by about as many times as there are micro-batches.",
        lambda piece: 1,
    ),
    "sum over the examples": (
        "The gradient of the sum over all examples. What is left to do is the division by their number.",
        lambda piece: piece.own,
    ),
    "divided by the size": (
        "A mean was divided already. It lacks its share of all the examples, not a division by `size`.",
        lambda piece: 1 / piece.size,
    ),
    "divided by the examples": (
        "Each micro-batch's mean is divided by all the examples, and was not multiplied by its own number.",
        lambda piece: 1 / piece.examples,
    ),
    "every micro-batch as if full": (
        "Each micro-batch counts as if it held `size` examples. The last may hold fewer: len(x) knows.",
        lambda piece: piece.size / piece.examples,
    ),
    "the last as if full": (
        "The last micro-batch counts as if it were full. Where it is shorter, it must count for less.",
        lambda piece: piece.full / piece.examples,
    ),
    "the last batch alone": (
        "This is the last micro-batch's gradient. Is something set back to zero inside the loop?",
        lambda piece: piece.is_last,
    ),
    "the last batch's share alone": (
        "The shares are right, but only the last one is left. Is something set back to zero in the loop?",
        lambda piece: piece.is_last * piece.own / piece.examples,
    ),
    "short batch left out": (
        "The last micro-batch is left out where it is short. Its examples belong to the mean as well.",
        lambda piece: (piece.own == piece.full) / (piece.examples // piece.full),
    ),
    "divided twice": (
        "The shares are right, and then everything is divided by the number of micro-batches as well.",
        lambda piece: piece.own / piece.examples / piece.pieces,
    ),
    "share of the size": (
        "len(x) / size is the share of a full micro-batch. Weigh by the share of all the examples.",
        lambda piece: piece.own / piece.size,
    ),
    "share of the size, and the mean": (
        "len(x) / size, divided by how many there are, comes to less than 1 where the last is short.",
        lambda piece: piece.own / piece.size / piece.pieces,
    ),
}


def _examples(seed: int, examples: int, width: int, size: int) -> tuple[Any, ...]:
    inputs, targets, weight = draw(seed, (examples, width), (examples,), (width,), dtype=torch.float64)
    return weight, inputs, targets, size


check_accumulated_gradient = Exercise(
    "accumulated_gradient",
    difficulty=3,
    minutes=10,
    takes=("weight", "inputs", "targets", "size"),
    returns=("gradient",),
    reference=_gradient,
    cases=(
        # The broken code passes the first of these, which is the clue.
        Case("right for 6 examples in micro-batches of 2", *_examples(11, 6, 3, 2)),
        Case("right for 7 examples in micro-batches of 3", *_examples(21, 7, 3, 3)),
        Case("right for 25 examples in micro-batches of 8", *_examples(31, 25, 4, 8)),
        Case("right for 5 examples in one micro-batch", *_examples(41, 5, 2, 5)),
        Case("right for micro-batches larger than the data", *_examples(51, 5, 2, 8)),
    ),
    trainable=False,  # what it returns is a gradient already
    mistakes=in_parts(_accumulated, share=_SHARES),
)
