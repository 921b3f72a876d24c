"""An experiment: cut long reviews so that most of their opinions are kept."""

from collections.abc import Iterable
from functools import partial

import torch
from torch.nn import functional as F

from attnlab.corpora.reviews import BLAME, PADDING, PRAISE
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.mistakes import Mistakes, Part
from chapters.text_as_tensors.exercises.cut_parts import _FAULTS, _ROW, _cut, _judged, _of_length


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
