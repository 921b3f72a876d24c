"""What this chapter trains: a small model that guesses for that of today; and what a piece costs."""

from collections.abc import Callable

import torch
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from attnlab.attention import Cache
from attnlab.today.model import Today
from attnlab.training.history import History
from chapters.a_gpt_of_your_own.models import CONTEXT, VOCABULARY
from chapters.the_block_of_today.models import RATE, spread, trained


def small() -> Today:
    """`small()` has 78,000 weights, a seventh of the large one's."""
    return Today(
        VOCABULARY, d_model=32, heads=2, groups=1, hidden=96, layers=1, longest=CONTEXT, spread=spread(32)
    )


def hollow() -> Today:
    """`hollow()` has as many parts as the model of today, and only 2,700 weights."""
    return Today(16, d_model=12, heads=6, groups=2, hidden=12, layers=3, longest=CONTEXT, spread=spread(12))


@torch.no_grad()
def arithmetic(model: Today, length: int, cached: bool) -> int:
    """`arithmetic(model, 128, cached=True)` are the operations for piece 128, by PyTorch's count.

    Without a cache all pieces before it are read again. Logits are made for the last one alone. What a mask
    hides is counted, too.
    """
    ids, caches = torch.zeros(1, length, dtype=torch.int64), None
    if cached:
        caches = [Cache() for _ in model.blocks]
        model(ids[:, :-1], caches)
        ids = ids[:, -1:]
    hook = model.norm.register_forward_hook(lambda *each: each[-1][:, -1:])
    with FlopCounterMode(display=False) as counted, sdpa_kernel(SDPBackend.MATH):
        model(ids, caches)
    hook.remove()
    return int(counted.get_total_flops())


def recipe(seed: int) -> tuple[nn.Module, History]:
    """`model, history = recipe(seed=0)`: its rate is that of today · 96/32, as `growth` has it."""
    torch.manual_seed(seed)
    return trained(small(), 3000, 3 * RATE, seed)


RECIPES: dict[str, Callable[[int], tuple[nn.Module, History]]] = {"small": recipe}
