"""The exercise `score_shapes`, tried as readers would."""

import exercise_cases
import torch
from exercise_cases import judged_as

from attnlab import scores
from chapters.two_ways_to_score.exercises import (
    check_score_shapes,
)

SHAPES = check_score_shapes.shapes


def test_the_shapes_are_what_pytorch_says():
    query, key, weight = torch.rand(8, 50, 32), torch.rand(8, 200, 48), torch.rand(32, 48)
    query_weight, key_weight = torch.rand(64, 32), torch.rand(64, 48)
    vector = torch.rand(64, requires_grad=True)
    names = {"query": query, "key": key, "weight": weight, "query_weight": query_weight, "vector": vector}
    names |= {"asked": query @ query_weight.T, "offered": key @ key_weight.T}
    names["hidden"] = (names["asked"].unsqueeze(-2) + names["offered"].unsqueeze(-3)).tanh()
    names["concat_weight"] = torch.cat([query_weight, key_weight], dim=-1)
    (names["hidden"] @ vector).sum().backward()
    # The one matrix does what the two do, so its shape is the right one.
    torch.testing.assert_close(
        scores.concat(query, key, names["concat_weight"], vector), names["hidden"] @ vector
    )
    exercise_cases.assert_right_shapes(check_score_shapes, names)


NAMED = {
    check_score_shapes: {
        "as wide as the query": SHAPES | {"query @ weight": (8, 50, 32)},
        "new axis in front": SHAPES | {"asked.unsqueeze(-2)": (8, 1, 50, 64)},
        "laid end to end": SHAPES
        | {"asked.unsqueeze(-2) + offered.unsqueeze(-3)": (8, 50, 200, 128), "concat_weight": (128, 80)},
        "axis of length 1 too many": SHAPES | {"hidden @ vector": (8, 50, 200, 1)},
        "axis of length 1 missing": SHAPES | {"asked.unsqueeze(-2)": (8, 50, 64)},
        "concat turned": SHAPES | {"concat_weight": (80, 64)},
        "a vector for each example": SHAPES | {"vector.grad": (8, 64)},
    }
}


_, test_a_learners_mistake_is_named, _ = judged_as({}, NAMED, {})
