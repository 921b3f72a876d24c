"""What is right, for the page to judge by: the grammar of English as data, its words in Lingo, fifty tries.

Nothing of the grammar is written down a second time: it is asked, word by word, what it lets stand.
"""

from functools import cache

from attnlab.corpora import agreement, grammar
from attnlab.corpora.grammar_check import English, fault
from attnlab.runtime import generator
from bookkit.playground import Data
from chapters.translating_with_attention.models import unseen_pairs

TRIES = 50
FORESIGHT = 3  # Two beginnings are alike if they allow the same kinds of words, so many words on.

Kinds = tuple[str, ...]


def kind_of(word: str) -> str:
    """`kind_of("dogs")` is "noun plural": words of one kind can stand for each other."""
    return " ".join(English.forms[word]).strip()


def in_lingo(word: str) -> str:
    """`in_lingo("dogs")` is "hundos", `in_lingo("big")` "grand-": a hyphen waits for an ending."""
    singular = {plural: word for word, plural in grammar.PLURALS.items()}
    stems = {**grammar.DETERMINERS, **grammar.ADJECTIVES, **grammar.PREPOSITIONS, **grammar.CONJUNCTIONS}
    stems |= {"'s": "de", "'": "de", "will": ""}
    stems |= {
        verb + s: stem for verbs in grammar.VERBS.values() for verb, stem in verbs.items() for s in ("", "s")
    }
    stems |= {noun + s: lingo + s for noun, lingo in grammar.NOUNS.items() for s in ("", "s")}
    return stems[singular.get(word, word)]


@cache
def words() -> dict[str, dict[str, str]]:
    """`words()["noun plural"]["dogs"]` is "hundos"; words of a kind come in the same order in each number."""
    found: dict[str, dict[str, str]] = {}
    for word in English.forms:
        found.setdefault(kind_of(word), {})[word] = in_lingo(word)
    return found


# ---- the grammar as a table ----


@cache
def allowed(kinds: Kinds) -> Kinds:
    """`allowed(("determiner", "noun plural"))` may come next; "end" where a sentence may end."""
    some = {kind: next(iter(each)) for kind, each in words().items()}
    read = [some[kind] for kind in kinds]
    place = f"word {len(read) + 1} "
    may = [kind for kind, word in some.items() if not fault([*read, word], English).startswith(place)]
    return (*may, *(["end"] if read and not fault(read, English) else []))


@cache
def to_come(kinds: Kinds, foresight: int = FORESIGHT) -> frozenset[tuple[str, object]]:
    """`to_come(kinds)` is the same for beginnings behind which the same may come."""
    return frozenset(
        (kind, to_come((*kinds, kind), foresight - 1) if foresight > 1 and kind != "end" else None)
        for kind in allowed(kinds)
    )


def states() -> list[dict[str, int]]:
    """`states()[0]` is {"determiner": 1, ...}: which kinds may come first, and the state behind each.

    States are numbered; -1 is behind the "end".
    """
    number = {to_come(()): 0}
    waiting: list[Kinds] = [()]
    rows = []
    for kinds in waiting:  # grows while it is read
        row = {}
        for kind in allowed(kinds):
            if kind == "end":
                row[kind] = -1
                continue
            behind = to_come((*kinds, kind))
            if behind not in number:
                number[behind] = len(number)
                waiting.append((*kinds, kind))
            row[kind] = number[behind]
        rows.append(row)
    return rows


@cache
def english() -> Data:
    """`english()` is the grammar of English, and how its words are said in Lingo."""
    return {"states": states(), "words": words()}


# ---- fifty tries, with what a model has not learned from ----


@cache
def to_translate() -> list[str]:
    """`to_translate()` are sentences of 4 to 12 words, whose translations are to be right in every word."""
    short = [pair for pair in unseen_pairs(200) if 4 <= len(pair.english) <= 12]
    return [" ".join(pair.english) for pair in short][:TRIES]


@cache
def before_verbs() -> list[str]:
    """`before_verbs()` stop before the verb of a subject that stands 8 to 12 words before it.

    No sentence that was learned from begins so. (To look at all of these takes seconds: a test does it.)
    """
    found: dict[str, None] = {}  # in order, each but once
    for each in agreement.sentences(8 * TRIES, generator(2)):
        verb, subject = agreement.verb_and_subject(each)
        if 8 <= verb - subject <= 12:
            found[" ".join(each[:verb])] = None
    return list(found)[:TRIES]


def verbs() -> dict[str, str]:
    """`verbs()["see"]` is "sees": the plural of each verb, and its singular."""
    return {verb: f"{verb}s" for verb in agreement.VERBS}
