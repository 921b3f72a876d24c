"""What holds for several of the chapter's exercises."""

import pytest
import torch

from chapters.who_may_look_where.exercises.leak_proofs import suspects


@pytest.mark.parametrize(("place", "leaks"), list(enumerate([False, True, True, True, True, False])))
def test_four_of_the_six_suspects_leak(place, leaks):
    model = suspects()[place]
    one = torch.randint(6, (50, 8), generator=torch.Generator().manual_seed(0))
    moved = 0.0
    for start in range(1, 8):
        other = torch.cat([one[:, :start], (one[:, start:] + 1) % 6], dim=-1)
        moved = max(moved, (model(one) - model(other))[:, :start].abs().max().item())
    assert (moved > 0.1) is leaks
