"""The exercise `repaired_attention`, tried as readers would."""

import functools
import math

import exercise_cases
import torch
from exercise_cases import combined, judged_as, named, weighing_by
from torch.nn import functional as F
from why_divide_by_root_dk_answers import ALL_PRODUCTS, broken_attention, scaled_by, scores_of

from chapters.why_divide_by_root_dk.exercises import (
    check_repaired_attention,
)

attention = check_repaired_attention.reference


def test_the_broken_code_fails_and_its_one_passing_case_is_the_clue():
    exercise_cases.assert_still_broken(check_repaired_attention, broken_attention, "✓✗✗✗✗✗")


def fused_at_once(query, key, value):
    identity = torch.eye(key.shape[-2], dtype=key.dtype).expand(*key.shape[:-1], key.shape[-2])
    both = F.scaled_dot_product_attention(query, key, torch.cat([value, identity], dim=-1))
    return both.split([value.shape[-1], key.shape[-2]], dim=-1)


def transposed_throughout(query, key, value):
    weights = (key @ query.mT * query.shape[-1] ** -0.5).softmax(-2)
    return (value.mT @ weights).mT, weights.mT


def attention_by(product, softmax):
    return weighing_by(lambda query, key: softmax(product(query, key) / query.shape[-1] ** 0.5))


RIGHT = {
    check_repaired_attention: combined(attention_by, ALL_PRODUCTS, exercise_cases.SOFTMAXES)
    | exercise_cases.in_other_words(attention)
    | named(exercise_cases.fused, fused_at_once, transposed_throughout)
}


NAMED = {
    check_repaired_attention: {
        "not scaled": scaled_by(lambda query, key: 1),
        "root of d_v": lambda query, key, value: scaled_by(lambda *_: value.shape[-1] ** 0.5)(
            query, key, value
        ),
        "root of the queries": scaled_by(lambda query, key: math.sqrt(query.shape[-2])),
        "softmax over the queries": scaled_by(
            lambda query, key: math.sqrt(key.shape[-1]), functools.partial(torch.softmax, dim=-2)
        ),
        "both roots": scaled_by(lambda query, key: math.sqrt(key.shape[-1]) * math.sqrt(key.shape[-2])),
        "results swapped": lambda query, key, value: exercise_cases.fused(query, key, value)[::-1],
        "overflow": scaled_by(
            lambda query, key: math.sqrt(key.shape[-1]),
            lambda scores: scores.exp() / scores.exp().sum(-1, keepdim=True),
        ),
    }
}


UNKNOWN = {
    check_repaired_attention: exercise_cases.faults_of_trainable_attention(attention)
    | {
        "keys for queries": lambda query, key, value: attention(key, key, value),
        "weights before the softmax": lambda query, key, value: (
            attention(query, key, value)[0],
            scores_of(query, key),
        ),
        "cosine": lambda query, key, value: attention(F.normalize(query, dim=-1), key, value),
    }
}


test_right_code_is_accepted, test_a_learners_mistake_is_named, test_an_unknown_fault_is_rejected = judged_as(
    RIGHT, NAMED, UNKNOWN
)
