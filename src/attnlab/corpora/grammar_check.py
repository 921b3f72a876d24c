"""Is this a sentence of English, or of Lingo, as attnlab.corpora.grammar has them? And if not, why not?"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from attnlab.corpora.grammar import ADJECTIVES, CONJUNCTIONS, DETERMINERS, NOUNS, PLURALS, PREPOSITIONS, VERBS

ENDINGS = ("o", "a", "os", "as")  # of what describes a noun, in Lingo


def fault(words: Sequence[str], language: "type[Reader]") -> str:
    """`fault("lo gata dorme".split(), Lingo)` says why that is no sentence, and "" where nothing is wrong.

    >>> fault("the dogs sleeps".split(), English)
    "word 3 must be an intransitive verb (plural), got 'sleeps'"
    >>> fault("los hundos dormen".split(), Lingo)
    ''
    """
    try:
        language(words).sentence()
    except ValueError as reason:
        return str(reason)
    return ""


class Reader(ABC):
    """`Lingo(words).sentence()` goes through the words, and raises at the first that can't be there.

    forms: every word of the language, with its kind, and the number or ending that others must agree with.
    """

    forms: ClassVar[dict[str, tuple[str, str]]]

    def __init__(self, words: Sequence[str]) -> None:
        self.words = words
        self.place = 0

    def sees(self, kind: str) -> bool:
        """`reader.sees("noun")` is whether the next word is one. After the last word comes the "end"."""
        if self.place == len(self.words):
            return kind == "end"
        return self.forms.get(self.words[self.place], ("unknown", ""))[0] == kind

    def take(self, kind: str, agreeing: str = "") -> str:
        """`reader.take("noun", "os")` goes past a noun in os, and is its form, "os"."""
        form = self.forms[self.words[self.place]][1] if self.sees(kind) else ""
        if not self.sees(kind) or (agreeing and form and form != agreeing):
            wanted = f"{'an' if kind[0] in 'aeiou' else 'a'} {kind}" + f" ({agreeing})" * bool(agreeing)
            came = "nothing" if self.sees("end") else repr(self.words[self.place])
            raise ValueError(f"word {self.place + 1} must be {wanted}, got {came}")
        self.place += 1
        return form

    @abstractmethod
    def phrase(self) -> str:
        """`reader.phrase()` goes past a noun with all that belongs to it, and is "singular" or "plural"."""

    @abstractmethod
    def verb(self, number: str) -> str:
        """`reader.verb("plural")` goes past a verb, and is its kind."""

    def take_verb(self, number: str, *kinds: str) -> str:
        """`reader.take_verb("plural", "reflexive verb")` goes past one of these kinds, and is the kind."""
        kind = next((kind for kind in kinds if self.sees(kind)), "verb")
        self.take(kind, number)
        return kind

    def sentence(self) -> None:
        """`reader.sentence()` goes to the end, or raises."""
        if self.verb(self.phrase()) == "transitive verb":
            self.phrase()
        if self.sees("preposition"):
            self.take("preposition")
            self.phrase()
        if not self.sees("end"):
            self.take("conjunction")
            self.sentence()


class English(Reader):
    """`English("the dog sleeps".split()).sentence()` is well. Words agree in number."""

    forms: ClassVar = {
        **{word: ("determiner", "singular" if word in PLURALS else "") for word in DETERMINERS},
        **dict.fromkeys(PLURALS.values(), ("determiner", "plural")),
        **dict.fromkeys(ADJECTIVES, ("adjective", "")),
        **dict.fromkeys(NOUNS, ("noun", "singular")),
        **{f"{word}s": ("noun", "plural") for word in NOUNS},
        **{word: (kind, "plural") for kind, verbs in VERBS.items() for word in verbs},
        **{f"{word}s": (kind, "singular") for kind, verbs in VERBS.items() for word in verbs},
        **dict.fromkeys(PREPOSITIONS, ("preposition", "")),
        **dict.fromkeys(CONJUNCTIONS, ("conjunction", "")),
        **{"'s": ("possessive", "singular"), "'": ("possessive", "plural"), "will": ("will", "")},
    }

    def phrase(self) -> str:
        """`reader.phrase()` goes past “these dogs”, or past “this dog 's small cats”."""
        number = self.take("determiner")
        while True:
            while self.sees("adjective"):
                self.take("adjective")
            number = self.take("noun", number)
            if not self.sees("possessive"):
                return number
            self.take("possessive", number)
            number = ""  # what is owned need not be as many as the owners

    def verb(self, number: str) -> str:
        """`reader.verb("singular")` goes past “sees”, or past “will see”, which is the same in the plural."""
        if self.sees("will"):
            self.take("will")
            number = "plural"
        return self.take_verb(number, *VERBS)


class Lingo(Reader):
    """`Lingo("lo hundo dorme".split()).sentence()` is well. Words agree in their endings."""

    forms: ClassVar = {
        **{stem.replace("-", o): ("determiner", o) for stem in DETERMINERS.values() for o in ENDINGS},
        **{stem.replace("-", o): ("adjective", o) for stem in ADJECTIVES.values() for o in ENDINGS},
        **{noun + s: ("noun", noun[-1] + s) for noun in NOUNS.values() for s in ("", "s")},
        **{
            stem.replace("-", ending).split()[-1]: (kind, "plural" if ending.endswith("n") else "singular")
            for kind, verbs in VERBS.items()
            for stem in verbs.values()
            for ending in ("e", "en", "era", "eran")
        },
        **dict.fromkeys(PREPOSITIONS.values(), ("preposition", "")),
        **dict.fromkeys(CONJUNCTIONS.values(), ("conjunction", "")),
        **{"de": ("possessive", ""), "se": ("se", "")},
    }

    def phrase(self) -> str:
        """`reader.phrase()` goes past “estos hundos”, or past “gatas petas de esto hundo”."""
        owned = not self.sees("determiner")
        ending = self.take("noun", "" if owned else self.take("determiner"))
        while self.sees("adjective"):
            self.take("adjective", ending)
        if owned:
            self.take("possessive")
            self.phrase()
        return "plural" if ending.endswith("s") else "singular"

    def verb(self, number: str) -> str:
        """`reader.verb("singular")` goes past “vide” or “videra”, or past “se cele”."""
        if not self.sees("se"):
            return self.take_verb(number, "transitive verb", "intransitive verb")
        self.take("se")
        return self.take_verb(number, "reflexive verb")
