"""Find the words whose vectors point most nearly the same way."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import normalize

from bookkit.checking.answers import WrongTypeError, returned
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.inputs import draw, exact
from bookkit.checking.mistakes import Part, in_parts
from chapters.from_words_to_vectors.exercises.cosines import _cosines


def _without_oneself(alike: Tensor) -> Tensor:
    return alike.clone().fill_diagonal_(-torch.inf)


def _nearest(
    vectors: Tensor,
    k: int,
    *,
    compare: Part = _cosines,
    leave_out: Part = _without_oneself,
    pick: Part = lambda alike, k: alike.topk(k).indices,
) -> Tensor:
    result: Tensor = pick(leave_out(compare(vectors)), k)
    return result


def _as_ids(work: Callable[..., Any], vectors: Tensor, k: int) -> Any:
    """Ids are no measurements: where they come as floating-point numbers, it is said what they are."""
    ids = returned(work(vectors, k))
    if isinstance(ids, Tensor) and ids.is_floating_point() and torch.equal(ids, ids.round()):
        raise WrongTypeError(
            "These are ids, and ids are whole numbers: leave them as topk and argsort give them."
        )
    return ids


check_nearest = Exercise(
    "nearest",
    difficulty=2,
    minutes=10,
    takes=("vectors", "k"),
    returns=("ids",),
    reference=_nearest,
    trainable=False,
    cases=(
        Case("right for the nearest one", *draw(41, (5, 3)), 1),
        Case("right for the nearest three", *draw(42, (9, 4)), 3),
        Case(
            "right for rows of very different lengths",
            draw(43, (8, 3))[0] * torch.tensor([0.1, 5, 1, 30, 0.02, 2, 9, 0.5])[:, None],
            2,
        ),
        Case("right for all others", *draw(44, (6, 4)), 5),
        Case("right where two rows point the same way", exact([3, 4], [6, 8], [-4, 3], [-5, 2]), 1),
    ),
    mistakes=in_parts(
        _nearest,
        compare={
            "dot product": (
                "You compare by dot product, in which long rows win. Divide each row by its length first.",
                lambda vectors: vectors @ vectors.mT,
            ),
            "distance": (
                "You compare by distance, in which a short row is far from a long one that points the same "
                "way. Divide each row by its length first.",
                lambda vectors: -torch.cdist(vectors, vectors),
            ),
            "columns made equal": (
                "You divide the columns by their lengths: dim=0. It is the rows that are words: dim=-1.",
                lambda vectors: normalize(vectors, dim=0) @ normalize(vectors, dim=0).mT,
            ),
            "divided by the sum": (
                "You divide each row by its sum. Its length is the root of the sum of its squares.",
                lambda vectors: (
                    (vectors / vectors.sum(-1, keepdim=True)) @ (vectors / vectors.sum(-1, keepdim=True)).mT
                ),
            ),
            "without the sign": (
                "You drop the sign of the cosine. Two rows that point opposite ways are not alike.",
                lambda vectors: _cosines(vectors).abs(),
            ),
        },
        leave_out={
            "oneself first": (
                "Each word's nearest is itself. Fill the diagonal with -torch.inf before you pick.",
                lambda alike: alike,
            ),
            "the diagonal set to 0": (
                "The diagonal is 0, and a cosine may be less than that: a word then comes before those that "
                "point away from it. Fill it with -torch.inf.",
                lambda alike: alike.clone().fill_diagonal_(0),
            ),
        },
        pick={
            "the farthest": (
                "These are the words that are least alike.",
                lambda alike, k: alike.masked_fill(alike.isinf(), torch.inf).topk(k, largest=False).indices,
            ),
            "the wrong way round": (
                "The right words, the least alike first. The nearest comes first.",
                lambda alike, k: alike.topk(k).indices.flip(-1),
            ),
            "cosines for ids": (
                "These are the cosines. `topk(k)` has them as `values`, and the words as `indices`.",
                lambda alike, k: alike.topk(k).values,
            ),
            "one for all": (
                "You pick over all words at once: `dim=0` goes down the columns. Pick along each row.",
                lambda alike, k: alike.topk(k, dim=0).indices,
            ),
        },
    )
    | {
        "the first dropped": (
            "You take one word more and drop the first, which need not be the word itself: where two rows "
            "point the same way, it may be the other. Fill the diagonal with -torch.inf.",
            lambda vectors, k: _cosines(vectors).topk(k + 1).indices[:, 1:],
        ),
    },
    ask=_as_ids,
)
