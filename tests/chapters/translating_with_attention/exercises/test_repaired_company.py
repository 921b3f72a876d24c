"""The exercise `repaired_company`, tried as readers would."""

import math

import exercise_cases
import torch
from exercise_cases import judged_as
from torch.nn import functional as F

from chapters.translating_with_attention.exercises import (
    check_repaired_company,
)

contexts = check_repaired_company.reference


def test_the_broken_code_fails_and_its_passing_cases_are_the_clue():
    exercise_cases.assert_still_broken(check_repaired_company, zeros_for_padding, "✓✓✗✗✗")


def contexts_one_by_one(states, memory, lengths):
    return torch.stack(
        [
            (mine @ theirs[:length].mT).softmax(-1) @ theirs[:length]
            for mine, theirs, length in zip(states, memory, lengths, strict=True)
        ]
    )


def contexts_fused(states, memory, lengths):
    shown = torch.arange(memory.shape[1]) < lengths[:, None]
    return F.scaled_dot_product_attention(states, memory, memory, attn_mask=shown[:, None], scale=1.0)


def zeros_for_padding(states, memory, lengths):
    shown = torch.arange(memory.shape[1]) < lengths[:, None]  # (B, S)
    memory = memory * shown[:, :, None]
    weights = (states @ memory.mT).softmax(-1)
    return weights @ memory


RIGHT = {check_repaired_company: {"one by one": contexts_one_by_one, "fused": contexts_fused}}


NAMED = {
    check_repaired_company: {
        "still broken": zeros_for_padding,
        "no mask": lambda states, memory, lengths: (states @ memory.mT).softmax(-1) @ memory,
        "hidden after the softmax": lambda states, memory, lengths: (
            ((states @ memory.mT).softmax(-1) * (torch.arange(memory.shape[1]) < lengths[:, None])[:, None])
            @ memory
        ),
        "one word too few": lambda states, memory, lengths: contexts_one_by_one(
            states, memory, (lengths - 1).clamp(min=1)
        ),
        "one word too many": lambda states, memory, lengths: contexts_one_by_one(states, memory, lengths + 1),
        "divided again": lambda states, memory, lengths: (
            F.normalize(
                (states @ memory.mT).softmax(-1)
                * (torch.arange(memory.shape[1]) < lengths[:, None])[:, None],
                p=1,
                dim=-1,
                eps=0,
            )
            @ memory
        ),
        "infinite states": lambda states, memory, lengths: (
            (
                states
                @ memory.masked_fill(
                    (torch.arange(memory.shape[1]) >= lengths[:, None])[..., None], -math.inf
                ).mT
            ).softmax(-1)
            @ memory
        ),
        "softmax over the queries, NaN": lambda states, memory, lengths: (
            (states @ memory.mT)
            .masked_fill((torch.arange(memory.shape[1]) >= lengths[:, None])[:, None], -math.inf)
            .softmax(1)
            @ memory
        ),
        "the first length for all": lambda states, memory, lengths: contexts_one_by_one(
            states, memory, [int(lengths[0])] * len(lengths)
        ),
        "the shortest for all": lambda states, memory, lengths: contexts_one_by_one(
            states, memory, [int(lengths.min())] * len(lengths)
        ),
        "softmax over the queries": lambda states, memory, lengths: (
            (states @ memory.mT)
            .masked_fill((torch.arange(memory.shape[1]) >= lengths[:, None])[:, None], -1e9)
            .softmax(1)
            .masked_fill((torch.arange(memory.shape[1]) >= lengths[:, None])[:, None], 0)
            @ memory
        ),
    }
}


UNKNOWN = {
    check_repaired_company: {
        "memory reversed": lambda states, memory, lengths: contexts(states, memory.flip(1), lengths),
        "scaled": lambda states, memory, lengths: contexts(states / 3**0.5, memory, lengths),
    }
}


test_right, test_named, test_unknown = judged_as(RIGHT, NAMED, UNKNOWN)
