"""Time and memory of attnlab beside PyTorch's own, or beside the plain way of doing the same.

A busy machine slows down both sides of a turn, so read their ratio: its median, and its quartiles for the
spread. What is measured is reported, never enforced.
"""

import math
import statistics
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.benchmark import Timer, timer

from attnlab.attention import MultiHeadAttention, attend, masked_softmax
from attnlab.layers import LayerNorm
from attnlab.scores import additive
from attnlab.today.linear import linear
from attnlab.today.tiles import tiled
from bookkit.memory import peak_memory

Way = Callable[[], Tensor]
BATCH, HEADS, D_K = 2, 4, 64
LENGTHS = (128, 512, 2048)
TURNS = 20


class Comparison(NamedTuple):
    """One thing done in two ways, and the tensors whose gradients both find."""

    title: str
    ours: Way
    theirs: Way
    inputs: list[Tensor]


def comparisons(n: int, device: torch.device) -> Iterator[Comparison]:
    """Of n words. Both sides compute the same, but for `linear`, which does without the softmax."""
    torch.manual_seed(0)

    def tensors(*shapes: tuple[int, ...]) -> list[Tensor]:
        return [torch.randn(shape, device=device, requires_grad=True) for shape in shapes]

    query, key, value = inputs = tensors(*[(BATCH, HEADS, n, D_K)] * 3)

    def fused(causal: bool = False) -> Tensor:
        return F.scaled_dot_product_attention(query, key, value, is_causal=causal)

    def plain() -> Tensor:
        return (query @ key.mT / math.sqrt(D_K)).softmax(-1) @ value

    for title, ours, theirs in (
        ("attend / fused", lambda: attend(query, key, value, need_weights=False)[0], fused),
        ("attend with weights / plain", lambda: attend(query, key, value)[0], plain),
        ("tiled / plain", lambda: tiled(query, key, value), plain),
        ("linear / fused, causal", lambda: linear(query, key, value, chunk=64), lambda: fused(True)),
    ):
        yield Comparison(title, ours, theirs, inputs)

    (scores,) = tensors((BATCH, HEADS, n, n))
    mask = torch.rand(BATCH, 1, n, n, device=device) < 0.5
    mask[..., 0] = True  # a row that hides everything is NaN over there
    yield Comparison(
        "masked_softmax / masked_fill, softmax",
        lambda: masked_softmax(scores, mask),
        lambda: scores.masked_fill(~mask, -math.inf).softmax(-1),
        [scores],
    )

    shapes = (n, D_K), (n, D_K), (D_K, D_K), (D_K, D_K), (D_K,)
    left, right, left_weight, right_weight, vector = parts = tensors(*shapes)
    at_once = partial(additive, left, right, left_weight, right_weight, vector)
    yield Comparison("additive in chunks / at once", partial(at_once, chunk="auto"), at_once, parts)

    (words,) = tensors((BATCH, n, HEADS * D_K))
    own_layer = MultiHeadAttention(HEADS * D_K, HEADS).to(device)
    layer = nn.MultiheadAttention(HEADS * D_K, HEADS, batch_first=True).to(device)
    own_layer.load_state_dict(layer.state_dict())
    yield Comparison(
        "MultiHeadAttention / PyTorch's",
        lambda: own_layer(words, need_weights=False)[0],
        lambda: layer(words, words, words, need_weights=False)[0],
        [words],
    )
    own_norm, norm = LayerNorm(HEADS * D_K).to(device), nn.LayerNorm(HEADS * D_K).to(device)
    yield Comparison("LayerNorm / PyTorch's", lambda: own_norm(words), lambda: norm(words), [words])


def there_and_back(way: Way, inputs: list[Tensor]) -> Callable[[], object]:
    gradient = way().detach()  # any will do
    return lambda: torch.autograd.grad(way(), inputs, gradient)


def line(ours: Callable[[], object], theirs: Callable[[], object], device: torch.device) -> str:
    """Both measured in turns: milliseconds, the ratio of each turn, and megabytes."""
    # On one thread the processor's own time, which leaves out other programs; PyTorch's waits for a GPU.
    threads = torch.get_num_threads()
    clock = time.process_time if device.type == "cpu" and threads == 1 else timer
    timers = [
        Timer("run()", globals={"run": run}, timer=clock, num_threads=threads) for run in (ours, theirs)
    ]
    counts = [max(1, round(0.005 / max(each.timeit(1).mean, 1e-9))) for each in timers]
    turns = [
        [each.timeit(count).mean for each, count in zip(timers, counts, strict=True)] for _ in range(TURNS)
    ]
    times = " / ".join(f"{1e3 * statistics.median(side):.3g}" for side in zip(*turns, strict=True))
    low, median, high = statistics.quantiles([own / other for own, other in turns], n=4)
    memory = " / ".join(f"{peak_memory(run, device) / 1e6:.3g}" for run in (ours, theirs))
    return f"{times:>20}   {f'{median:.2f} [{low:.2f}–{high:.2f}]':24}{memory}"


def main() -> None:
    devices = [torch.device("cpu"), *([torch.device("cuda")] if torch.cuda.is_available() else [])]
    for device in devices:
        name = "CPU, 1 thread" if device.type == "cpu" else torch.cuda.get_device_name()
        torch.set_num_threads(1)
        print(f"{name}, PyTorch {torch.__version__}\n{'':46}{'ms, ours / theirs':>20}   {'ratio':24}MB")
        for n in LENGTHS:
            for title, ours, theirs, inputs in comparisons(n, device):
                ahead = line(torch.no_grad()(ours), torch.no_grad()(theirs), device)
                print(f"{title:40}{n:6}{ahead}", flush=True)
                back = line(there_and_back(ours, inputs), there_and_back(theirs, inputs), device)
                print(f"{'  and backward':46}{back}", flush=True)


if __name__ == "__main__":
    main()
