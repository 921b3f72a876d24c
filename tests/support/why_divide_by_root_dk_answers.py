"""Answers to the exercises of *why divide by root dk* that several of its tests begin with."""

import functools
import math

import exercise_cases
import torch
from exercise_cases import weighing_by
from torch.nn import functional as F

from chapters.why_divide_by_root_dk.exercises import (
    check_scaled_scores,
)

scores_of = check_scaled_scores.reference


softmax = functools.partial(torch.softmax, dim=-1)


def scaled_by(divisor, weigh=softmax):
    return weighing_by(lambda query, key: weigh(query @ key.mT / divisor(query, key)))


broken_attention = scaled_by(lambda query, key: math.sqrt(key.shape[-2]))


def filled_dot(query, key):
    result = torch.empty(*query.shape[:-1], key.shape[-2], dtype=query.dtype)
    for j in range(key.shape[-2]):
        result[..., j] = (query * key[..., j : j + 1, :]).sum(-1)
    return result


ALL_PRODUCTS = exercise_cases.PRODUCTS | {
    "cosine": lambda query, key: (
        F.cosine_similarity(query.unsqueeze(-2), key.unsqueeze(-3), dim=-1)
        * query.norm(dim=-1).unsqueeze(-1)
        * key.norm(dim=-1).unsqueeze(-2)
    ),
    "filled in": filled_dot,
}
