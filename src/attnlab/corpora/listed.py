"""Somebody else's pieces: numbered by a list, and spelled in letters that stand for bytes."""

import re
import unicodedata
from collections.abc import Collection, Sequence
from functools import cache

from attnlab import require
from attnlab.corpora.pieces import BYTES, Pieces


def letters() -> list[str]:
    """`letters()[32]` is "Ġ": in lists of pieces each byte is a letter that one can see.

    A byte that prints stands for itself, the others for what comes from number 256 on.
    """
    printed = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = iter(range(256, 512))
    return [chr(byte if byte in printed else next(others)) for byte in range(BYTES)]


# Numbers that came to Unicode after Python 3.11: the same on every Python.
NEW = (
    "\U00010d40-\U00010d49\U000116d0-\U000116e3\U00011bf0-\U00011bf9\U00011de0-\U00011de9"
    "\U00011f50-\U00011f59\U00016130-\U00016139\U00016d70-\U00016d79\U00016ff4-\U00016ff6"
    "\U0001ccf0-\U0001ccf9\U0001d2c0-\U0001d2d3\U0001e4f0-\U0001e4f9\U0001e5f1-\U0001e5fa"
)
SIGNS = "_\x1c-\x1f"  # which are letters, and spaces, to Python


@cache
def chunk() -> re.Pattern[str]:
    """`chunk().findall("in  1999")` has SmolLM's borders: digits alone, GPT-2's words, signs and spaces.

    What Unicode calls a number, such as ² or Ⅷ, Python's `\\d` leaves out where it is no decimal digit.
    """
    others = [chr(code) for code in range(0x110000) if unicodedata.category(chr(code)) in ("Nl", "No")]
    number = f"\\d{NEW}{re.escape(''.join(others))}"
    letter, sign, space = f"[^\\W_{number}]", f"(?:[^\\s\\w{NEW}]|[{SIGNS}])", f"[^\\S{SIGNS}]"
    # Of several spaces the last goes to the word behind them, but not to a number.
    spaces = f"{space}+(?={space}|[{number}]|\\Z)|{space}+"
    return re.compile(f"[{number}]|'(?:s|t|re|ve|m|ll|d)| ?{letter}+| ?{sign}+|{spaces}")


class ListedPieces(Pieces):
    """`ListedPieces(["h", "i", "Ġ", "hi"], ["h i"])` has the numbers of that list, and its merges.

    >>> pieces = ListedPieces([*letters(), "hi", "Ġhi", "<end>"], ["h i", "Ġ hi"], special=[258])
    >>> pieces.encode("hi hi"), pieces.decode([256, 258])
    ([256, 257], 'hi')
    >>> pieces.encode("<end>") == [pieces.special["<end>"]]  # what a reader types is never special
    False
    """

    def __init__(
        self, spelled: Sequence[str], merges: Sequence[str], special: Collection[int] = (), unknown: int = 0
    ) -> None:
        number = {text: place for place, text in enumerate(spelled)}
        alphabet = letters()
        byte = {letter: value for value, letter in enumerate(alphabet)}
        require.ids_below(len(spelled), [*special, unknown])
        require.spelled(spelled, special, alphabet)
        require.listed(merges, number)
        self.special = {spelled[place]: place for place in special}
        self.bytes = [
            b"" if place in special else bytes(byte[letter] for letter in text)
            for place, text in enumerate(spelled)
        ]
        pairs = [merge.split(" ") for merge in merges]
        # A list may lack bytes that its text never had. They become one piece, and are lost.
        self.letters = [number.get(letter, unknown) for letter in alphabet]
        self.merges = [(number[left], number[right]) for left, right in pairs]
        self.made = [number[left + right] for left, right in pairs]
        self.rank = {}
        for place, pair in enumerate(self.merges):
            self.rank.setdefault(pair, place)
        self._cut = {}

    def chunks(self, text: str) -> list[str]:
        """`pieces.chunks("in 1999")` is ["in", " ", "1", "9", "9", "9"]."""
        return chunk().findall(text)
