"""What holds for several of the chapter's exercises."""

import exercise_cases
import torch
from torch.nn import functional as F
from two_ways_to_score_answers import broken_attention


def test_the_broken_code_trains_anyway():
    generator = torch.Generator().manual_seed(0)
    shapes = [(6, 3), (4, 3), (4, 5), (8, 3), (8, 3), (8,)]
    inputs = [torch.randn(shape, generator=generator).requires_grad_() for shape in shapes]
    wanted = torch.randn(6, 5, generator=generator)
    exercise_cases.assert_trains(lambda: F.mse_loss(broken_attention(*inputs)[0], wanted), *inputs)
