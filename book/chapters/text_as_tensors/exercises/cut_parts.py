"""What `check_cut` asks with."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from attnlab.corpora.reviews import BLAME, LONGEST, PADDING, PRAISE, VOCABULARY, written
from attnlab.runtime import generator
from bookkit.checking.answers import WrongTypeError, returned
from bookkit.checking.mistakes import Part

_ROW = 12


# Percent of the opinions in long reviews. The better end alone keeps 58, five first and seven last words 88.
_ENOUGH = 78


# In this order: a review that comes back too long is not said to be filled up as well.
_FAULTS = ("too_long", "with_other_numbers", "with_words_twice", "in_another_order")


class _Reviews(tuple[Tensor, ...]):
    """Reviews without filler, all of them short or all of them long, that say so in a report."""

    __slots__ = ()

    @property
    def long(self) -> bool:
        return len(self[0]) > _ROW

    def __repr__(self) -> str:
        lengths = list(map(len, self))
        return f"{len(self)} reviews of {min(lengths)} to {max(lengths)} words"


def _cut(words: Tensor, head: int = 5, tail: int = 7) -> Tensor:
    return words if len(words) <= _ROW else torch.cat([words[:head], words[len(words) - tail :]])


def _judged(cut: Part, reviews: _Reviews) -> tuple[int, ...]:
    """How many reviews come back with each of the faults, and what percentage of their words is kept.

    Of a short review all words count, of a long one the words of opinion: what is enough of them is enough.
    Where it is not, the last number says how many of them are among the first six that are kept.
    """
    source, counted = generator(102), range(PADDING + 1, VOCABULARY)
    enough = 100
    if reviews.long:
        counted, enough = range(PRAISE.start, BLAME.stop), _ENOUGH
    faults, kept, early, whole = Counter[str](), 0, 0, 0
    for review in reviews:
        words, left = review.tolist(), _left(cut, review, source)
        faults[_fault(left, words)] += 1
        kept += sum(word in counted for word in left)
        early += sum(word in counted for word in left[: _ROW // 2])
        whole += sum(word in counted for word in words)
    percent = 100 * kept // whole
    return *(faults[fault] for fault in _FAULTS), min(percent, enough), early if percent < enough else 0


def _left(cut: Part, review: Tensor, source: torch.Generator) -> list[int | None]:
    """What is left of a review; None stands for numbers that are none of its own.

    It is cut twice, with its words numbered anew each time: so a place can't be taken for a word, and who
    looks at which words they are cuts at other places.
    """
    answers, own = [], []
    for _ in range(2):
        anew = torch.arange(VOCABULARY, device="cpu")
        first = PADDING + 1  # what stands before is no word
        anew[first:] = first + torch.randperm(VOCABULARY - first, generator=source, device="cpu")
        numbers = dict(zip(anew[review].tolist(), review.tolist(), strict=True))
        answers.append(_numbers(cut(anew[review])))
        own.append([numbers.get(number) for number in answers[-1]])
    if own[0] != own[1]:
        if answers[0] == answers[1] and set(answers[0]) <= set(range(len(review))):
            raise WrongTypeError("It returns places where the numbers that stand there are expected.")
        raise WrongTypeError("It cuts the same review at other places where its words are numbered anew.")
    return own[0]


def _numbers(answer: Any) -> list[int]:
    kept = returned(torch.as_tensor(returned(answer)))
    if kept.dtype is torch.bool:
        raise WrongTypeError("It returns true or false for each word where the words to keep are expected.")
    if kept.dim() != 1:
        raise WrongTypeError(f"It returns the shape {tuple(kept.shape)} where (length,) is expected.")
    numbers: list[int] = kept[: LONGEST + 1].tolist()  # of what is longer than any review, enough to tell
    return numbers


def _fault(left: list[int | None], words: list[int]) -> str:
    too_long, others, twice, reordered = _FAULTS
    if len(left) > _ROW:
        return too_long
    if None in left:
        return others
    if Counter(left) - Counter(words):
        return twice
    rest: Iterator[int | None] = iter(words)
    return "" if all(word in rest for word in left) else reordered


_ROWS, _ = written(900, generator(101))


def _of_length(long: bool) -> _Reviews:
    reviews = [row[row != PADDING] for row in _ROWS]
    return _Reviews([words for words in reviews if (len(words) > _ROW) == long][:500])
