"""The exercise `shifted_targets`, tried as readers would."""

import torch
from exercise_cases import judged_as
from torch.nn import functional as F

from chapters.three_ways_to_read_a_sequence.exercises import (
    check_shifted_targets,
)


def by_where(texts):
    targets = texts[:, 1:].clone()
    targets[targets == 0] = -100
    return texts[:, : texts.shape[1] - 1], targets


RIGHT = {check_shifted_targets: {"in place, on a copy": by_where}}


NAMED = {
    check_shifted_targets: {
        "padding counted": lambda texts: (texts[:, :-1].clone(), texts[:, 1:].clone()),
        "not shifted": lambda texts: (by_where(texts)[0], by_where(F.pad(texts, (1, 0)))[1][:, :-1]),
        "end mark skipped": lambda texts: (texts[:, :-1], torch.where(texts[:, 1:] > 2, texts[:, 1:], -100)),
        "results swapped": lambda texts: by_where(texts)[::-1],
        "whole inputs": lambda texts: (texts, by_where(texts)[1]),
        "whole inputs & filled up again": lambda texts: (
            texts,
            F.pad(by_where(texts)[1], (0, 1), value=-100),
        ),
        "not shifted & padding counted": lambda texts: (texts[:, :-1], texts[:, :-1]),
        "inputs shifted too": lambda texts: (texts[:, 1:], by_where(texts)[1]),
        "inputs marked instead": lambda texts: (
            texts[:, :-1].masked_fill(texts[:, :-1] == 0, -100),
            texts[:, 1:],
        ),
        "end mark taken from the inputs": lambda texts: (
            texts[:, :-1].where(texts[:, :-1] != 2, 0),
            by_where(texts)[1],
        ),
        "end mark for padding": lambda texts: (
            texts[:, :-1],
            torch.where(texts[:, 1:] == 2, -100, texts[:, 1:]),
        ),
        "the words skipped": lambda texts: (texts[:, :-1], torch.where(texts[:, 1:] > 0, -100, texts[:, 1:])),
        "100": lambda texts: (texts[:, :-1], texts[:, 1:] + 100 * (texts[:, 1:] == 0)),
        "-1": lambda texts: (texts[:, :-1], texts[:, 1:] - 1 * (texts[:, 1:] == 0)),
        "both marks dropped": lambda texts: (texts[:, 1:-1], by_where(texts[:, :-1])[1]),
        "backwards": lambda texts: (texts[:, 1:], texts[:, :-1].masked_fill(texts[:, 1:] == 0, -100)),
    }
}


UNKNOWN = {
    check_shifted_targets: {
        "all ignored": lambda texts: (texts[:, :-1], torch.full_like(texts[:, 1:], -100)),
    }
}


test_right_code_is_accepted, test_a_learners_mistake_is_named, test_an_unknown_fault_is_rejected = judged_as(
    RIGHT, NAMED, UNKNOWN
)
