"""The exercise `deep_without_norm`, tried as readers would."""

import pytest
import torch
from exercise_cases import judged_as
from torch.nn import functional as F

from chapters.keeping_numbers_in_range.exercises import (
    check_deep_without_norm,
)

# Each answer is a training.
pytestmark = pytest.mark.thorough

RIGHT = {
    check_deep_without_norm: {
        "a fifth": lambda x, block: x + 0.15 * block(x),
        "a hundredth part more": lambda x, block: 0.05 * block(x) + x,
        "less": lambda x, block: x - 0.1 * block(x),
        "twelfth": lambda x, block: torch.add(x, block(x), alpha=1 / 12),
    }
}


NAMED = {
    check_deep_without_norm: {
        "residual alone": lambda x, block: block(x) + x,
        "plain": lambda x, block: 1.0 * block(x),
        "block left out": lambda x, block: x.clone(),
        "post-norm": lambda x, block: F.normalize(x + block(x), dim=-1),
        "pre-norm": lambda x, block: x + 0.1 * block(x / x.norm(dim=-1, keepdim=True)),
        "squashed inside": lambda x, block: x + 0.1 * block(x.clamp(-1, 1)),
        "cut off": lambda x, block: (x + 0.1 * block(x.detach())).detach(),
        "squashed": lambda x, block: torch.clamp(x + 0.1 * block(x), -2, 2),
        "averaged": lambda x, block: torch.lerp(x, block(x), 0.5),
        "fading": lambda x, block: torch.lerp(x, block(x), 0.1),
        "hardly heard": lambda x, block: x + block(0.1 * x),
        "multiplied by each other": lambda x, block: x + x * block(x),
        "from nothing": lambda x, block: x + 1,
    }
}


UNKNOWN = {
    check_deep_without_norm: {
        "a small road": lambda x, block: 0.01 * x + 0.1 * block(x),
        "a fading road": lambda x, block: 0.7 * x + 0.3 * block(x),
        "the block alone": lambda x, block: block,
        "one token": lambda x, block: x[:, :1],
        "raises": lambda x, block: x + block(x, x),
    }
}


test_right_code_is_accepted, test_a_learners_mistake_is_named, test_an_unknown_fault_is_rejected = judged_as(
    RIGHT, NAMED, UNKNOWN
)
