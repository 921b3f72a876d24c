"""The exercise `repaired_regression`, tried as readers would."""

import math

import exercise_cases
import torch
from exercise_cases import combined, judged_as, shifted_exp, weighing_by
from torch import distributions
from torch.nn import functional as F
from what_is_attention_answers import broken_regression, regression

from chapters.what_is_attention.exercises import (
    check_repaired_regression,
)


def test_the_broken_code_fails_and_its_one_passing_case_is_the_clue():
    exercise_cases.assert_still_broken(check_repaired_regression, broken_regression, "✓✗✗✗✗✗")


def expanded_square(query, key):
    squares = query.square().sum(-1).unsqueeze(-1) + key.square().sum(-1).unsqueeze(-2)
    return squares - 2 * query @ key.mT


DISTANCES = {
    "cdist squared": lambda query, key: torch.cdist(query, key) ** 2,
    "differences": lambda query, key: (query.unsqueeze(-2) - key.unsqueeze(-3)).square().sum(-1),
    "expanded": expanded_square,
    # Without the query's own square, which the softmax does not see.
    "key's square alone": lambda query, key: key.square().sum(-1).unsqueeze(-2) - 2 * query @ key.mT,
}


KERNELS = {
    "half outside": lambda squared, width: (-0.5 * squared / width.square()).softmax(-1),
    "softmin": lambda squared, width: F.softmin(squared / (2 * width**2), dim=-1),
    "shifted": lambda squared, width: shifted_exp(-squared / (2 * width**2)),
}


def regression_by(distance, kernel):
    return weighing_by(lambda query, key, width: kernel(distance(query, key), width))


def bells(query, key, width):
    """Of log densities, the bell's height cancels."""
    log_density = distributions.Normal(key.unsqueeze(-3), width.abs()).log_prob(query.unsqueeze(-2))
    return log_density.sum(-1).softmax(-1)


def regression_scoring(score):
    return weighing_by(lambda query, key, width: score(query, key, width).softmax(-1))


RIGHT = {
    check_repaired_regression: combined(regression_by, DISTANCES, KERNELS)
    | exercise_cases.in_other_words(regression)
    | {"bells": weighing_by(bells)}
}


NAMED = {
    check_repaired_regression: {
        "2 squared with the bandwidth": regression_scoring(
            lambda query, key, width: -((torch.cdist(query, key) / (2 * width)) ** 2)
        ),
        "bandwidth without its square": regression_scoring(
            lambda query, key, width: -torch.cdist(query, key).square() / (2 * width)
        ),
        "dot products": regression_scoring(lambda query, key, width: query @ key.mT / width**2),
        "distance of city blocks": regression_scoring(
            lambda query, key, width: (
                -(query.unsqueeze(-2) - key.unsqueeze(-3)).abs().sum(-1).square() / (2 * width**2)
            )
        ),
        "no gradient": lambda query, key, value, width: regression(query, key, value, float(width)),
        "overflow": weighing_by(
            lambda query, key, width: F.normalize(
                (-torch.cdist(query, key).square() / (2 * width**2)).exp(), p=1, dim=-1, eps=0
            )
        ),
    }
}


UNKNOWN = {
    check_repaired_regression: exercise_cases.faults_of_trainable_attention(regression)
    | {
        "Epanechnikov's kernel": weighing_by(
            lambda query, key, width: (1 - torch.cdist(query, key) / width).clamp(min=0)
        ),
        "largest component": regression_scoring(
            lambda query, key, width: -(torch.cdist(query, key, p=math.inf) ** 2) / (2 * width**2)
        ),
    }
}


test_right_code_is_accepted, test_a_learners_mistake_is_named, test_an_unknown_fault_is_rejected = judged_as(
    RIGHT, NAMED, UNKNOWN
)
