"""What holds for several of the chapter's exercises."""

import exercise_cases
import torch
from torch.nn import functional as F
from what_is_attention_answers import broken_regression


def test_the_broken_code_learns_its_bandwidth_anyway():
    generator = torch.Generator().manual_seed(0)
    key, query = (6 * torch.rand(40, 1, generator=generator) for _ in range(2))
    bandwidth = torch.tensor(3.0, requires_grad=True)
    exercise_cases.assert_trains(
        lambda: F.mse_loss(broken_regression(query, key, key.sin(), bandwidth)[0], query.sin()), bandwidth
    )
