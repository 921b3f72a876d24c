"""Many seeds at once, trained side by side as one; and how far the mean of a few may be off."""

import copy
import itertools
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, TypeAlias

import torch
from torch import Tensor, nn
from torch.func import functional_call, vmap

from attnlab import require

Loss: TypeAlias = Callable[[Any, Tensor], Tensor]  # (outputs, targets) -> one number


class ManySeeds(nn.Module):
    """`ManySeeds([build(seed) for seed in range(20)])(inputs)` has shape (20, …): twenty models run as one.

    The models have the same shape and differ in their weights. Here each parameter and buffer is theirs,
    stacked along a leading seed axis, and they share the inputs: one large operation does the work of twenty
    small ones. With `sum_over_seeds` as the loss no seed's gradient depends on another's, so an optimizer
    that treats each weight by itself (SGD, Adam) trains every seed as if alone. Clipping by the norm of all
    gradients would tie them together, and so does early stopping, which looks at the sum. nn.RNN, nn.GRU and
    nn.LSTM can't be stacked: PyTorch's vmap does not know them.

    >>> ManySeeds([nn.Linear(3, 2) for seed in range(20)])(torch.zeros(5, 3)).shape
    torch.Size([20, 5, 2])
    """

    def __init__(self, models: Sequence[nn.Module]) -> None:
        super().__init__()
        require.same_weights(models)
        self.member = copy.deepcopy(models[0])
        states = (itertools.chain(model.parameters(), model.buffers()) for model in (self.member, *models))
        for stacked, *tensors in zip(*states, strict=True):
            # .data keeps tied parameters tied.
            stacked.data = torch.stack([tensor.detach() for tensor in tensors])  # (seeds, …)

    def forward(self, *inputs: Tensor) -> Any:
        """`many(inputs)[seed]` is what that seed's model makes of the inputs."""

        def run(*state: Any) -> Any:
            return functional_call(self.member, state, inputs)

        state = dict(self.member.named_parameters()), dict(self.member.named_buffers())
        # "different": each seed draws its own dropout.
        return vmap(run, randomness="different")(*state)


def sum_over_seeds(loss: Loss) -> Loss:
    """`sum_over_seeds(F.mse_loss)` is the loss of a `ManySeeds`: outputs (seeds, batch, …), shared targets.

    >>> outputs, targets = torch.tensor([[1.0, 2.0], [5.0, 6.0]]), torch.tensor([1.0, 2.0])
    >>> sum_over_seeds(nn.functional.mse_loss)(outputs, targets).item()  # 0 and 16
    16.0
    """
    losses = vmap(loss, in_dims=(0, None))  # (outputs, targets) -> (seeds,)
    return lambda outputs, targets: losses(outputs, targets).sum()


@cache
def student(freedom: float, share: float = 0.95) -> float:
    """`student(2)` is 4.30: so many standard errors on either side catch 95 % of the means of three.

    Freedom is one less than there are numbers; where two means are compared, one less for each, or fewer
    where their spreads differ (Welch): then it need not be whole.

    >>> [round(student(freedom), 2) for freedom in (2, 4, 9, 1000)]
    [4.3, 2.78, 2.26, 1.96]
    """
    # Student's curve, summed in steps that grow with the distance: its tails are long.
    step = torch.linspace(0, 16, 200_001, dtype=torch.float64, device="cpu")
    away = torch.sinh(step)
    height = (1 + away**2 / freedom) ** (-(freedom + 1) / 2)
    area = torch.cumulative_trapezoid(height, away)
    place = int(torch.searchsorted(area, share * area[-1]))
    return float(away[place + 1])
