"""What holds for several of the chapter's exercises."""

import exercise_cases
import torch
from torch.nn import functional as F
from why_divide_by_root_dk_answers import broken_attention


def test_the_broken_code_trains_anyway():
    generator = torch.Generator().manual_seed(0)
    query, key, value = (torch.randn(6, 4, generator=generator).requires_grad_() for _ in range(3))
    wanted = torch.randn(6, 4, generator=generator)
    exercise_cases.assert_trains(
        lambda: F.mse_loss(broken_attention(query, key, value)[0], wanted), query, key, value
    )
