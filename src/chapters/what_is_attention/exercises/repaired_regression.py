"""Repair a kernel regression whose distances are not squared."""

import torch
from torch import Tensor

from attnlab.scores import dot
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.inputs import draw, exact
from bookkit.checking.mistakes import in_parts, swapped
from bookkit.checking.mistakes.weighing import WEIGHING
from chapters.what_is_attention.exercises.attention_in_parts import _regression


def _on_a_line(
    queries: list[float], keys: list[float], bandwidth: float, dtype: torch.dtype = torch.float32
) -> list[Tensor]:
    """Three keys, as points of a line."""
    points = [exact(*([place] for place in places)) for places in (queries, keys)]
    inputs = (*points, exact([3, 0], [1, 4], [0, 2]), exact([bandwidth])[0, 0])
    return [tensor.to(dtype) for tensor in inputs]


check_repaired_regression = Exercise(
    "repaired_regression",
    difficulty=2,
    minutes=10,
    takes=("query", "key", "value", "bandwidth"),
    returns=("output", "weights"),
    reference=_regression,
    cases=(
        # The broken code passes the first of these, which is the clue: all its distances are 0 or 1.
        Case("right for keys at 0, 1 and 2, from 1", *_on_a_line([1.0], [0.0, 1.0, 2.0], 0.5)),
        Case("right for keys at 0, 1 and 3, from 1", *_on_a_line([1.0], [0.0, 1.0, 3.0], 1.5)),
        Case("right for vectors", *draw(21, (5, 2), (7, 2), (7, 3)), exact([0.75])[0, 0]),
        Case("right for a batch", *draw(24, (2, 3, 4), (2, 6, 4), (2, 6, 5)), exact([3])[0, 0]),
        # There each kernel is 0, even in float64.
        Case("right far from all keys", *_on_a_line([40.0, 60.0], [0.0, 1 / 64, 3 / 64], 1.0, torch.float64)),
        Case(
            "right in float64",
            *draw(27, (4, 3, 2), (4, 6, 2), (4, 6, 5), dtype=torch.float64),
            torch.tensor(0.5, dtype=torch.float64),
        ),
    ),
    mistakes=in_parts(
        _regression,
        score={
            "still broken": (
                "The fault that it came with is still there. The first case passes because each of its "
                "distances is 0 or 1: which operation leaves just these two numbers as they are?",
                lambda squared, bandwidth: -squared.sqrt() / (2 * bandwidth**2),
            ),
            "whole score squared": (
                "The square fell on the whole fraction, so the 2 below is squared as well.",
                lambda squared, bandwidth: -squared / (2 * bandwidth**2) ** 2,
            ),
            "nearest gets least": (
                "The minus sign got lost: now the farthest key gets the most weight. (-a)**2 is a**2.",
                lambda squared, bandwidth: squared / (2 * bandwidth**2),
            ),
            "no 2": (
                "The 2 below the fraction is gone.",
                lambda squared, bandwidth: -squared / bandwidth**2,
            ),
            "bandwidth without its square": (
                "The distance is squared now, but the bandwidth no longer is.",
                lambda squared, bandwidth: -squared / (2 * bandwidth),
            ),
            "neither squared": (
                "Neither distance nor bandwidth is squared. That is a kernel, too: Laplace's, not Gauss's.",
                lambda squared, bandwidth: -squared.sqrt() / (2 * bandwidth),
            ),
            "2 squared with the bandwidth": (
                "The 2 is squared together with the bandwidth: (2h)² is 4h².",
                lambda squared, bandwidth: -squared / (2 * bandwidth) ** 2,
            ),
            "multiplied by the bandwidth": (
                "The bandwidth stands above: a / 2 * b is (a / 2) * b. Put 2 * bandwidth**2 in brackets.",
                lambda squared, bandwidth: -squared / 2 * bandwidth**2,
            ),
            "squared twice": (
                "The distance is squared twice.",
                lambda squared, bandwidth: -(squared**2) / (2 * bandwidth**2),
            ),
            "root of the distance": (
                "You take the root of the distance, where its square was asked for.",
                lambda squared, bandwidth: -(squared**0.25) / (2 * bandwidth**2),
            ),
        },
        compare={
            "dot products": (
                "You score by q·k / h². Without the lengths of the keys, a long one gets a bonus here.",
                lambda query, key: -2 * dot(query, key),
            ),
            "distance of city blocks": (
                "The differences are added and then squared. Each is squared, and then they are added.",
                lambda query, key: torch.cdist(query, key, p=1).square(),
            ),
        },
        weigh=WEIGHING,
    )
    | swapped(_regression, "output", "weights"),
)
