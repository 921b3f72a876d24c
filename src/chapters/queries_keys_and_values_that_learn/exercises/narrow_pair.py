"""Find the narrower pair of matrices whose scores come nearest to those of a given pair."""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from bookkit.checking.answers import WrongTypeError
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.inputs import draw, exact
from bookkit.checking.mistakes import in_parts
from chapters.queries_keys_and_values_that_learn.exercises.projected_attention import _is_pair


def _product(narrow: Callable[..., Any], to_query: Tensor, to_key: Tensor, width: int) -> Any:
    """The product of the pair that `narrow(to_query, to_key, width)` returns: many pairs have the same."""
    pair = narrow(to_query, to_key, width)
    if not _is_pair(pair):
        return pair
    shape = (len(to_query), width)
    for name, matrix in zip(("to_query", "to_key"), pair, strict=True):
        if matrix.shape != shape:
            raise WrongTypeError(f"The new {name} must be {shape}, and is {tuple(matrix.shape)}.")
    return pair[0] @ pair[1].mT


def _narrow(to_query: Tensor, to_key: Tensor, width: int, *, keep: Callable[..., Any]) -> Any:
    left, sizes, right = torch.linalg.svd(to_query @ to_key.mT, full_matrices=False)
    return keep(left, sizes, right.mT, width)


def _longest_columns(to_query: Tensor, to_key: Tensor, width: int) -> tuple[Tensor, Tensor]:
    longest = (to_query.norm(dim=0) * to_key.norm(dim=0)).argsort(descending=True)[:width]
    return to_query[:, longest], to_key[:, longest]


def _left(left: Tensor, sizes: Tensor, right: Tensor, width: int) -> Tensor:
    return (left * sizes)[:, :width]


check_narrow_pair = Exercise(
    "narrow_pair",
    difficulty=3,
    minutes=15,
    takes=("to_query", "to_key", "width"),
    returns=("to_query @ to_key.mT of the new pair",),
    reference=partial(
        _narrow, keep=lambda left, sizes, right, width: ((left * sizes)[:, :width], right[:, :width])
    ),
    ask=_product,
    trainable=False,
    cases=(
        Case(
            "right for two columns, one of which is enough", exact([1, 2], [2, 4]), exact([1, 0], [3, 1]), 1
        ),
        Case("right for as many columns as before", *draw(21, (5, 3), (5, 3)), 3),
        Case("right for one column fewer", *draw(23, (6, 4), (6, 4)), 3),
        Case("right for a single column", *draw(25, (7, 4), (7, 4)), 1),
        Case("right in float64", *draw(27, (9, 5), (9, 5), dtype=torch.float64), 2),
    ),
    mistakes=in_parts(
        _narrow,
        keep={
            "singular values lost": (
                "The directions are right, and their sizes are missing: multiply one side by the singular "
                "values, or both by their roots.",
                lambda left, sizes, right, width: (left[:, :width], right[:, :width]),
            ),
            "roots on one side": (
                "One side has the roots of the singular values, and the other nothing. The roots belong on "
                "both sides, or the singular values themselves on one.",
                lambda left, sizes, right, width: ((left * sizes.sqrt())[:, :width], right[:, :width]),
            ),
            "singular values twice": (
                "Both sides are multiplied by the singular values, so that they count twice. One side is "
                "enough, or the root on either.",
                lambda left, sizes, right, width: ((left * sizes)[:, :width], (right * sizes)[:, :width]),
            ),
            "smallest kept": (
                "You keep the smallest singular values. They come in falling order: the first are the "
                "largest.",
                lambda left, sizes, right, width: ((left * sizes)[:, -width:], right[:, -width:]),
            ),
            "to_query and to_key swapped": (
                "The product is turned on its side: what you return as to_query belongs to the keys. svd "
                "returns U, S and Vh with M = U S Vh: U is on the side of the queries.",
                lambda left, sizes, right, width: ((right * sizes)[:, :width], left[:, :width]),
            ),
            "Vh for V": (
                "The third result of torch.linalg.svd is V turned, Vh: its rows are the directions. The new "
                "to_key takes its first rows, as columns.",
                lambda left, sizes, right, width: ((left * sizes)[:, :width], right.mT[:, :width]),
            ),
        },
    )
    | {
        "first columns": (
            "You keep the first columns of both. They are in no order of importance: another pair with the "
            "same product has other first columns. Ask the product for its largest directions.",
            lambda to_query, to_key, width: (to_query[:, :width], to_key[:, :width]),
        ),
        "longest columns": (
            "You keep the columns with the largest numbers. A mix of columns can hold more of the product "
            "than any of them alone: ask the product for its largest directions.",
            _longest_columns,
        ),
        "each by itself": (
            "You bring each of the two to its own largest directions. What counts is the product: take the "
            "singular values of to_query @ to_key.mT.",
            lambda to_query, to_key, width: (
                _narrow(to_query, torch.eye(to_query.shape[-1]).to(to_query), width, keep=_left),
                _narrow(to_key, torch.eye(to_key.shape[-1]).to(to_key), width, keep=_left),
            ),
        ),
    },
)
