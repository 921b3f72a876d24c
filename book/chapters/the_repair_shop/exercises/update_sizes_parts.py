"""What `check_update_sizes` asks with, in parts that can be mistaken."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from bookkit.checking.mistakes import Part

RATE = 0.25


def _model(seed: int) -> nn.Module:
    """A table, two matrices, a norm, with weights of chance, on the processor."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        with torch.device("cpu"):
            return nn.Sequential(nn.Embedding(7, 4), nn.Linear(4, 5), nn.LayerNorm(5), nn.Linear(5, 3))


def measured(work: Callable[..., Any], kind: str, seed: int) -> Any:
    """`measured(my_function, "sgd", 1)` hands over a fresh model, and a step that changes it."""
    model, source = _model(seed), torch.Generator(device="cpu").manual_seed(seed)

    def step() -> None:
        with torch.no_grad():
            for place, weight in enumerate(model.parameters()):
                if kind == "frozen" and place == 1:
                    continue
                weight.grad = torch.randn(weight.shape, generator=source, device="cpu")
                if kind == "decay":
                    weight.mul_(1 - RATE)
                elif kind == "rows" and place == 0:
                    weight[2] -= weight.grad[2]
                else:
                    weight.sub_(RATE * weight.grad)

    return work(model, step)


def _sizes(
    model: nn.Module,
    step: Callable[[], None],
    *,
    kept: Part = lambda weight: weight.detach().clone(),
    chosen: Part = lambda weight: weight.dim() > 1,
    moved: Part = lambda after, before: (after - before).norm(),
    size: Part = lambda after, before: before.norm(),
    told: Part = torch.stack,
) -> Any:
    """How far each matrix moves in a step, as a share of what it was, (matrices,)."""
    weights = [weight for weight in model.parameters() if chosen(weight)]
    before = [kept(weight) for weight in weights]
    step()
    shares = [
        (moved(weight.detach(), old) / size(weight.detach(), old)).detach()
        for weight, old in zip(weights, before, strict=True)
    ]
    return told(shares)


def _of_gradient(model: nn.Module, step: Callable[[], None]) -> Tensor:
    step()
    matrices = [weight for weight in model.parameters() if weight.dim() > 1]
    return torch.stack(
        [
            torch.zeros(()) if weight.grad is None else weight.grad.norm() / weight.detach().norm()
            for weight in matrices
        ]
    )
