"""An experiment: cut long reviews so that most of their opinions are kept."""

from typing import Any

import torch
from torch import Tensor

from attnlab.corpora.reviews import BLAME, PADDING, PRAISE, written
from attnlab.runtime import generator
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.mistakes import Part

_ROW = 12


# Percent of the opinions in long reviews. The better end alone keeps 58, five first and seven last words 88.
_ENOUGH = 78


def _cut(words: Tensor, head: int = 5, tail: int = 7) -> Tensor:
    return words if len(words) <= _ROW else torch.cat([words[:head], words[len(words) - tail :]])


def _judged(cut: Part, rows: Tensor, long: bool) -> Any:
    """How many reviews come back too long, how many in another order, and what percentage is kept.

    Of a short review all words count, of a long one the words of opinion: what is enough of them is enough.
    """
    reviews = [row[row != PADDING] for row in rows]
    cuts = [cut(words.clone()) for words in reviews]
    if any(each is ... for each in cuts):
        return ...
    kept = [torch.as_tensor(each) for each in cuts]
    too_many = sum(each.numel() > _ROW for each in kept)
    reordered = sum(not _in_order(each, words) for each, words in zip(kept, reviews, strict=True))
    count = _opinions if long else Tensor.numel
    share = 100 * sum(map(count, kept)) // sum(map(count, reviews))
    return too_many, reordered, min(share, _ENOUGH if long else 100)


def _in_order(kept: Tensor, words: Tensor) -> bool:
    rest = iter(words.tolist())
    return all(word in rest for word in kept.tolist())


def _opinions(words: Tensor) -> int:
    return int(((words >= PRAISE.start) & (words < BLAME.stop)).sum())


def _of_length(rows: Tensor, long: bool) -> Tensor:
    return rows[((rows != PADDING).sum(1) > _ROW) == long]


_ROWS, _ = written(900, generator(101))


check_cut = Exercise(
    "cut",
    difficulty=4,
    minutes=40,
    takes=("rows", "long"),
    returns=("too_many", "reordered", "percent_kept"),
    reference=_cut,
    ask=_judged,
    trainable=False,
    cases=(
        Case("reviews of up to 12 words stay whole", _of_length(_ROWS, long=False), False),
        Case("enough of the opinions in long reviews", _of_length(_ROWS, long=True)[:500], True),
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
        "every so many": (
            "You keep words at equal distances. Count where the opinions stand: most are at the two ends.",
            lambda words: words[:: -(-len(words) // _ROW)],
        ),
        "head and tail overlap": (
            "Right for long reviews. In a review of eight words head and tail overlap, and words come twice.",
            lambda words: torch.cat([words[:5], words[-7:]]),
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
    },
)
