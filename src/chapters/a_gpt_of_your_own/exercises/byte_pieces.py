"""Cut a chunk of text into pieces by merges, and put a text together again."""

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from numbers import Integral
from typing import Any, TypeAlias

from torch import Tensor

from attnlab.corpora import pieces
from bookkit.checking.answers import UnwrittenError, WrongTypeError, returned
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.mistakes import Mistakes, Part, in_parts
from chapters.a_gpt_of_your_own.exercises.told import Told

Merges: TypeAlias = Sequence[tuple[int, int]]

TOLD = Told()
MOST = 100  # ids: far more than any of the chunks has letters


def _joined(ids: list[int], pair: tuple[int, int], new: int) -> list[int]:
    out: list[int] = []
    place = 0
    while place < len(ids):
        if tuple(ids[place : place + 2]) == pair:
            out.append(new)
            place += 2
        else:
            out.append(ids[place])
            place += 1
    return out


def _earliest(ids: list[int], merges: Merges, new: int = 256, choose: Part = min) -> list[int]:
    ranks = {pair: place for place, pair in enumerate(merges)}
    while there := [ranks[pair] for pair in pairwise(ids) if pair in ranks]:
        first = choose(there)
        ids = _joined(ids, merges[first], new + first)
    return ids


def _spelled(merges: Merges) -> list[bytes]:
    spelled = [bytes([number]) for number in range(256)]
    for left, right in merges:
        spelled.append(spelled[left] + spelled[right])
    return spelled


def _together(pieces: list[bytes]) -> str:
    return b"".join(pieces).decode(errors="replace")


def _pieces(
    merges: Merges,
    chunk: str,
    ids: list[int],
    *,
    start: Part = lambda chunk: list(chunk.encode()),
    merge: Part = _earliest,
    number: Part = lambda number: number,
    text: Part = _together,
    piece: Part = lambda number, merges: _spelled(merges)[number],
) -> tuple[list[int], str]:
    cut = [number(one) for one in merge(start(chunk), merges)]
    return cut, text([piece(one, merges) for one in ids])


def _both(work: Callable[..., Any], merges: Merges, chunk: str, ids: list[int]) -> tuple[int, int]:
    """The ids of a chunk, and the text of other ids, each as the number of its words."""
    answer = returned(work(merges, chunk, ids))
    if not isinstance(answer, (tuple, list)) or len(answer) != 2:
        kind = type(answer).__name__
        raise WrongTypeError(
            f"It returns {kind} where two results, the ids of the chunk and a text, are due."
        )
    numbers, text = answer
    if numbers is ... or text is ...:
        raise UnwrittenError
    if isinstance(numbers, str):
        raise WrongTypeError("The first result is a text. First come the ids of the chunk, then the text.")
    if isinstance(text, bytes):
        raise WrongTypeError("The text comes back as bytes. Their .decode(…) makes letters of them.")
    if not isinstance(text, str):
        raise WrongTypeError(f"The second result is {type(text).__name__} where a text, a str, is expected.")
    return TOLD.number(_listed(numbers)), TOLD.number(repr(text[:MOST]))


def _listed(numbers: Any) -> str:
    if isinstance(numbers, Tensor):
        numbers = numbers.flatten()[:MOST].tolist()
    if not isinstance(numbers, (list, tuple)) or not all(isinstance(one, Integral) for one in numbers):
        kind = type(numbers).__name__
        raise WrongTypeError(f"The first result is {kind} where a list of whole numbers is expected.")
    return str([int(one) for one in numbers[:MOST]])


def _ranks(merges: Merges) -> dict[tuple[int, int], int]:
    return {pair: place for place, pair in enumerate(merges)}


def _from_the_left(ids: list[int], merges: Merges) -> list[int]:
    """Whatever merge comes first in the chunk, and then from its start again."""
    ranks = _ranks(merges)
    while there := [place for place, pair in enumerate(pairwise(ids)) if pair in ranks]:
        place = there[0]
        ids = [*ids[:place], 256 + ranks[ids[place], ids[place + 1]], *ids[place + 2 :]]
    return ids


def _in_one_pass(ids: list[int], merges: Merges) -> list[int]:
    """Each id is joined with the last one where a merge is there, and nobody looks back."""
    ranks, out = _ranks(merges), ids[:1]
    for number in ids[1:]:
        if (out[-1], number) in ranks:
            out[-1] = 256 + ranks[out[-1], number]
        else:
            out.append(number)
    return out


def _bytes_only(ids: list[int], merges: Merges) -> list[int]:
    """In the order of the list, but of those pairs alone that were bytes to begin with."""
    for place, pair in enumerate(merges):
        if max(pair) < 256:
            ids = _joined(ids, pair, 256 + place)
    return ids


def _longest(ids: list[int], merges: Merges) -> list[int]:
    """From the left, the longest piece of the vocabulary that the chunk goes on with."""
    spelled: list[tuple[int, ...]] = [(number,) for number in range(256)]
    for left, right in merges:
        spelled.append(spelled[left] + spelled[right])
    out: list[int] = []
    rest = tuple(ids)
    while rest:
        fitting = [number for number, piece in enumerate(spelled) if rest[: len(piece)] == piece]
        out.append(max(fitting, key=lambda number: len(spelled[number]), default=rest[0]))
        rest = rest[len(spelled[out[-1]]) if fitting else 1 :]
    return out


def _most_frequent(ids: list[int], merges: Merges) -> list[int]:
    ranks = _ranks(merges)
    while counts := Counter(pair for pair in pairwise(ids) if pair in ranks):
        pair = max(counts, key=lambda pair: counts[pair])
        ids = _joined(ids, pair, 256 + ranks[pair])
    return ids


def _once(ids: list[int], merges: Merges) -> list[int]:
    for number, pair in enumerate(merges):
        if pair in (there := list(pairwise(ids))):
            place = there.index(pair)
            ids = [*ids[:place], 256 + number, *ids[place + 2 :]]
    return ids


def _until_one_is_missing(ids: list[int], merges: Merges) -> list[int]:
    for number, pair in enumerate(merges):
        if pair not in pairwise(ids):
            break
        ids = _joined(ids, pair, 256 + number)
    return ids


def _second_kept(ids: list[int], merges: Merges) -> list[int]:
    """Goes on by one place where it has to go on by two."""
    for number, pair in enumerate(merges):
        after = [*ids[1:], -1]
        ids = [256 + number if both == pair else both[0] for both in zip(ids, after, strict=True)]
    return ids


def _from_the_right(ids: list[int], merges: Merges) -> list[int]:
    for number, pair in enumerate(merges):
        ids = _joined(ids[::-1], pair[::-1], 256 + number)[::-1]
    return ids


MISTAKES: Mistakes = in_parts(
    _pieces,
    start={
        "letters for bytes": (
            "Your chunk begins as the numbers of its letters (ord). “é” is one letter and two bytes, and the "
            "merges are of bytes: list(chunk.encode()).",
            lambda chunk: [ord(letter) for letter in chunk],
        )
    },
    merge={
        "made from 257 on": (
            "Your new ids are 257, 258, … The merge at place 0 makes 256, and later pairs count on that.",
            partial(_earliest, new=257),
        ),
        "left to right": (
            "You merge from left to right. Where two merges want the same letter, the one that was learned "
            "earlier has it, wherever it stands.",
            _from_the_left,
        ),
        "one pass": (
            "You go through the chunk once, from left to right. Look at all of it for the earliest learned "
            "merge, make it, and look again: what it made may join with what stands before it.",
            _in_one_pass,
        ),
        "bytes only": (
            "You merge bytes, and not what other merges have made. A pair may hold an id of 256 or more.",
            _bytes_only,
        ),
        "longest first": (
            "You take the longest piece that fits, as other tokenisers do. Here it is the earliest learned "
            "merge, even where that keeps a longer piece from coming about.",
            _longest,
        ),
        "last learned first": (
            "Of the merges that are there you make the one learned last. The earliest goes first: the one "
            "with the smallest place in the list.",
            partial(_earliest, choose=max),
        ),
        "most frequent first": (
            "You make the merge whose pair is there most often. So they were learned; to cut a chunk, go by "
            "their order: the earliest learned first.",
            _most_frequent,
        ),
        "each once": (
            "You make each merge once, at the first place where its pair stands. Make it wherever it stands, "
            "until it stands nowhere.",
            _once,
        ),
        "stopped at a missing one": (
            "You stop at the first merge of the list whose pair is not in the chunk. Those behind it may "
            "still be there.",
            _until_one_is_missing,
        ),
        "second of the pair kept": (
            "After a merge its second id is still there: it belongs to the new piece. Go on two places "
            "further, not one.",
            _second_kept,
        ),
        "from the right": (
            "Of three alike you merge the last two. Go from the left: the first two become one piece.",
            _from_the_right,
        ),
        "no merges": (
            "These are the bytes of the chunk, with no merge made. (A pair of the list is a tuple, and a "
            "list of two ids, such as ids[:2], is never equal to one.)",
            lambda ids, merges: ids,
        ),
    },
    number={
        "one too high": (
            "Your new ids are one too high: the merge at place 0 of the list makes 256.",
            lambda number: number + (number > 255),
        ),
        "one too low": (
            "Your new ids are one too low: 255 is a byte, and the merge at place 0 of the list makes 256.",
            lambda number: number - (number > 255),
        ),
        "numbered from 0": (
            "A new id is the merge's place in the list, as if it were a byte. Add 256.",
            lambda number: number % 256 if number > 255 else number,
        ),
    },
    text={
        "decoded piece by piece": (
            "You decode each piece by itself, and half a letter is no text. Join the bytes of all pieces "
            "first, and decode once.",
            lambda pieces: "".join(piece.decode(errors="replace") for piece in pieces),
        ),
        "letters of bytes": (
            "Your text has a letter for each byte (chr): “é” has two bytes and is one letter. Join the bytes "
            "and let .decode() read them.",
            lambda pieces: "".join(chr(number) for piece in pieces for number in piece),
        ),
        "half a letter ignored": (
            'Half a letter vanishes from your text. With `errors="replace"` stands the sign � in its place.',
            lambda pieces: b"".join(pieces).decode(errors="ignore"),
        ),
        "half a letter refused": (
            '`decode()` refuses half a letter. `errors="replace"` puts the sign � in its place: what a model '
            "writes need not be whole letters.",
            lambda pieces: b"".join(pieces).decode(),
        ),
    },
    piece={
        "ids for bytes": (
            "You make bytes of the ids themselves: bytes(ids). An id of 256 or more stands for two others: "
            "look them up in the merges, until only bytes are left.",
            lambda number, merges: bytes([number]),
        ),
        "looked up once": (
            "To decode an id you look up its merge once, and what that is made of may be merges again. Go on "
            "until only bytes are left.",
            lambda number, merges: bytes(merges[number - 256] if number > 255 else [number]),
        ),
    },
)


_A_B, _B_C, _C_A = (97, 98), (98, 99), (99, 97)


check_byte_pieces = Exercise(
    "byte_pieces",
    difficulty=2,
    minutes=20,
    takes=("merges", "chunk", "ids"),
    returns=("ids of the chunk", "text of the ids"),
    reference=_pieces,
    ask=_both,
    cases=(
        Case("right for one merge", [(104, 97)], "ha", [256, 33]),
        Case("right for a merge that is there twice", [(104, 97)], "haha!", [256, 256, 33]),
        Case("right for three letters alike", [(97, 97)], "aaa", [256, 97, 98]),
        # The piece that a merge makes joins with what stands behind it, and with what stands before it.
        Case("right for merges of merges", [(116, 104), (256, 101)], "then", [257, 110, 256]),
        Case("right for merges of merges", [(104, 101), (116, 256)], "the", [116, 256, 257]),
        # The earliest is not always the first from the left, nor the last learned, the longest, the most
        # frequent, or the one of the smallest ids.
        Case("right where two merges want one letter", [_B_C, _A_B], "abc", [97, 256]),
        Case("right where two merges want one letter", [_C_A, _A_B], "cab", [99, 257]),
        Case("right where two merges want one letter", [_A_B, _B_C], "abcbc", [257, 256]),
        Case("right where two merges want one letter", [_B_C, _A_B, (97, 256)], "zabc", [122, 258]),
        Case("right where two merges want one letter", [_B_C, _A_B, (257, 99)], "abc", [258]),
        Case("right where the first merge is not there", [(120, 121), (104, 97)], "ha", [257, 256]),
        Case("right for letters of several bytes", [(116, 104)], "thé", [256, 195, 169]),
        Case("right for letters of several bytes", [(226, 130), (256, 172)], "7 €", [55, 257]),
        # As learned from “hé” and “hè”, which have the same first two bytes.
        Case("right for a letter that is cut in half", [(104, 195)], "hé", [256, 169, 256, 168]),
        Case("right for half a letter alone", [(104, 195)], "hè", [256, 33]),
    ),
    mistakes=MISTAKES,
    trainable=False,
    # The book's own: the task is to write it.
    without=(pieces,),
    meanings={"ids of the chunk": TOLD, "text of the ids": TOLD},
)
