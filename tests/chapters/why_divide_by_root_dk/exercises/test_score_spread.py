"""The exercise `score_spread`, tried as readers would."""

import math
import operator

import numpy as np
import torch
from exercise_cases import changed, judged_as

from chapters.why_divide_by_root_dk.exercises import (
    check_score_spread,
)

spread_of = check_score_spread.reference


SPREADS = {
    "root of the variance": lambda d_k, q, k: math.sqrt(d_k * q**2 * k**2),
    "sum of variances": lambda d_k, q, k: sum((q * k) ** 2 for _ in range(d_k)) ** 0.5,
    "tensor of one": lambda d_k, q, k: torch.tensor([d_k * q * q * k * k]).sqrt(),
    "float64 tensor": lambda d_k, q, k: torch.tensor(d_k, dtype=torch.float64).sqrt() * q * k,
    "numpy": lambda d_k, q, k: np.sqrt(d_k) * q * k,
    "float32 of numpy": lambda d_k, q, k: np.float32(math.sqrt(d_k) * q * k),
    "hypot": lambda d_k, q, k: math.hypot(*[q * k] * d_k),
    "exp of logs": lambda d_k, q, k: math.exp(0.5 * math.log(d_k) + math.log(q) + math.log(k)),
}


RIGHT = {check_score_spread: SPREADS}


NAMED = {
    check_score_spread: {
        "the variance": lambda d_k, q, k: d_k * (q * k) ** 2,
        "d_k without its root": lambda d_k, q, k: sum(q * k for _ in range(d_k)),
        "root of the spreads": lambda d_k, q, k: math.sqrt(d_k * q * k),
        "variances averaged": lambda d_k, q, k: math.sqrt(d_k * (q**2 + k**2) / 2),
        "ignored input": lambda d_k, q, k: math.sqrt(d_k) * q**2,
        "no d_k": lambda d_k, q, k: q * k,
    }
}


UNKNOWN = {
    check_score_spread: {
        "half": changed(spread_of, lambda spread: spread / 2),
        "one degree of freedom less": lambda d_k, q, k: math.sqrt(d_k - 1) * q * k,
        "mean of the spreads": lambda d_k, q, k: math.sqrt(d_k) * (q + k) / 2,
        "zero": lambda d_k, q, k: 0.0,
        "always 8": lambda d_k, q, k: 8,
        "quotient": lambda d_k, q, k: math.sqrt(d_k) * q / k,
        "negative": changed(spread_of, operator.neg),
        "rounded": changed(spread_of, lambda spread: float(round(spread))),
        "not a number": lambda d_k, q, k: math.nan,
    }
}


test_right_code_is_accepted, test_a_learners_mistake_is_named, test_an_unknown_fault_is_rejected = judged_as(
    RIGHT, NAMED, UNKNOWN
)
