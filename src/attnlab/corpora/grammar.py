"""Sentences in English and in Lingo, a made-up language, where it is known which word stands for which.

In Lingo a noun ends in o or a, its gender, and then in s where there are several. Its determiner and its
adjectives end as it does. The adjectives follow it, the nearest first; so does an owner, whom “de” joins on:

    the old king 's hungry red dogs will hide
    hundos rubos famelos de lo rego veco se celeran
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch

from attnlab import require

# English words, each with its word in Lingo. A hyphen waits for an ending.
DETERMINERS = {"the": "l-", "this": "est-", "my": "mi-"}
PLURALS = {"this": "these"}
ADJECTIVES = {
    "big": "grand-", "small": "pet-", "old": "vec-", "young": "jun-", "red": "rub-", "white": "blank-",
    "happy": "felic-", "hungry": "famel-",
}  # fmt: skip
NOUNS = {
    "dog": "hundo", "cat": "gata", "king": "rego", "queen": "regina", "friend": "amigo", "sister": "sora",
    "horse": "cavalo", "bird": "ucela", "tree": "arbo", "star": "stela", "river": "rivo", "house": "casa",
}  # fmt: skip
VERBS = {
    "transitive verb": {"see": "vid-", "find": "trov-", "love": "am-", "follow": "seg-"},
    "intransitive verb": {"sleep": "dorm-", "sing": "cant-", "run": "cor-"},
    "reflexive verb": {"hide": "se cel-", "rest": "se repos-"},
}
PREPOSITIONS = {"near": "pres", "behind": "detro", "with": "kon"}
CONJUNCTIONS = {"and": "e", "but": "ma", "because": "perke"}


class Pair(NamedTuple):
    """`english, lingo, alignment = pair`: words, words, and the places (i, j) of words that correspond."""

    english: tuple[str, ...]
    lingo: tuple[str, ...]
    alignment: tuple[tuple[int, int], ...]

    @property
    def crosses(self) -> bool:
        """`pair.crosses` is whether any two of the lines that join corresponding words cross each other."""
        return any(i < k and j > m for i, j in self.alignment for k, m in self.alignment)


def entry(english: str, lingo: str) -> Pair:
    """`entry("hides", "se cele")` is as in a dictionary: each word corresponds to all those opposite.

    >>> entry("hides", "se cele").alignment
    ((0, 0), (0, 1))
    """
    words, others = tuple(english.split()), tuple(lingo.split())
    return Pair(words, others, tuple((i, j) for i in range(len(words)) for j in range(len(others))))


def joined(parts: Sequence[Pair], order: Sequence[int]) -> Pair:
    """`joined([red, dog], order=[1, 0])` has its parts as they come in English, and in this order in Lingo.

    >>> joined([entry("red", "rubo"), entry("dog", "hundo")], order=[1, 0])
    Pair(english=('red', 'dog'), lingo=('hundo', 'rubo'), alignment=((0, 1), (1, 0)))
    """
    starts = {}
    lingo: list[str] = []
    for place in order:
        starts[place] = len(lingo)
        lingo += parts[place].lingo
    english: list[str] = []
    alignment = []
    for place, part in enumerate(parts):
        alignment += [(len(english) + i, starts[place] + j) for i, j in part.alignment]
        english += part.english
    return Pair(tuple(english), tuple(lingo), tuple(alignment))


class Writer:
    """`Writer(generator(0)).sentence()` is a `Pair`. All that is left to chance comes from the generator."""

    def __init__(self, source: torch.Generator) -> None:
        self.source = source

    def chance(self, probability: float) -> bool:
        """`writer.chance(0.3)` is True three times in ten."""
        return bool(torch.rand((), generator=self.source) < probability)

    def one_of(self, words: dict[str, str]) -> tuple[str, str]:
        """`writer.one_of(CONJUNCTIONS)` is ("but", "ma"), or one of the others."""
        return list(words.items())[int(torch.randint(len(words), (), generator=self.source))]

    def phrase(self) -> tuple[Pair, bool]:
        """`phrase, plural = writer.phrase()`: up to two adjectives, a noun, and its determiner or owner."""
        (noun, lingo), plural = self.one_of(NOUNS), self.chance(0.4)
        ending = lingo[-1] + "s" * plural
        described = [entry(noun + "s" * plural, lingo[:-1] + ending)]
        unused = dict(ADJECTIVES)
        while len(described) < 3 and self.chance(0.55):
            word, stem = self.one_of(unused)
            del unused[word]
            described.insert(0, entry(word, stem.replace("-", ending)))
        if self.chance(0.2):
            owner, owners = self.phrase()
            described = [owner, entry("'" if owners else "'s", "de"), *described]
            return joined(described, order=range(len(described))[::-1]), plural
        word, stem = self.one_of(DETERMINERS)
        word = PLURALS.get(word, word) if plural else word
        described = [entry(word, stem.replace("-", ending)), *described]
        return joined(described, order=[0, *range(1, len(described))[::-1]]), plural

    def verb(self, kind: str, plural: bool) -> Pair:
        """`writer.verb("transitive verb", plural=False)` is “sees” or “will see”: “vide” or “videra”."""
        word, stem = self.one_of(VERBS[kind])
        if self.chance(0.3):
            return entry(f"will {word}", stem.replace("-", "era" + "n" * plural))
        return entry(word + "s" * (not plural), stem.replace("-", "e" + "n" * plural))

    def sentence(self, clauses: int = 2) -> Pair:
        """`writer.sentence()`: subject, verb, perhaps object and place, and perhaps another clause."""
        subject, plural = self.phrase()
        kind = list(VERBS)[0 if self.chance(0.6) else 1 + self.chance(0.5)]
        parts = [subject, self.verb(kind, plural)]
        if kind == "transitive verb":
            parts.append(self.phrase()[0])
        if self.chance(0.3):
            parts += [entry(*self.one_of(PREPOSITIONS)), self.phrase()[0]]
        if clauses > 1 and self.chance(0.35):
            parts += [entry(*self.one_of(CONJUNCTIONS)), self.sentence(clauses - 1)]
        return joined(parts, order=range(len(parts)))


def pairs(count: int, source: torch.Generator) -> list[Pair]:
    """`pairs(4000, generator(0))` are as many sentences, each in English and in Lingo."""
    require.at_least(1, count=count)
    writer = Writer(source)
    return [writer.sentence() for _ in range(count)]
