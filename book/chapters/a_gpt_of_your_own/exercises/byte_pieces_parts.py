"""What `check_byte_pieces` asks with, in parts that can be mistaken."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from numbers import Integral
from typing import Any, TypeAlias

from torch import Tensor

from bookkit.checking.answers import UnwrittenError, WrongTypeError, returned
from bookkit.checking.mistakes import Part
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


def _earliest(ids: list[int], merges: Merges) -> list[int]:
    ranks = {pair: place for place, pair in enumerate(merges)}
    while there := [ranks[pair] for pair in pairwise(ids) if pair in ranks]:
        first = min(there)
        ids = _joined(ids, merges[first], 256 + first)
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
