"""The exercise `position_shapes`, tried as readers would."""

import exercise_cases
import torch
from exercise_cases import judged_as

from attnlab import positions
from chapters.where_am_i.exercises import (
    check_position_shapes,
)

SHAPES = check_position_shapes.shapes


def test_the_shapes_are_what_pytorch_says():
    names = {
        "positions": torch.ones(5000, 1),
        "frequencies": torch.ones(8),
        "table": torch.ones(5000, 16),
        "words": torch.ones(32, 6, 16),
        "query": torch.ones(32, 4, 6, 4),
        "shift_rotation": positions.shift_rotation,
        "rotate": positions.rotate,
        "alibi_bias": positions.alibi_bias,
    }
    exercise_cases.assert_right_shapes(check_position_shapes, names)


RIGHT = {
    check_position_shapes: {
        "lists": {expression: list(shape) for expression, shape in SHAPES.items()},
        "torch.Size, in another order": {name: torch.Size(SHAPES[name]) for name in reversed(SHAPES)},
        "a function": lambda: dict(SHAPES),
    }
}


NAMED = {
    check_position_shapes: {
        "every other row": SHAPES | {"table[:, 0::2]": (2500, 16)},
        "in another order": SHAPES | {"table.unsqueeze(0)": (5000, 1, 16)},
        "a single number with an axis": SHAPES | {"table[7] @ table[10]": (1,)},
        "columns with columns": SHAPES | {"table[:6] @ table[:6].T": (16, 16)},
        "one row a step": SHAPES | {"shift_rotation(5, 16)": (5, 16)},
        "width appended": SHAPES | {"words + table[:6]": (32, 6, 32), "alibi_bias(4, 6, 6)": (32, 4, 6, 6)},
    }
}


test_right_code_is_accepted, test_a_learners_mistake_is_named, _ = judged_as(RIGHT, NAMED, {})
