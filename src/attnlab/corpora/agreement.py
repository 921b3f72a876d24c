"""Sentences whose verb must agree with a noun far before it, drawn with chances that are known.

    the dogs near the king that the cats follow see the bird .

Between a subject and its verb stand up to four additions, each with a noun of its own. What may come next,
and how likely it is, depends on the words so far through a `State` alone. So the chance of every sentence is
known, and with it how well a model can foresee the next word at best: the entropy.
"""

import functools
import math
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import torch

from attnlab import require

NOUNS = ["king", "dog", "cat", "queen", "bird", "friend", "horse", "sister"]
VERBS = ["see", "love", "follow", "find", "hear", "know"]
PREPOSITIONS = ["near", "behind", "with", "under"]
START, END = "<start>", "."
WORDS = [
    *NOUNS,
    *(f"{noun}s" for noun in NOUNS),
    *VERBS,
    *(f"{verb}s" for verb in VERBS),
    *PREPOSITIONS,
    *("the", "that", END),
]
NUMBERS = ["singular", "plural"]
# The chances that a noun is a plural, that there is one more addition, that it is a clause ("that the cats
# follow", not "near the cats"), and that the verb has an object.
PLURAL, ADDITION, CLAUSE, OBJECT = 0.4, 0.55, 0.4, 0.5
MOST_ADDITIONS = 4


class State(NamedTuple):
    """`FIRST` is how a sentence begins: what kind of word comes next, and what that depends on."""

    next: str
    subject: str = ""  # "singular" or "plural"
    clause: str = ""  # the same, of the noun behind "that"
    additions: int = 0  # begun so far


FIRST = State("article")
Following: TypeAlias = dict[
    str, tuple[float, State | None]
]  # each word: how likely it is, and the state behind it


@functools.cache
def following(state: State) -> Following:
    """`following(State("article"))` are the words that may come next. Behind the last there is no state.

    >>> following(State("behind verb"))["."]
    (0.5, None)
    """
    match state.next:
        case "article":
            return {"the": (1.0, state._replace(next="subject"))}
        case "article of place":
            return {"the": (1.0, state._replace(next="place"))}
        case "article of clause":
            return {"the": (1.0, state._replace(next="subject of clause"))}
        case "subject":
            return _nouns(*(State("behind subject", number) for number in NUMBERS))
        case "place":
            behind = state._replace(next="behind subject")
            return _nouns(behind, behind)
        case "subject of clause":
            return _nouns(*(state._replace(next="verb of clause", clause=number) for number in NUMBERS))
        case "verb of clause":
            return _verbs(state.clause, 1.0, state._replace(next="behind subject", clause=""))
        case "behind subject":
            more = ADDITION if state.additions < MOST_ADDITIONS else 0.0
            return _additions(more, state) | _verbs(state.subject, 1 - more, State("behind verb"))
        case "behind verb":
            return {"the": (OBJECT, State("object")), END: (1 - OBJECT, None)}
        case "object":
            return _nouns(State("end"), State("end"))
        case _:
            return {END: (1.0, None)}


def _by_rank(words: Sequence[str]) -> dict[str, float]:
    """`_by_rank(["near", "behind"])` is {"near": 2/3, "behind": 1/3}: the n-th is 1/n as frequent."""
    total = sum(1 / rank for rank in range(1, len(words) + 1))
    return {word: 1 / rank / total for rank, word in enumerate(words, start=1)}


def _nouns(singular: State, plural: State) -> Following:
    following: Following = {}
    for noun, chance in _by_rank(NOUNS).items():
        following[noun] = chance * (1 - PLURAL), singular
        following[f"{noun}s"] = chance * PLURAL, plural
    return following


def _verbs(number: str, share: float, state: State) -> Following:
    ending = "s" if number == "singular" else ""
    return {f"{verb}{ending}": (share * chance, state) for verb, chance in _by_rank(VERBS).items()}


def _additions(share: float, state: State) -> Following:
    if not share:
        return {}
    state = state._replace(additions=state.additions + 1)
    place, clause = state._replace(next="article of place"), state._replace(next="article of clause")
    following: Following = {"that": (share * CLAUSE, clause)}
    for preposition, chance in _by_rank(PREPOSITIONS).items():
        following[preposition] = share * (1 - CLAUSE) * chance, place
    return following


def sentence(source: torch.Generator) -> list[str]:
    """`sentence(generator(0))` is drawn word by word, and ends with its full stop."""
    words: list[str] = []
    state: State | None = FIRST
    while state is not None:
        choices, chances = _choices(state)
        word, state = choices[int(torch.multinomial(chances, 1, generator=source))]
        words.append(word)
    return words


@functools.cache
def _choices(state: State) -> tuple[list[tuple[str, State | None]], torch.Tensor]:
    """What may follow, with its chances: there are few states, and each is asked for thousands of times."""
    options = following(state)
    chances = torch.tensor([chance for chance, _ in options.values()], dtype=torch.float64)
    return [(word, next_state) for word, (_, next_state) in options.items()], chances


def sentences(count: int, source: torch.Generator) -> list[list[str]]:
    """`sentences(20000, generator(0))` are as many, each a list of words."""
    require.at_least(1, count=count)
    return [sentence(source) for _ in range(count)]


def read(words: Sequence[str]) -> list[State]:
    """`read("the dogs see .".split())` are the states before each word, and ValueError where one can't be.

    >>> [state.next for state in read("the dogs see .".split())]
    ['article', 'subject', 'behind subject', 'behind verb']
    """
    passed: list[State] = []
    state: State | None = FIRST
    for place, word in enumerate(words, start=1):
        if state is None:
            raise ValueError(f"word {place} must not be there: the sentence has ended, got {word!r}")
        if word not in following(state):
            wanted = ", ".join(following(state))
            raise ValueError(f"word {place} must be one of {wanted}, got {word!r}")
        passed.append(state)
        state = following(state)[word][1]
    if state is not None:
        raise ValueError(f"words must end with {END!r}, got {' '.join(words)!r}")
    return passed


def fault(words: Sequence[str]) -> str:
    """`fault("the dog see .".split())` says why that is no sentence, and "" where nothing is wrong.

    >>> fault("the dogs .".split())
    "word 3 must be one of that, near, behind, with, under, see, love, follow, find, hear, know, got '.'"
    """
    try:
        read(words)
    except ValueError as reason:
        return str(reason)
    return ""


def surprises(words: Sequence[str]) -> list[float]:
    """`surprises(words)` is -log of each word's chance, which who knows the grammar loses on it, in nats.

    >>> [round(surprise, 2) for surprise in surprises("the kings see .".split())]
    [0.0, 1.92, 1.69, 0.69]
    """
    return [math.log(1 / following(state)[word][0]) for state, word in zip(read(words), words, strict=True)]


def verb_and_subject(words: Sequence[str]) -> tuple[int, int]:
    """`verb_and_subject("the dog near the cats sees .".split())` is (5, 1), their places.

    >>> verb_and_subject("the dog near the cats sees .".split())
    (5, 1)
    """
    places = [state.next for state in read(words)]
    return places.index("behind verb") - 1, places.index("subject")


@functools.cache
def expected(state: State | None = FIRST) -> tuple[float, float]:
    """`entropy, words = expected()`: the nats to come in a sentence, and the words, on the average.

    The entropy of each word is weighed by how likely one comes to it, exactly. Their ratio is the least
    loss that a model can have on sentences that it does not know by heart.
    """
    if state is None:
        return 0.0, 0.0
    nats, words = 0.0, 1.0
    for chance, behind in following(state).values():
        more_nats, more_words = expected(behind)
        nats += chance * (more_nats - math.log(chance))
        words += chance * more_words
    return nats, words
