"""The mistakes that `check_start_without_divisor` knows by name."""

import math

import torch
from torch import Tensor

from bookkit.checking.mistakes import Mistakes
from chapters.why_divide_by_root_dk.exercises.start_without_divisor_parts import _drawn


def _one_query(d_k: int, source: torch.Generator) -> tuple[Tensor, Tensor]:
    query, key = _drawn(d_k, source)
    return query[:1].expand_as(query), key


def _slightly_apart(d_k: int, source: torch.Generator) -> tuple[Tensor, Tensor]:
    """Keys that share most of themselves: what is their own still grows with the width."""
    query, key = _drawn(d_k, source)
    return query, math.sqrt(1 - 0.25**2) * key[:1] + 0.25 * key


def _tied(d_k: int, source: torch.Generator) -> tuple[Tensor, Tensor]:
    query, _ = _drawn(d_k, source)
    return query, query


def _large_components(d_k: int, source: torch.Generator) -> tuple[Tensor, Tensor]:
    query, key = _drawn(d_k, source)
    return math.sqrt(d_k) * query, key


def _small(d_k: int, source: torch.Generator) -> tuple[Tensor, Tensor]:
    query, key = _drawn(d_k, source)
    return query / math.sqrt(d_k), key


MISTAKES: Mistakes = {
    "small components": (
        "The components of your queries or keys do not have a root mean square near 1. With small "
        "ones the scores are small, which is the divisor by another name. Keep the size, and find "
        "another way.",
        _small,
    ),
    "large components": (
        "The components of your queries or keys have a root mean square well above 1, which pulls the "
        "scores still further apart. Keep it near 1.",
        _large_components,
    ),
    "tied": (
        "This start has most answers right before anything is learned, like the tied queries and keys "
        "above. Find one that knows nothing at first.",
        _tied,
    ),
    "independent": (
        "At every width some queries never find their key. Look at the scores your start gives: how far "
        "apart are those of one query? That is all the softmax sees.",
        _drawn,
    ),
    "grows with the width": (
        "It learns at 16, and no longer at 64: the scores of one query still move apart as d_k grows. "
        "What would hold them together at every width?",
        _one_query,
    ),
    "grows slowly": (
        "It learns at 16 and 64, and no longer at 256. What holds the scores together must not wear off "
        "as d_k grows.",
        _slightly_apart,
    ),
}
