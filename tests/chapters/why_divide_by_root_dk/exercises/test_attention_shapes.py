"""The exercise `attention_shapes`, tried as readers would."""

import math

import exercise_cases
import torch
from exercise_cases import judged_as
from why_divide_by_root_dk_answers import softmax

from chapters.why_divide_by_root_dk.exercises import (
    check_attention_shapes,
)

SHAPES = check_attention_shapes.shapes


def test_the_shapes_are_what_pytorch_says():
    query, key, value = torch.rand(8, 4, 50, 64), torch.rand(8, 4, 200, 64), torch.rand(8, 4, 200, 32)
    query.requires_grad_()
    scores = query @ key.mT / math.sqrt(64)
    weights = scores.softmax(-1)
    (weights @ value).sum().backward()
    names = {"query": query, "key": key, "value": value, "scores": scores, "weights": weights}
    names |= {"jacobian": torch.autograd.functional.jacobian, "one_row": scores[0, 0, 0], "softmax": softmax}
    exercise_cases.assert_right_shapes(check_attention_shapes, names)


RIGHT = {
    check_attention_shapes: {
        "lists": {expression: list(shape) for expression, shape in SHAPES.items()},
        "torch.Size, in another order": {name: torch.Size(SHAPES[name]) for name in reversed(SHAPES)},
        "a function": lambda: dict(SHAPES),
    }
}


NAMED = {
    check_attention_shapes: {
        "a single number with an axis": SHAPES | {"scores.std()": (1,)},
        "axis kept": SHAPES | {"weights.sum(-1)": (8, 4, 50, 1)},
        "d_k for d_v": SHAPES | {"weights @ value": (8, 4, 50, 64)},
        "Jacobian as a vector": SHAPES | {"jacobian(softmax, one_row)": (200,)},
        "gradient of one number": SHAPES | {"query.grad": ()},
        "query and key swapped": SHAPES
        | {"query @ key.mT": (8, 4, 200, 50), "scores.softmax(-1)": (8, 4, 200, 50)}
        | {"weights.sum(-1)": (8, 4, 200)},
    }
}


test_right_code_is_accepted, test_a_learners_mistake_is_named, _ = judged_as(RIGHT, NAMED, {})
