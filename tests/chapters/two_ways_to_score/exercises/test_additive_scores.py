"""The exercise `additive_scores`, tried as readers would."""

import exercise_cases
import torch
from exercise_cases import changed, judged_as
from torch import nn
from torch.nn import functional as F
from two_ways_to_score_answers import SCORES, by_einsum

from chapters.two_ways_to_score.exercises import (
    check_additive_scores,
)


def tanh_first(query, key, query_weight, key_weight, vector):
    asked, offered = (query @ query_weight.T).tanh(), (key @ key_weight.T).tanh()
    return (asked.unsqueeze(-2) + offered.unsqueeze(-3)) @ vector


def axes_from_the_front(query, key, query_weight, key_weight, vector):
    return ((query @ query_weight.T).unsqueeze(1) + (key @ key_weight.T).unsqueeze(0)).tanh() @ vector


def repeats_mixed_up(query, key, query_weight, key_weight, vector):
    n, m, lead = query.shape[-2], key.shape[-2], [1] * (query.dim() - 2)
    asked = (query @ query_weight.T).repeat(*lead, m, 1)  # q1 q2 … q1 q2 …
    offered = (key @ key_weight.T).repeat_interleave(n, dim=-2)  # k1 k1 … k2 k2 …
    return ((asked + offered).tanh() @ vector).reshape(*query.shape[:-2], n, m)


def reshaped_weights(query, key, query_weight, key_weight, vector):
    h = len(vector)
    asked, offered = query @ query_weight.reshape(-1, h), key @ key_weight.reshape(-1, h)
    return (asked.unsqueeze(-2) + offered.unsqueeze(-3)).tanh() @ vector


def as_numbers(*inputs):
    return torch.tensor(by_einsum(*inputs).tolist(), dtype=inputs[0].dtype)


RIGHT = {check_additive_scores: SCORES}


NAMED = {
    check_additive_scores: {
        "tanh of each side": tanh_first,
        "leading axes": axes_from_the_front,
        "in other places": repeats_mixed_up,
        "softmax as well": changed(by_einsum, nn.Softmax(-1)),
        "reshaped": reshaped_weights,
        "no gradient": as_numbers,
    }
}


UNKNOWN = {
    check_additive_scores: exercise_cases.faults_of_scores(by_einsum)
    | {
        "last unit dropped": lambda query, key, left, right, vector: by_einsum(
            query, key, left[:-1], right[:-1], vector[:-1]
        ),
        "vector reversed": lambda *inputs: by_einsum(*inputs[:-1], inputs[-1].flip(0)),
        "hard tanh": lambda query, key, left, right, vector: (
            F.hardtanh((query @ left.T).unsqueeze(-2) + (key @ right.T).unsqueeze(-3)) @ vector
        ),
    }
}


test_right_code_is_accepted, test_a_learners_mistake_is_named, test_an_unknown_fault_is_rejected = judged_as(
    RIGHT, NAMED, UNKNOWN
)
