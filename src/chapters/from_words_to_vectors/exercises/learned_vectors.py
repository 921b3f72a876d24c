"""An experiment: learn vectors from a text, in which words find their like."""

from typing import Any

import torch
from torch import Tensor

from attnlab.runtime import generator
from bookkit.checking.answers import returned
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.mistakes import Part
from chapters.from_words_to_vectors.counting import count, neighbours, squeezed, surprise
from chapters.from_words_to_vectors.exercises.cosines import _cosines
from chapters.from_words_to_vectors.grammar import VOCABULARY, share_found, written

# Of the words of known class, counted and squeezed or trained, all find their like; by chance a quarter do.
_WIDEST, _ENOUGH, _HALF = 16, 0.9, 0.45


def _pairs(seed: int) -> tuple[Tensor, Tensor]:
    """The pairs of a text of 400 sentences, in a vocabulary with its numbers dealt out anew."""
    numbers = torch.randperm(len(VOCABULARY), generator=generator(seed))
    return numbers[neighbours(written(400, 500 + seed))], numbers


def _judged(vectors_of: Part, texts: int) -> Any:
    """What is wrong with the vectors' shape and numbers, how many words find their like, and where else.

    The worst text decides. Percentages in steps, since each training gives others: enough is enough.
    """
    found = []
    for seed in range(texts):
        pairs, numbers = _pairs(seed)
        answer = returned(vectors_of(pairs.clone(), len(VOCABULARY)))
        found.append(_seen(torch.as_tensor(answer).detach().double(), pairs, numbers))
    *faults, percent, beside = zip(*found, strict=True)
    return *map(max, faults), min(percent), max(beside)


def _seen(vectors: Tensor, pairs: Tensor, numbers: Tensor) -> tuple[int, int, int, int, int, int]:
    if vectors.dim() != 2 or len(vectors) != len(VOCABULARY):
        return 1, 0, 0, 0, 0, 0
    too_wide = int(vectors.shape[1] > _WIDEST)
    if not vectors.isfinite().all():
        return 0, too_wide, 1, 0, 0, 0
    alike = _cosines(vectors)[numbers][:, numbers]  # in the grammar's own order
    if alike.min() > 0.9:
        return 0, too_wide, 0, 1, 0, 0
    nearest = alike.fill_diagonal_(-torch.inf).argmax(-1)
    beside = count(pairs)[numbers][:, numbers].gather(1, nearest[:, None]) > 0
    if beside.double().mean() > 0.5:
        return 0, too_wide, 0, 0, 0, 100
    share = share_found(nearest)
    return 0, too_wide, 0, 0, 100 if share >= _ENOUGH else 50 if share >= _HALF else 0, 0


def _random(pairs: Tensor, vocabulary: int) -> Tensor:
    return torch.randn(vocabulary, _WIDEST, generator=generator(0))


def _half_lost(pairs: Tensor, vocabulary: int) -> Tensor:
    """Some words as they should be, the others as they would be without training."""
    vectors = squeezed(count(pairs)).float()
    lost = pairs[:, 0].bincount().argsort()[::3]
    vectors[lost] = _random(pairs, vocabulary)[lost]
    return vectors


def _first_order(pairs: Tensor, vocabulary: int) -> Tensor:
    """As if one table served for words and neighbours: words come to lie with those beside them."""
    strength, directions = torch.linalg.eigh(surprise(count(pairs)))
    strongest = strength.argsort(descending=True)[:_WIDEST]
    vectors: Tensor = directions[:, strongest] * strength[strongest].clamp(min=0).sqrt()
    return vectors


check_learned_vectors = Exercise(
    "learned_vectors",
    difficulty=4,
    minutes=40,
    takes=("texts",),
    returns=(
        "wrong_number_of_rows",
        "too_many_columns",
        "not_finite",
        "all_alike",
        "percent_that_find_their_like",
        "percent_nearest_to_a_neighbour",
    ),
    reference=lambda pairs, vocabulary: squeezed(count(pairs)),
    ask=_judged,
    trainable=False,
    cases=[Case("in each of three texts, words find their like", 3)],
    mistakes={
        "not trained": (
            "The vectors know next to nothing of the classes. Are these the trained ones, with steps and "
            "columns enough?",
            _random,
        ),
        "as wide as the vocabulary": (
            f"The classes are found, but the vectors are too wide: at most {_WIDEST} columns.",
            lambda pairs, vocabulary: count(pairs),
        ),
        "all alike": (
            "All vectors point the same way. Is anything pushed apart? Strangers must be.",
            lambda pairs, vocabulary: torch.ones(vocabulary, _WIDEST),
        ),
        "one table for both": (
            "Each word has come to lie near the words that stand beside it, and not near those that stand in "
            "its place. Words and neighbours need a table each, and only that of the words is asked for.",
            _first_order,
        ),
        "some of them": (
            "Some words find their like, and too few. Are there columns, steps and strangers enough? Pairs "
            "that never meet say something, too.",
            _half_lost,
        ),
        "not finite": (
            "Some numbers are not finite. Is a logarithm taken of 0, or is the learning rate too large?",
            lambda pairs, vocabulary: torch.full((vocabulary, _WIDEST), torch.nan),
        ),
        "another number of rows": (
            "The table must have a row for each word of the vocabulary, and has another number. Is there a "
            "row for each pair?",
            lambda pairs, vocabulary: torch.ones(len(pairs), _WIDEST),
        ),
    },
)
