"""The exercise `remembering`, tried as readers would."""

import pytest
import torch
from exercise_cases import judged_as, words

from chapters.three_ways_to_read_a_sequence.exercises import (
    check_remembering,
)

# Each answer is a training.
pytestmark = pytest.mark.thorough


def drawn(longest, steps):
    def make():
        distances = torch.randint(1, longest + 1, (steps,), generator=torch.Generator().manual_seed(3))
        return distances[distances.cumsum(0) <= 2400].tolist()

    return make


def enormous():
    return torch.ones((), dtype=torch.int64).expand(1_000_000, 1_000_000)


def test_of_an_enormous_plan_the_shape_is_told():
    """Before: its numbers were written out, until no memory was left."""
    assert "of shape (1000000, 1000000): far too many numbers" in words(check_remembering.judge(enormous))


RIGHT = {
    check_remembering: {
        "drawn": drawn(15, 300),
        "all eight": lambda: [8] * 300,
        "all sixteen": lambda: [16] * 150,
        "growing": lambda: [1 + step // 15 for step in range(210)],
        "a tensor": lambda: torch.tensor([8] * 300),
        "NumPy's numbers": lambda: [*torch.tensor([8] * 300).numpy()],
        "a range": lambda: range(1, 69),
    }
}


NAMED = {
    check_remembering: {
        "48 alone": lambda: [24] * 100,
        "short alone": lambda: [3, 2] * 150,
        "over the budget": lambda: [8] * 301,
        "no distance": lambda: [0] * 100,
        "nothing": lambda: [],
    }
}


UNKNOWN = {
    check_remembering: {
        "a number": lambda: 48,
        "halves": lambda: [0.5] * 10,
        "a million by a million": enormous,
        "raises": lambda: [1] + 1,
    }
}


test_right_code_is_accepted, test_a_learners_mistake_is_named, test_an_unknown_fault_is_rejected = judged_as(
    RIGHT, NAMED, UNKNOWN
)
