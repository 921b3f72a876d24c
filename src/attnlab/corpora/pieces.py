"""Byte-level subwords: a text as numbers of which nothing is lost, and merges learned from a text."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TypeAlias

from attnlab import require

Pair: TypeAlias = tuple[int, int]

BYTES = 256  # the first pieces are the bytes themselves
# No merge crosses the border between two of these: a word with the space before it, up to three digits, what
# is neither, spaces. Of several spaces the last goes to the word behind them.
CHUNK = re.compile(r" ?[^\W\d_]+|\d{1,3}| ?(?:[^\s\w]|_)+|\s+(?!\S)|\s+")


class Pieces:
    """`Pieces(merges)` cuts texts into pieces: each merge makes a new one of two that stand side by side.

    The merge at place i makes piece 256 + i. Pieces below 256 are bytes, so every text can be cut. The last
    piece, `end`, stands behind a text; none is cut into it.

    >>> pieces = Pieces([(116, 104), (256, 101)])  # t + h, th + e
    >>> pieces.encode("the thé"), pieces.decode([257, 33])
    ([257, 32, 256, 195, 169], 'the!')
    >>> pieces.end, len(pieces)
    (258, 259)
    """

    def __init__(self, merges: Iterable[Sequence[int]]) -> None:
        self.merges: list[Pair] = []
        self.rank: dict[Pair, int] = {}
        self.bytes = [bytes([number]) for number in range(BYTES)]
        self.letters: Sequence[int] = range(BYTES)  # the piece of each byte
        for place, pair in enumerate(merges):
            require.merge(pair, place, BYTES + place)
            left, right = map(int, pair)
            self.merges.append((left, right))
            self.rank.setdefault((left, right), place)
            self.bytes.append(self.bytes[left] + self.bytes[right])
        self.made: Sequence[int] = range(BYTES, len(self.bytes))  # the piece that each merge makes
        self.end = len(self.bytes)
        self.bytes.append(b"")
        self._cut: dict[str, list[int]] = {}  # a text is made of the same few chunks again and again

    def __len__(self) -> int:
        """`len(Pieces(merges))` is the size of the vocabulary."""
        return len(self.bytes)

    def encode(self, text: str) -> list[int]:
        """`pieces.encode("the end")` are the numbers of its pieces."""
        ids: list[int] = []
        for chunk in self.chunks(text):
            cut = self._cut.get(chunk)
            if cut is None:
                cut = self._cut[chunk] = self._merged([self.letters[byte] for byte in chunk.encode()])
            ids += cut
        return ids

    def chunks(self, text: str) -> list[str]:
        """`pieces.chunks("the end")` is ["the", " end"]: no piece crosses a border between two."""
        return CHUNK.findall(text)

    def _merged(self, ids: list[int]) -> list[int]:
        # The earliest learned merge first, wherever it stands, as long as there is one.
        while len(ids) > 1:
            first = min(pairwise(ids), key=lambda pair: self.rank.get(pair, len(self.merges)))
            if first not in self.rank:
                break
            ids = joined(ids, first, self.made[self.rank[first]])
        return ids

    def decode(self, ids: Iterable[int]) -> str:
        """`pieces.decode(pieces.encode(text)) == text`; half a letter becomes the sign �."""
        ids = list(map(int, ids))
        require.ids_below(len(self), ids)
        return b"".join(self.bytes[number] for number in ids).decode(errors="replace")


def joined(ids: list[int], pair: Pair, new: int) -> list[int]:
    """`joined([1, 2, 1, 2, 2], (1, 2), new=9)` is [9, 9, 2]."""
    out: list[int] = []
    for number in ids:
        if out and (out[-1], number) == pair:
            out[-1] = new
        else:
            out.append(number)
    return out


def learn(text: str, vocabulary: int) -> list[Pair]:
    """`merges = learn(text, vocabulary=1024)`: the pair that stands side by side most often, 767 times over.

    With the 256 bytes and the end, that makes 1024 pieces.

    >>> learn("the then the", vocabulary=259)
    [(116, 104), (256, 101)]
    """
    require.at_least(BYTES + 1, vocabulary=vocabulary)
    require.some_text(text)
    counted = Counter(CHUNK.findall(text))
    chunks = [list(chunk.encode()) for chunk in counted]
    times = list(counted.values())
    # Counted once; a merge then changes the counts of those chunks alone that hold its pair.
    pairs: Counter[Pair] = Counter()
    holding: dict[Pair, set[int]] = defaultdict(set)
    for place, ids in enumerate(chunks):
        for pair in pairwise(ids):
            pairs[pair] += times[place]
            holding[pair].add(place)
    merges: list[Pair] = []
    while len(merges) < vocabulary - BYTES - 1 and pairs:
        best = max(pairs, key=lambda pair: (pairs[pair], pair))  # of equals, the same on every machine
        if pairs[best] < 2:
            break
        for place in holding.pop(best):
            ids = chunks[place]
            for pair in pairwise(ids):
                pairs[pair] -= times[place]
            chunks[place] = joined(ids, best, BYTES + len(merges))
            for pair in pairwise(chunks[place]):
                pairs[pair] += times[place]
                holding[pair].add(place)
        del pairs[best]
        merges.append(best)
    return merges
