"""Neighbours counted in a text of the grammar, and what can be made of the table of counts."""

from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Tensor
from torch.nn.functional import normalize

from attnlab.runtime import generator
from chapters.from_words_to_vectors.grammar import NUMBER, VOCABULARY


def neighbours(
    sentences: Sequence[Sequence[str]], number: Mapping[str, int] = NUMBER, window: int = 2
) -> Tensor:
    """`neighbours([["the", "king", "rules"]])` is each word's id with each near one's, (pairs, 2)."""
    return torch.tensor(
        [
            (number[word], number[sentence[other]])
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


def squeezed(counts: Tensor, treated: Callable[[Tensor], Tensor] = surprise, width: int = 16) -> Tensor:
    """`squeezed(counts)` keeps of each word's surprise the strongest directions, (31, 16)."""
    left, strength, _ = torch.linalg.svd(treated(counts))
    vectors: Tensor = left[:, :width] * strength[:width].sqrt()
    # A word that does not occur gets zeros, and not what rounding leaves: that has a direction, too.
    return vectors.round(decimals=9)


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


def agreement(sentences: Sequence[Sequence[str]], words: Sequence[str], seed: int, near: int = 3) -> Tensor:
    """`agreement(text, VOCABULARY, seed=0)` is how far two halves of a text agree on who is near to whom.

    It is the share of each word's nearest three among `words`, by cosine, that are so in both halves.
    """
    number = {word: place for place, word in enumerate(sorted({word for each in sentences for word in each}))}
    rows = torch.tensor([number[word] for word in words])
    order = torch.randperm(len(sentences), generator=generator(seed)).tolist()
    found = []
    for half in (order[::2], order[1::2]):
        pairs = neighbours([sentences[place] for place in half], number)
        unit = normalize(count(pairs, len(number))[rows], dim=-1)
        # Equal ones in the order of the words, on every processor.
        cosine = (unit @ unit.mT).fill_diagonal_(-1).round(decimals=9)
        found.append(cosine.argsort(dim=-1, descending=True, stable=True)[:, :near])  # (words, near)
    in_both = (found[0].unsqueeze(-1) == found[1].unsqueeze(-2)).any(-1)
    return in_both.double().mean()
