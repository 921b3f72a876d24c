"""The exercise `norm_shapes`, tried as readers would."""

import exercise_cases
import torch
from exercise_cases import judged_as
from torch import nn

from chapters.keeping_numbers_in_range.exercises import (
    check_norm_shapes,
)

SHAPES = check_norm_shapes.shapes


def test_the_shapes_are_what_pytorch_says():
    exercise_cases.assert_right_shapes(check_norm_shapes, {"x": torch.ones(2, 10, 5), "nn": nn})


RIGHT = {
    check_norm_shapes: {
        "lists": {expression: list(shape) for expression, shape in SHAPES.items()},
        "torch.Size": {expression: torch.Size(shape) for expression, shape in SHAPES.items()},
        "a function": lambda: dict(SHAPES),
    }
}


NAMED = {
    check_norm_shapes: {
        "keepdim forgotten": SHAPES | {"x.mean(-1, keepdim=True)": (2, 10)},
        "last axis alone": SHAPES | {"nn.LayerNorm((10, 5)).weight": (5,)},
        "a norm that averages": SHAPES | {"nn.LayerNorm(5)(x)": (2, 10)},
        "turned back": SHAPES | {"nn.BatchNorm1d(5)(x.mT)": (2, 10, 5)},
        "the axes that go": SHAPES | {"x.mean(-1)": (5,), "x.mean((0, 1))": (2, 10)},
        "a mean for each example": SHAPES | {"nn.BatchNorm1d(5).running_mean": (2, 5)},
    }
}


test_right_code_is_accepted, test_a_learners_mistake_is_named, _ = judged_as(RIGHT, NAMED, {})
