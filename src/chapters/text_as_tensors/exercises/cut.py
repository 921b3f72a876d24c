"""An experiment: cut long reviews so that most of their opinions are kept."""

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from attnlab.corpora.reviews import BLAME, LONGEST, PADDING, PRAISE, VOCABULARY, written
from attnlab.runtime import generator
from bookkit.checking.answers import WrongTypeError, returned
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.mistakes import Mistakes, Part

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


def _unless_short(cut: Part) -> Part:
    return lambda words: words if len(words) <= _ROW else cut(words)


def _of_any_length(mistakes: Mistakes) -> Mistakes:
    """Each of them twice: made of all reviews, and of the long ones alone."""
    return {
        name + more: (sentence.format(reviews=reviews), change(code))
        for name, (sentence, code) in mistakes.items()
        for more, reviews, change in (
            ("", "all reviews", lambda code: code),
            (", of long ones", "long reviews", _unless_short),
        )
    }


def _lopsided(heads: Iterable[int], short: str) -> Mistakes:
    """Twelve words from both ends, and too few from one."""
    return {
        f"{head} first and {_ROW - head} last": (
            f"Both ends are kept; but {head} words from the start and {_ROW - head} from the end are too few "
            f"from the {short}. Count how far from there opinions stand.",
            partial(_cut, head=head, tail=_ROW - head),
        )
        for head in heads
    }


check_cut = Exercise(
    "cut",
    difficulty=4,
    minutes=40,
    takes=("reviews",),
    returns=(*_FAULTS, "percent_kept", "early_ones"),
    reference=_cut,
    ask=_judged,
    trainable=False,
    cases=(
        Case("reviews of up to 12 words stay whole", _of_length(long=False)),
        Case("enough of the opinions in long reviews", _of_length(long=True)),
    ),
    mistakes={
        "the first words": (
            "You keep the first 12 words, as torchtext does: 2 in 5 of the opinions. Where are the others?",
            lambda words: words[:_ROW],
        ),
        "the last words": (
            "You keep the last 12 words, as Keras does. That is the better end, but three in ten opinions "
            "stand at the other.",
            lambda words: words[-_ROW:],
        ),
        "the middle": (
            "You keep the middle of a review. Count where the opinions stand: most are at its two ends.",
            lambda words: words[max(0, (len(words) - _ROW) // 2) :][:_ROW],
        ),
        "ends and middle": (
            "You keep words from the middle, where few opinions stand. Give their places to the two ends.",
            _unless_short(
                lambda words: torch.cat([words[:4], words[len(words) // 2 - 2 :][:4], words[-4:]]),
            ),
        ),
        "every so many": (
            "You keep words at equal distances. Count where the opinions stand: most are at the two ends.",
            lambda words: words[:: -(-len(words) // _ROW)],
        ),
        "head and tail overlap": (
            "Right for long reviews. In a review of eight words head and tail overlap, and words come twice.",
            lambda words: torch.cat([words[:5], words[-7:]]),
        ),
        "filled up again": (
            "Short reviews come back filled up. Filling a row is a later step: return the words alone.",
            lambda words: F.pad(_cut(words), (0, max(0, _ROW - len(words))), value=PADDING),
        ),
        "turned round": (
            "The words come back in the opposite order. Keep them in their own.",
            lambda words: _cut(words).flip(0),
        ),
        "tail before head": (
            "The right words, with the tail before the head. Keep them in their order.",
            lambda words: words if len(words) <= _ROW else torch.cat([words[-7:], words[:5]]),
        ),
        "too long": (
            "Of long reviews more than 12 words come back, and a row holds 12.",
            lambda words: words,
        ),
        "short ones lose words": (
            "Right for long reviews. A review of up to 12 words fits, and should stay whole.",
            lambda words: words[:5] if len(words) <= _ROW else _cut(words),
        ),
    }
    | _lopsided(range(1, 4), short="start")
    | _lopsided(range(7, _ROW), short="end")
    | _of_any_length(
        {
            "chosen by number": (
                "The cut of {reviews} changes when the same words have other numbers. Choose by a word's "
                "place alone: not by which word it is, and not at random.",
                lambda words: words[(words >= PRAISE.start) & (words < BLAME.stop)],
            ),
            "places for words": (
                "Of {reviews} you return the places, and not the words that stand there: words[places].",
                lambda words: torch.arange(len(words), device="cpu"),
            ),
            "a mask": (
                "Of {reviews} you return true or false for each word. words[mask] takes those that are true.",
                lambda words: words > 0,
            ),
        }
    ),
)
