"""The exercise `scaled_scores`, tried as readers would."""

import functools
import math

import exercise_cases
import torch
from exercise_cases import changed, combined, judged_as
from why_divide_by_root_dk_answers import ALL_PRODUCTS, scores_of

from chapters.why_divide_by_root_dk.exercises import (
    check_scaled_scores,
)


def in_place_on_its_own(product, query, key):
    result = product(query, key)
    result /= math.sqrt(key.shape[-1])
    return result


SCALINGS = {
    "query divided first": lambda product, query, key: product(query / math.sqrt(query.shape[-1]), key),
    "key multiplied first": lambda product, query, key: product(query, key * key.shape[-1] ** -0.5),
    "shared out": lambda product, query, key: product(
        query / query.shape[-1] ** 0.25, key / key.shape[-1] ** 0.25
    ),
    "root of a tensor": lambda product, query, key: product(query, key) / torch.tensor(query.size(-1)).sqrt(),
    "in float64": lambda product, query, key: (
        product(query.double(), key.double()) / query.shape[-1] ** 0.5
    ).to(query.dtype),
    "in place on its own result": in_place_on_its_own,
}


def key_reshaped(query, key):
    m, d_k = key.shape[-2:]
    return query @ key.reshape(*key.shape[:-2], d_k, m) / math.sqrt(d_k)


def divided_in_place(query, key):
    query /= math.sqrt(query.shape[-1])
    return query @ key.mT


RIGHT = {
    check_scaled_scores: combined(
        lambda product, scaling: functools.partial(scaling, product), ALL_PRODUCTS, SCALINGS
    )
}


NAMED = {
    check_scaled_scores: {
        "divided by d_k": lambda query, key: query @ key.mT / query.shape[-1],
        "root of the keys": lambda query, key: query @ key.mT / math.sqrt(key.shape[-2]),
        "reshaped": key_reshaped,
        "rounded root": lambda query, key: query @ key.mT / int(query.shape[-1] ** 0.5),
        "inner axes turned": lambda query, key: query @ key.transpose(1, 2) / math.sqrt(query.shape[-1]),
        "changes its inputs": divided_in_place,
        "query and key swapped": lambda query, key: key @ (query / query.shape[-1] ** 0.5).mT,
    }
}


UNKNOWN = {
    check_scaled_scores: exercise_cases.faults_of_scores(scores_of)
    | {
        "last component dropped": lambda query, key: scores_of(query[..., :-1], key[..., :-1]),
        "components reversed": lambda query, key: scores_of(query, key.flip(-1)),
        "too few bits inside": changed(
            scores_of, lambda scores: scores.to(torch.float8_e4m3fn).to(scores.dtype)
        ),
        "cube root": lambda query, key: query @ key.mT / query.shape[-1] ** (1 / 3),
        "log of softmax": changed(scores_of, lambda scores: scores.log_softmax(-1)),
        "softmax without scaling": lambda query, key: (query @ key.mT).softmax(-1),
    }
}


test_right_code_is_accepted, test_a_learners_mistake_is_named, test_an_unknown_fault_is_rejected = judged_as(
    RIGHT, NAMED, UNKNOWN
)
