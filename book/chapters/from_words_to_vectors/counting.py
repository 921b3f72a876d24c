"""Neighbours counted in a text of the grammar, and what can be made of the table of counts."""

from collections.abc import Sequence

import torch
from torch import Tensor

from chapters.from_words_to_vectors.grammar import NUMBER, VOCABULARY


def neighbours(sentences: Sequence[Sequence[str]], window: int = 2) -> Tensor:
    """`neighbours([["the", "king", "rules"]])` is each word's id with each near one's, (pairs, 2)."""
    return torch.tensor(
        [
            (NUMBER[word], NUMBER[sentence[other]])
            for sentence in sentences
            for place, word in enumerate(sentence)
            for other in range(max(0, place - window), min(len(sentence), place + window + 1))
            if other != place
        ]
    )


def count(pairs: Tensor, size: int = len(VOCABULARY)) -> Tensor:
    """`count(pairs)[i, j]` is how often word j stood near word i, (31, 31)."""
    return torch.bincount(pairs[:, 0] * size + pairs[:, 1], minlength=size**2).view(size, size).double()


def surprise(counts: Tensor) -> Tensor:
    """`surprise(counts)` is how much more often than by chance two words meet, in logarithms; else 0."""
    by_chance = counts.sum(1, keepdim=True) * counts.sum(0) / counts.sum()
    # A word that does not occur meets nobody: 0 / 0.
    return (counts / by_chance).nan_to_num(0).clamp(min=1).log()


def squeezed(counts: Tensor, width: int = 16) -> Tensor:
    """`squeezed(counts)` keeps of each word's surprise the strongest directions, (31, 16)."""
    left, strength, _ = torch.linalg.svd(surprise(counts))
    vectors: Tensor = left[:, :width] * strength[:width].sqrt()
    return vectors


def on_a_map(counts: Tensor, words: Sequence[str]) -> Tensor:
    """`on_a_map(counts, ["bread", "dog"])` is a place for each word, (2, 2), from -1 to 1.

    Its directions are those two in which the surprise of these words differs most.
    """
    rows = surprise(counts)[[NUMBER[word] for word in words]]
    _, _, directions = torch.linalg.svd(rows - rows.mean(0))
    at = (rows - rows.mean(0)) @ directions[:2].T
    # A direction has no sign of its own: bread lies at the left, the dog at the top.
    at *= torch.stack([-at[words.index("bread"), 0], at[words.index("dog"), 1]]).sign()
    places: Tensor = (at / at.abs().max()).round(decimals=2)
    return places
