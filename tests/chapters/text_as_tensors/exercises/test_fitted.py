"""The exercise `fitted`, tried as readers would."""

from collections import deque

import torch
from exercise_cases import judged_as, named
from torch.nn import functional as F
from torchtext import data

from chapters.text_as_tensors.exercises import (
    check_fitted,
)


def with_pad(ids, length, front, pad):
    missing = length - len(ids)  # a negative padding cuts
    return F.pad(ids, (missing, 0) if front else (0, missing), value=pad)


def by_torchtext(ids, length, front, pad):
    field = data.Field(
        use_vocab=False, fix_length=length, pad_token=pad, pad_first=front, truncate_first=front
    )
    return field.process([ids.tolist()])[:, 0]


def in_a_deque(ids, length, front, pad):
    row = deque([pad] * length + ids.tolist() if front else ids.tolist()[:length], maxlen=length)
    return torch.tensor([*row, *[pad] * (length - len(row))], dtype=torch.int32)


def fitted_by(kept, fill=lambda count, pad: torch.full((count,), pad), pad_in_front=lambda front: front):
    def code(ids, length, front, pad):
        row = kept(ids, length) if front else ids[:length]
        filler = fill(length - len(row), pad)
        return torch.cat([filler, row] if pad_in_front(front) else [row, filler])

    return code


def last(ids, length):
    return ids[max(0, len(ids) - length) :]


RIGHT = {check_fitted: named(with_pad, by_torchtext, in_a_deque)}


NAMED = {
    check_fitted: {
        "a negative start": fitted_by(lambda ids, length: ids[len(ids) - length :]),
        "cut at the back, whatever `front` says": fitted_by(lambda ids, length: ids[:length]),
        "padded at the back, whatever `front` says": fitted_by(last, pad_in_front=lambda front: False),
        "0 for every padding": fitted_by(last, lambda count, pad: torch.zeros(count, dtype=torch.int64)),
        "floating-point numbers": fitted_by(last, lambda count, pad: torch.ones(count) * pad),
        "not turned back": lambda ids, length, front, pad: torch.cat(
            [ids.flip(0) if front else ids, torch.full((length,), pad)]
        )[:length],
    }
}


UNKNOWN = {
    check_fitted: {
        "the middle": lambda ids, length, front, pad: ids[len(ids) // 2 :][:length],
    }
}


test_right_code_is_accepted, test_a_learners_mistake_is_named, test_an_unknown_fault_is_rejected = judged_as(
    RIGHT, NAMED, UNKNOWN
)
