"""The exercise `mask_shapes`, tried as readers would."""

import exercise_cases
import torch
from exercise_cases import judged_as

from attnlab import masks
from attnlab.attention import masked_softmax
from chapters.who_may_look_where.exercises import (
    check_mask_shapes,
)

SHAPES = check_mask_shapes.shapes


def test_the_shapes_are_what_attnlab_makes():
    padding, causal = masks.padding(torch.tensor([7, 4, 2])), masks.causal(5, 7)
    names = {"padding": padding, "causal": causal, "both": masks.combine(padding, causal)}
    names |= {"for_heads": masks.for_heads, "to_multihead": masks.to_multihead}
    names |= {"masked_softmax": masked_softmax, "scores": torch.zeros(3, 4, 5, 7)}
    exercise_cases.assert_right_shapes(check_mask_shapes, names)


RIGHT = {
    check_mask_shapes: {
        "lists": {expression: list(shape) for expression, shape in SHAPES.items()},
        "a function": lambda: dict(SHAPES),
    }
}


NAMED = {
    check_mask_shapes: {
        "no axis for the queries": SHAPES | {"padding": (3, 7)},
        "no axis for the texts": SHAPES | {"causal": (5, 7)},
        "written out for every head": SHAPES | {"for_heads(both)": (3, 4, 5, 7)},
        "heads on an axis of their own": SHAPES | {'to_multihead(both, heads=4)["attn_mask"]': (3, 4, 5, 7)},
        "our shape in their module": SHAPES
        | {'to_multihead(padding, heads=4)["key_padding_mask"]': (3, 1, 7)},
        "as many queries as keys": SHAPES | {"causal": (1, 7, 7)},
    }
}


test_right_code_is_accepted, test_a_learners_mistake_is_named, _ = judged_as(RIGHT, NAMED, {})
