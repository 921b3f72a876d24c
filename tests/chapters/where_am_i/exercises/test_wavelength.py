"""The exercise `wavelength`, tried as readers would."""

import math
import operator

import numpy as np
import torch
from exercise_cases import changed, judged_as

from chapters.where_am_i.exercises import (
    check_wavelength,
)

wavelength_of = check_wavelength.reference


RIGHT = {
    check_wavelength: {
        "tau": lambda column, d_model, base: math.tau * base ** ((column - column % 2) / d_model),
        "tensor": lambda column, d_model, base: math.tau * torch.tensor(base) ** ((column & ~1) / d_model),
        "numpy, over the frequency": lambda column, d_model, base: (
            2 * np.pi / np.power(base, -2 * np.floor(column / 2) / d_model)
        ),
        "logarithm": lambda column, d_model, base: math.exp(
            math.log(math.tau) + (column // 2) * 2 / d_model * math.log(base)
        ),
    }
}


NAMED = {
    check_wavelength: {
        "an angle for each column": lambda column, d_model, base: math.tau * base ** (column / d_model),
        "exponent halved": lambda column, d_model, base: math.tau * base ** (column // 2 / d_model),
        "without 2π": lambda column, d_model, base: base ** (column // 2 * 2 / d_model),
        "pairs from column 1": lambda column, d_model, base: (
            math.tau * base ** (2 * ((column + 1) // 2) / d_model)
        ),
        "rounded": changed(wavelength_of, math.ceil),
        "upside down": changed(wavelength_of, lambda length: 1 / length),
        "constant factor": changed(wavelength_of, lambda length: length / 2),
    }
}


UNKNOWN = {
    check_wavelength: {
        "always 2π": lambda column, d_model, base: math.tau,
        "one pair on": lambda column, d_model, base: wavelength_of(column + 2, d_model, base),
        "base times the share": lambda column, d_model, base: math.tau * base * column / d_model,
        "negative": changed(wavelength_of, operator.neg),
        "not a number": lambda column, d_model, base: math.nan,
    }
}


test_right_code_is_accepted, test_a_learners_mistake_is_named, test_an_unknown_fault_is_rejected = judged_as(
    RIGHT, NAMED, UNKNOWN
)
