"""A language of 31 words, of which it is known which are alike: sentences, as many as one likes."""

from collections.abc import Sequence

import torch
from torch import Tensor

from attnlab.runtime import generator

# Each person's way to say whose things are meant, and what such a person does.
PEOPLE = {
    "king": ("his", "rules"),
    "queen": ("her", "rules"),
    "man": ("his", "works"),
    "woman": ("her", "works"),
    "boy": ("his", "plays"),
    "girl": ("her", "plays"),
}
# What one does with things of a kind, and the things. A bat is of two kinds.
THINGS = {
    "food": (("eats", "cooks"), ("bread", "soup", "cake", "rice")),
    "animal": (("feeds", "chases"), ("dog", "cat", "horse", "bat")),
    "tool": (("swings", "lifts"), ("hammer", "broom", "spade", "bat")),
}
CLASSES = {
    "person": tuple(PEOPLE),
    **{kind: tuple(word for word in words if word != "bat") for kind, (_, words) in THINGS.items()},
}
VOCABULARY = tuple(
    sorted(
        {"the", "in", "house", "his", "her"}
        | {word for person, (_, does) in PEOPLE.items() for word in (person, does)}
        | {word for verbs, words in THINGS.values() for word in verbs + words}
    )
)
NUMBER = {word: number for number, word in enumerate(VOCABULARY)}
# “king is to queen as man is to …”: two pairs from three, both ways round.
PAIRS = (("king", "queen"), ("man", "woman"), ("boy", "girl"))
ANALOGIES = tuple(
    question
    for one in PAIRS
    for other in PAIRS
    if one != other
    for question in ((*one, *other), (*one[::-1], *other[::-1]))
)


def written(count: int, seed: int, gendered: float = 1.0) -> list[list[str]]:
    """`written(400, seed=0)` is a text of 400 sentences, each a list of words.

    `gendered` is the share of sentences that say “his” or “her”; the others say “the”.
    """
    source = generator(seed)
    return [_sentence(gendered, source) for _ in range(count)]


def _sentence(gendered: float, source: torch.Generator) -> list[str]:
    person = _one_of(tuple(PEOPLE), source)
    whose, does = PEOPLE[person]
    if torch.rand((), generator=source) >= gendered:
        whose = "the"
    kind = _one_of((*THINGS, "deed"), source)
    if kind == "deed":
        return ["the", person, does, "in", whose, "house"]
    verbs, things = THINGS[kind]
    return ["the", person, _one_of(verbs, source), whose, _one_of(things, source)]


def _one_of(words: Sequence[str], source: torch.Generator) -> str:
    return words[int(torch.randint(len(words), (), generator=source))]


def share_found(nearest: Tensor) -> float:
    """`share_found(nearest)` is how many words of known class have a nearest one, (31,), of that class."""
    words = [(word, members) for members in CLASSES.values() for word in members]
    return sum(VOCABULARY[nearest[NUMBER[word]]] in members for word, members in words) / len(words)
