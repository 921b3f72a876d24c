"""The exercise `projection_shapes`, tried as readers would."""

import exercise_cases
import torch
from exercise_cases import judged_as, words

from chapters.queries_keys_and_values_that_learn.exercises import (
    check_projection_shapes,
)

SHAPES = check_projection_shapes.shapes


def test_the_shapes_are_what_pytorch_says():
    words, to_query, to_key = torch.rand(8, 6, 18), torch.rand(18, 4), torch.rand(18, 4)
    to_value = torch.rand(18, 10, requires_grad=True)
    query, key, value = words @ to_query, words @ to_key, words @ to_value
    weights = (query @ key.mT).softmax(-1)
    (weights @ value).sum().backward()
    exercise_cases.assert_right_shapes(check_projection_shapes, locals())


NAMED = {
    check_projection_shapes: {
        "batch forgotten": SHAPES | {"words @ to_query": (6, 4), "query @ key.mT": (6, 6)},
        "width kept": SHAPES | {"words @ to_query": (8, 6, 18)},
        "numbers where words should be": SHAPES | {"words @ words.mT": (8, 18, 18)},
        "one sum for each game": SHAPES | {"weights.sum(-1)": (8,)},
        "as wide as a key": SHAPES | {"weights @ value": (8, 6, 4)},
        "the narrow side": SHAPES | {"to_query @ to_key.mT": (4, 4)},
        "a matrix for each game": SHAPES | {"to_value.grad": (8, 18, 10)},
        "as wide as a word": SHAPES | {"weights @ value": (8, 6, 18)},
        "a product for each game": SHAPES | {"to_query @ to_key.mT": (8, 18, 18)},
    }
}


_, test_a_learners_mistake_is_named, _ = judged_as({}, NAMED, {})


def test_only_what_runs_over_a_words_numbers_is_said_to():
    expressions = [expression for expression in SHAPES if not expression.startswith("words @")]
    for expression in expressions:
        said = words(check_projection_shapes.judge(SHAPES | {expression: (8, 6, 18)}))
        assert "sums over the 18 numbers" not in said, expression
