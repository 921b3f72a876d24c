"""The exercise `cut`, tried as readers would."""

import torch
from exercise_cases import judged_as, named

from chapters.text_as_tensors.exercises import (
    check_cut,
)


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


RIGHT = {check_cut: named(by_index, in_lists, smaller)}


NAMED = {
    check_cut: {
        "the first words": lambda words: words[:12].tolist(),
        "the last words": lambda words: words[max(0, len(words) - 12) :],
        "too long": lambda words: words if len(words) <= 12 else torch.cat([words[:6], words[-7:]]),
        "head and tail overlap": lambda words: torch.cat([words[:5], words[-7:]]),
    }
}


UNKNOWN = {
    check_cut: {
        "hardly a head": lambda words: words if len(words) <= 12 else torch.cat([words[:2], words[-10:]]),
        "turned round": lambda words: words.flip(0),
        "sorted": lambda words: in_lists(words.sort().values),
        "nothing": lambda words: words[:0],
    }
}


test_right_code_is_accepted, test_a_learners_mistake_is_named, test_an_unknown_fault_is_rejected = judged_as(
    RIGHT, NAMED, UNKNOWN
)
