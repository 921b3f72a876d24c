"""The small tasks of the pages' trainings, drawn by the same die.

book/_static/training/tasks.js says what each of them asks.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor

from bookkit.training.die import Die

Settings = dict[str, Any]


class Batch(NamedTuple):
    """`task.draw(die, rows=16, length=24)`: what is read, what is right, and which of it could be known."""

    ids: Tensor  # (B, T, facts)
    targets: Tensor  # (B, T, answers), -1 where nothing is asked
    known: Tensor  # the same, True where it could be known


Draw = Callable[[Die, int, int], Batch]
# At place i of a sequence: its ids, its answers.
Given = tuple[list[int], list[int]]


class Task(NamedTuple):
    """`task_of({"kind": "tag"})`: how many words there are, and what is asked of them."""

    ids: int
    classes: int
    draw: Draw
    facts: int = 1  # words at a place
    answers: int = 1
    limit: float = 0.0  # the loss that nobody can beat, in nats


def _filled(sequences: list[list[Given]]) -> Batch:
    ids = torch.tensor([[given[0] for given in sequence] for sequence in sequences])
    targets = torch.tensor([[given[1] for given in sequence] for sequence in sequences])
    return Batch(ids, targets, targets >= 0)


def _repeated(settings: Settings) -> Task:
    classes, shortest, longest = (settings[name] for name in ("classes", "shortest", "longest"))

    def draw(die: Die, rows: int, length: int) -> Batch:
        sequences, periods = [], []
        for _ in range(rows):
            period = shortest + die.whole(longest - shortest + 1)
            words = die.words(classes, longest)
            sequences.append([([words[i % period]], [words[(i + 1) % period]]) for i in range(length)])
            periods.append(period)
        known = torch.arange(length) >= torch.tensor(periods)[:, None]
        return _filled(sequences)._replace(known=known[..., None])

    unknown = ((shortest + longest) / 2 - 1) * math.log(classes) + math.log(longest - shortest + 1)
    return Task(classes, classes, draw, limit=unknown / settings["length"])


def _tag(settings: Settings) -> Task:
    def draw(die: Die, rows: int, length: int) -> Batch:
        def sequence() -> list[Given]:
            names, ring = die.shuffled(length), die.shuffled(length)
            scarves = die.words(6, length)
            chased = [ring[(ring.index(i) + 1) % length] for i in range(length)]
            return [
                ([names[i], 6 + names[other], 12 + scarves[i]], [scarves[other]])
                for i, other in enumerate(chased)
            ]

        return _filled([sequence() for _ in range(rows)])

    return Task(18, 6, draw, facts=3)


def _look_up(settings: Settings) -> Task:
    def draw(die: Die, rows: int, length: int) -> Batch:
        held = [die.words(settings["classes"], length) for _ in range(rows)]
        return _filled([[([word], [word]) for word in words] for words in held])

    return Task(settings["classes"], settings["classes"], draw)


def _six_words(settings: Settings) -> Task:
    shift = settings.get("shift", 1)

    def draw(die: Die, rows: int, length: int) -> Batch:
        def sequence() -> list[Given]:
            text = [die.whole(6)]
            while len(text) <= length:
                text.append(settings["rare" if die() < 0.25 else "likely"][text[-1]])
            return [([text[i], 6 + i], [text[i + shift]]) for i in range(length)]

        return _filled([sequence() for _ in range(rows)])

    return Task(6 + settings["length"], 6, draw, facts=2, limit=2 * math.log(2) - 0.75 * math.log(3))


def _guests(settings: Settings) -> Task:
    asked = settings["asked"]

    def draw(die: Die, rows: int, length: int) -> Batch:
        def sequence() -> list[Given]:
            names = die.words(8, length)
            return [
                ([names[i], 8 + i], [names[(i + away) % length] for away in asked]) for i in range(length)
            ]

        return _filled([sequence() for _ in range(rows)])

    return Task(16, 8, draw, facts=2, answers=len(asked))


def _copying(settings: Settings) -> Task:
    back = settings["back"]

    def draw(die: Die, rows: int, length: int) -> Batch:
        drawn = [die.words(settings["classes"], length) for _ in range(rows)]
        right = [[-1] * back + words[:-back] for words in drawn]
        return _filled([_paired(*both) for both in zip(drawn, right, strict=True)])

    return Task(settings["classes"], settings["classes"], draw)


def _recall(settings: Settings) -> Task:
    keys, values = settings["keys"], settings["values"]

    def draw(die: Die, rows: int, length: int) -> Batch:
        def sequence() -> list[Given]:
            held, order = die.shuffled(keys), die.shuffled(length // 2)
            given = die.words(values, length // 2)
            told = [([held[i], keys + given[i]], [-1]) for i in range(length // 2)]
            return told + [([held[i], keys + values], [given[i]]) for i in order]

        return _filled([sequence() for _ in range(rows)])

    return Task(keys + values + 1, values, draw, facts=2)


def _backwards(settings: Settings) -> Task:
    def draw(die: Die, rows: int, length: int) -> Batch:
        drawn = [die.words(settings["classes"], length) for _ in range(rows)]
        return _filled([_paired(words, words[::-1]) for words in drawn])

    return Task(settings["classes"], settings["classes"], draw)


def _paired(words: list[int], right: list[int]) -> list[Given]:
    return [([word], [answer]) for word, answer in zip(words, right, strict=True)]


def _chosen(options: list[tuple[int, float, int]], number: float) -> tuple[int, int]:
    """The word that the number falls on, and the state behind it."""
    for word, chance, behind in options:
        number -= chance
        if number < 0:
            return word, behind
    return options[-1][0], options[-1][2]


def _agreement(settings: Settings) -> Task:
    number = {word: place for place, word in enumerate(settings["words"])}
    states = [
        [(number[word], chance, behind) for word, (chance, behind) in row.items()]
        for row in settings["grammar"]
    ]

    def sentence(die: Die) -> list[int]:
        text, state = [settings["start"]], 0
        while state >= 0:
            word, state = _chosen(states[state], die())
            text.append(word)
        return text

    def draw(die: Die, rows: int, length: int) -> Batch:
        texts = [sentence(die) for _ in range(rows)]
        longest = max(map(len, texts)) - 1

        def at(text: list[int], i: int) -> Given:
            return [text[i] if i < len(text) else 0], [text[i + 1] if i + 1 < len(text) else -1]

        return _filled([[at(text, i) for i in range(longest)] for text in texts])

    return Task(len(number), len(number), draw, limit=settings["limit"])


KINDS: dict[str, Callable[[Settings], Task]] = {
    "repeated": _repeated,
    "tag": _tag,
    "lookUp": _look_up,
    "sixWords": _six_words,
    "guests": _guests,
    "copying": _copying,
    "recall": _recall,
    "backwards": _backwards,
    "agreement": _agreement,
}


def task_of(settings: Settings) -> Task:
    """`task_of({"kind": "copying", "classes": 10, "back": 3})` can be drawn from.

    >>> from bookkit.training.die import Die
    >>> task_of({"kind": "backwards", "classes": 10}).draw(Die(1), rows=16, length=6).ids.shape
    torch.Size([16, 6, 1])
    """
    return KINDS[settings["kind"]](settings)
