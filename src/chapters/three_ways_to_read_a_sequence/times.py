"""How long the three readers take: `python -m chapters.three_ways_to_read_a_sequence.times` measures anew.

A page can't hold times that change with each run. So the figure draws those that were measured once, and
the chapter claims of its own run what they have in common.
"""

import math
import statistics
import time
from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from attnlab import masks
from attnlab.attention import attend

WIDTH = 32
LENGTHS = (16, 32, 64, 128, 256, 512, 1024, 2048)
# Milliseconds for four texts, forward and back: medians of seven turns, in which the readers took turns. One
# thread of a cloud machine's core, torch 2.13.
MEASURED = {
    "recurrence": (1.29, 2.24, 4.41, 9.59, 22, 48.1, 97.7, 199),
    "convolution": (0.892, 1.28, 1.51, 2.4, 3.64, 6.36, 11.2, 18.1),
    "attention": (0.445, 0.454, 0.616, 1.24, 4.61, 14.1, 65.1, 316),
    "PyTorch's attention": (0.189, 0.209, 0.329, 0.735, 2.15, 7.24, 25.9, 64.6),
}


def readers() -> dict[str, Callable[[Tensor], Tensor]]:
    """`readers()["recurrence"](x)` reads (B, T, 32): PyTorch's GRU, convolutions that reach back to the first
    word, and causal attention: by attnlab, which writes out the square of weights, and by PyTorch, which
    need not."""
    torch.manual_seed(0)
    gru = nn.GRU(WIDTH, WIDTH, batch_first=True, dtype=torch.float32)
    layers = math.ceil(math.log2(LENGTHS[-1]))
    windows = nn.ModuleList(
        nn.Conv1d(WIDTH, WIDTH, 2, dilation=2**layer, dtype=torch.float32) for layer in range(layers)
    )
    project = nn.Linear(WIDTH, 3 * WIDTH, dtype=torch.float32)

    def convolution(x: Tensor) -> Tensor:
        y = x.mT  # (B, 32, T)
        for layer in range(math.ceil(math.log2(x.shape[1]))):
            y = windows[layer](F.pad(y, (2**layer, 0))).relu()
        return y.mT

    def attention(x: Tensor) -> Tensor:
        query, key, value = project(x).chunk(3, -1)
        return attend(query, key, value, mask=masks.causal(x.shape[1]))[0]

    def of_pytorch(x: Tensor) -> Tensor:
        query, key, value = project(x)[:, None].chunk(3, -1)  # (B, 1, T, 32) each: with one head
        return F.scaled_dot_product_attention(query, key, value, is_causal=True)[:, 0]

    return {
        "recurrence": lambda x: gru(x)[0],
        "convolution": convolution,
        "attention": attention,
        "PyTorch's attention": of_pytorch,
    }


def medians(lengths: Sequence[int], turns: int) -> dict[str, list[float]]:
    """`medians([16, 32], turns=7)["attention"]` are milliseconds of processor time, one for each length."""
    every = readers()
    texts = [torch.randn(4, length, WIDTH, dtype=torch.float32) for length in lengths]
    times: dict[tuple[str, int], list[float]] = {(name, length): [] for name in every for length in lengths}
    for _ in range(turns):
        for x in texts:  # what slows the machine for a while slows all readers, at all lengths
            for name, reader in every.items():
                start = time.process_time()
                reader(x).sum().backward()  # type: ignore[no-untyped-call]
                times[name, x.shape[1]].append(1000 * (time.process_time() - start))
    return {name: [statistics.median(times[name, length]) for length in lengths] for name in every}


def attention_with_heads(heads: int, length: int, turns: int) -> float:
    """`attention_with_heads(4, 512, turns=3)` is the median of milliseconds, for as wide a text in all."""
    x = torch.randn(4, heads, length, WIDTH // heads, dtype=torch.float32, requires_grad=True)
    taken = []
    for _ in range(turns):
        start = time.process_time()
        attend(x, x, x, mask=masks.causal(length)[None])[0].sum().backward()  # type: ignore[no-untyped-call]
        taken.append(1000 * (time.process_time() - start))
    return statistics.median(taken)


def exponent(lengths: Sequence[int], times: Sequence[float]) -> float:
    """`exponent([16, 32, 64], [1, 2, 4])` is 1.0: the slope of the line through the logarithms."""
    x, y = (torch.tensor(each, dtype=torch.float64).log2() for each in (lengths, times))
    x, y = x - x.mean(), y - y.mean()
    return ((x * y).sum() / x.square().sum()).item()


def crossing(lengths: Sequence[int], times: Mapping[str, Sequence[float]], one: str, other: str) -> float:
    """`crossing(LENGTHS, MEASURED, "attention", "recurrence")` is where the one begins to take longer."""
    gaps = [math.log(a / b) for a, b in zip(times[one], times[other], strict=True)]
    for place in range(len(gaps) - 1, 0, -1):
        if gaps[place] > 0 >= gaps[place - 1]:
            share = gaps[place - 1] / (gaps[place - 1] - gaps[place])
            return float(lengths[place - 1] * (lengths[place] / lengths[place - 1]) ** share)
    raise ValueError(f"{one} and {other} do not cross at these lengths")


if __name__ == "__main__":
    torch.set_num_threads(1)
    measured = medians(LENGTHS, turns=7)
    for name, taken in measured.items():
        print(f'    "{name}": ({", ".join(f"{each:.3g}" for each in taken)}),')
        print(
            f"    # from 256 on, time grows with length to the power {exponent(LENGTHS[4:], taken[4:]):.2f}"
        )
    for one, other in (("attention", "recurrence"), ("attention", "convolution")):
        print(f"{one} takes longer than {other} from {crossing(LENGTHS, measured, one, other):.0f} words")
