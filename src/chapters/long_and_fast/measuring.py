"""How operations, seconds and bytes are measured here."""

import math
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from bookkit.memory import peak_memory

CPU = torch.device("cpu")  # where the profiler sees every byte
D, HEADS = 96, 6  # of the block that is measured

Attention = Callable[..., Tensor]
Run = Callable[[], object]


def operations(block: nn.Module, n: int, backward: bool = False) -> int:
    """`operations(block, 576)` is what a block does for 576 words, or for a step of training with them."""
    x = torch.zeros(1, n, D, requires_grad=backward)
    unturned = torch.zeros(1, 1, 1, D // HEADS // 2)
    with FlopCounterMode(display=False) as counted, sdpa_kernel(SDPBackend.MATH):
        output = block(x, unturned, None, None)
        if backward:
            output.sum().backward()
    return counted.get_total_flops()


def times_as_long(slow: Run, fast: Run, turns: int = 7) -> float:
    """`times_as_long(slow, fast)` runs them in turns, and counts this process's own seconds."""
    seconds: dict[Run, list[float]] = {slow: [], fast: []}
    for run in turns * [slow, fast]:
        start = time.process_time()
        run()
        seconds[run].append(time.process_time() - start)
    return min(seconds[slow]) / min(seconds[fast])  # what other programs add is not ours


def by_weights(n: int) -> Run:
    """`by_weights(576)()` takes 576 words through all weights of a block."""
    shapes = 4 * [(D, D)] + 2 * [(D, 256)] + [(256, D)]
    matrices = [torch.randn(*shape) for shape in shapes]
    x, wide = torch.randn(n, D), torch.randn(n, 256)
    return lambda: [(wide if len(each) == 256 else x) @ each for each in matrices]


def by_pairs(attention: Attention, n: int, heads: int) -> Run:
    """`by_pairs(attention, 576, 6)()` is six heads' attention among 576 words."""
    x = torch.randn(heads, n, D // heads)
    return lambda: attention(x, x, x)


def held_in_training(attention: Attention, n: int, layers: int) -> int:
    """`held_in_training(attention, 512, 3)` is how many bytes are held at most, on the way there and back."""

    def run() -> None:
        x = torch.zeros(HEADS, n, D // HEADS, requires_grad=True)
        for _ in range(layers):
            x = x + attention(x, x, x)
        x.sum().backward()  # type: ignore[no-untyped-call]

    return peak_memory(run, CPU)


def whole(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """`whole(query, key, value)` is attention with all of its table."""
    return (query / math.sqrt(query.shape[-1]) @ key.mT).softmax(-1) @ value


def peak(attention: Attention, n: int, **options: Any) -> int:
    """`peak(whole, 512)` is how many bytes it holds at most beside its inputs."""
    return peak_memory(partial(attention, *torch.randn(3, n, 32, device=CPU), **options), CPU)
