"""The exercise `cut`, tried as readers would."""

import pytest
import torch
from exercise_cases import judged_as, named
from exercise_cases import words as words_of
from torch.nn import functional as F

from chapters.text_as_tensors.exercises import (
    check_cut,
)

pytestmark = pytest.mark.thorough


def by_index(words):
    places = [i for i in range(len(words)) if i < 4 or i >= max(4, len(words) - 8)]
    return words[places if len(words) > 12 else slice(None)]


def in_lists(words):
    kept = words.tolist()
    del kept[6 : max(6, len(kept) - 6)]
    return kept


def smaller(words, head=5):
    """A head, a tail, and a place left over."""
    return words if len(words) < 13 else torch.cat([words[:head], words[-6:]])


def kept_by_head(head):
    return lambda words: words if len(words) <= 12 else torch.cat([words[:head], words[head - 12 :]])


def by_opinions(words):
    """It looks at which words are opinions, and takes the rest from the front."""
    first = ((words >= 2) & (words < 22)).int().argsort(descending=True, stable=True)
    return words[first[:12].sort().values]


def test_who_looks_at_which_words_are_opinions_does_not_pass():
    """The words are numbered anew in each review, so there is nothing to look at."""
    report = check_cut.judge(by_opinions)
    assert not report.passed, report
    assert "Choose by a word's place alone" in words_of(report)


def test_of_an_enormous_cut_only_the_shape_is_looked_at():
    """Before: its numbers were written out, until no memory was left."""
    report = check_cut.judge(lambda words: words[:1, None].expand(1_000_000, 1_000_000))
    assert "of shape (1000000, 1000000): far too many numbers" in words_of(report)


def test_the_report_names_nothing_that_the_reader_never_had():
    report = check_cut.judge(lambda words: words[:1])
    assert "reviews = 376 reviews of 3 to 12 words" in words_of(report)


RIGHT = {check_cut: named(by_index, in_lists, smaller)}


NAMED = {
    check_cut: {
        "the first words": lambda words: words[:12].tolist(),
        "the last words": lambda words: words[max(0, len(words) - 12) :],
        "too long": lambda words: words if len(words) <= 12 else torch.cat([words[:6], words[-7:]]),
        "head and tail overlap": lambda words: torch.cat([words[:6], words[-6:]]),
        "filled up again": lambda words: F.pad(kept_by_head(4)(words), (0, 12))[:12],
        "turned round": lambda words: words.flip(0)[:12] if len(words) <= 12 else by_index(words).flip(0),
        "ends and middle": lambda words: (
            words
            if len(words) <= 12
            else words[[0, 1, 2, 3, *range(len(words) // 2 - 2, len(words) // 2 + 2), -4, -3, -2, -1]]
        ),
        "2 first and 10 last": kept_by_head(2),
        "9 first and 3 last": kept_by_head(9),
        "chosen by number": lambda words: words.sort().values[:12],
        "chosen by number, of long ones": lambda words: (
            words if len(words) <= 12 else words[words.argsort()[:12].sort().values]
        ),
        "places for words": lambda words: [i for i in range(len(words)) if i < 5 or i >= len(words) - 7],
        "places for words, of long ones": lambda words: (
            words if len(words) <= 12 else [*range(5), *range(len(words) - 7, len(words))]
        ),
        "a mask": lambda words: torch.arange(len(words)) < 12,
        "a mask, of long ones": lambda words: words if len(words) <= 12 else torch.arange(len(words)) < 12,
    }
}


UNKNOWN = {
    check_cut: {
        "half of a head": lambda words: words if len(words) <= 12 else torch.cat([words[:2], words[-7:]]),
        "one row": lambda words: by_index(words)[None],
        "nothing": lambda words: words[:0],
    }
}


test_right_code_is_accepted, test_a_learners_mistake_is_named, test_an_unknown_fault_is_rejected = judged_as(
    RIGHT, NAMED, UNKNOWN
)
