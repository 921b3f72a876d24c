"""How far companions move a sentence, and what becomes of a signal on its way through a stack."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from attnlab.runtime import generator


def moved(
    norm: Callable[[Tensor], Tensor], batch: int, seed: int, tokens: int = 8, width: int = 32
) -> Tensor:
    """`moved(batch_norm, 2, seed=0)`: how far one sentence moves when its companions change.

    A root mean square.
    """
    drawn = torch.randn(2 * batch - 1, tokens, width, generator=generator(seed))
    one, others = drawn[:1], drawn[1:].chunk(2)
    first, second = (norm(torch.cat([one, each]))[0] for each in others)
    return (first - second).square().mean().sqrt()


def along(road: Sequence[Tensor], source: torch.Generator) -> tuple[Tensor, Tensor, Tensor]:
    """`along(list(after_each(stack, words)), generator(7))`: signal, gradient and likeness, layer by layer.

    The road is (models, B, T, width) after each layer, the embedding first. Each result is (layers, models):
    the size of the signal, that of the gradient, and the mean cosine of two tokens of a sentence.
    """
    length = road[0].shape[2]
    probe = torch.randn(road[-1].shape, generator=source).double().to(road[-1].device)
    gradients = torch.autograd.grad((road[-1] * probe / probe.norm()).sum(), road[1:])
    seen = [x.detach() for x in road]
    unit = [x / x.norm(dim=-1, keepdim=True) for x in seen]
    every = torch.stack([(u @ u.mT).mean((1, 2, 3)) for u in unit])
    return (
        torch.stack([x.square().mean((1, 2, 3)).sqrt() for x in seen]).cpu(),
        torch.stack([gradient.flatten(1).norm(dim=-1) for gradient in gradients]).cpu(),
        ((every * length - 1) / (length - 1)).cpu(),  # without each token with itself
    )
