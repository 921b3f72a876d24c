"""The exercise `gate_shapes`, tried as readers would."""

import exercise_cases
import torch
from exercise_cases import judged_as

from chapters.what_is_attention.exercises import (
    check_gate_shapes,
)

SHAPES = check_gate_shapes.shapes


def test_the_shapes_are_what_pytorch_says():
    query, key, value = torch.rand(8, 1, 16), torch.rand(8, 10, 16), torch.rand(8, 10, 64)
    names = {"query": query, "key": key, "value": value, "weights": (query @ key.mT).softmax(-1)}
    names |= {"features": torch.rand(8, 64), "attention": torch.rand(8, 64)}
    exercise_cases.assert_right_shapes(check_gate_shapes, names)


NAMED = {
    check_gate_shapes: {
        "axis kept": SHAPES | {"attention.sum(-1)": (8, 1), "weights.sum(-1)": (8, 1, 1)},
        "axis of the query lost": SHAPES | {"query @ key.mT": (8, 10), "weights.sum(-1)": (8,)},
        "gate that sums": SHAPES | {"attention * features": (8,), "weights.mT * value": (8, 1, 64)},
        "summed over the features": SHAPES | {"(weights.mT * value).sum(-2)": (8, 10)},
    }
}


_, test_a_learners_mistake_is_named, _ = judged_as({}, NAMED, {})
