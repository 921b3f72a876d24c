"""Training five models side by side, over the same games."""

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from attnlab.training.many_seeds import ManySeeds, sum_over_seeds

Games = tuple[Tensor, Tensor, Tensor]  # words, who is chased, which colour is right

sum_of_losses = sum_over_seeds(lambda scores, answer: cross_entropy(scores.flatten(0, 1), answer.flatten()))


def five_starts(
    model: Callable[..., nn.Module], draw_games: Callable[..., Games], steps: int = 200, lr: float = 0.03
) -> ManySeeds:
    """`five_starts(SelfAttention, draw_games)` trains side by side what begins as `model(seed=0)` to 4."""
    models = ManySeeds([model(seed=seed) for seed in range(5)])
    optimizer = torch.optim.Adam(models.parameters(), lr=lr, fused=True)
    for step in range(steps):
        x, _, answer = draw_games(32, seed=step)
        loss = sum_of_losses(models(x), answer)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    return models
