"""Time and memory of attnlab beside PyTorch's own, or beside the plain way of doing the same.

What is measured is reported, never enforced: the status is 0 whether or not the goals are met.
"""

import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from operator import attrgetter

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attnlab.attention import MultiHeadAttention, attend, masked_softmax
from attnlab.layers import LayerNorm
from attnlab.positions import sinusoidal
from attnlab.scores import additive
from attnlab.today.linear import linear
from attnlab.today.tiles import tiled
from tools.bench import writing
from tools.bench.side_by_side import HEADER, Comparison, Result, Run, line, measure


@dataclass(frozen=True)
class Sizes:
    lengths: tuple[int, ...] = (128, 512, 1024, 2048)
    tokens: int = 2048  # in a batch, whatever the length: 16 sequences of 128, or one of 2048
    heads: int = 4
    d_k: int = 64
    layer: tuple[int, int, int] = (4, 256, 512)  # (B, T, d_model)
    layer_heads: int = 8
    read: tuple[int, ...] = (512, 2048, 4096)  # words of one text
    masked: int = 512  # n = m
    additive: tuple[int, int] = (512, 64)  # (n, hidden)
    table: tuple[int, int] = (200, 512)  # (length, d_model)
    text: writing.Sizes = field(default_factory=writing.Sizes)


def comparisons(device: torch.device, sizes: Sizes) -> Iterator[Comparison]:
    torch.manual_seed(0)
    yield from attention(device, sizes)
    yield from tiles(device, sizes)
    yield from linear_attention(device, sizes)
    yield from multi_head(device, sizes)
    yield from masks(device, sizes)
    yield from additive_scores(device, sizes)
    yield from table(device, sizes)
    yield from layer_norm(device, sizes)
    yield from writing.comparisons(device, sizes.text)


def attention(device: torch.device, sizes: Sizes) -> Iterator[Comparison]:
    fused = partial(attend, need_weights=False), F.scaled_dot_product_attention
    for title, (ours, theirs), goal in (
        ("attend without weights / F.scaled_dot_product_attention", fused, 1.05),
        ("attend with weights / matmul, softmax, matmul", (attend, matmul_softmax_matmul), 1.1),
    ):
        for n in sizes.lengths:
            shape = (sizes.tokens // n, sizes.heads, n, sizes.d_k)
            query, key, value = (torch.randn(shape, device=device) for _ in range(3))
            runs = partial(ours, query, key, value), partial(theirs, query, key, value)
            yield Comparison(title, f"n = {n}", *runs, goal)


def matmul_softmax_matmul(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    weights = (query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])).softmax(-1)
    return weights @ value, weights


def tiles(device: torch.device, sizes: Sizes) -> Iterator[Comparison]:
    """At the longest, beside the whole table that it does without, and the kernel that does it in C++."""
    n = max(sizes.lengths)
    shape = (sizes.tokens // n, sizes.heads, n, sizes.d_k)
    inputs = [torch.randn(shape, device=device, requires_grad=True) for _ in range(3)]
    query, key, value = inputs

    def whole() -> Tensor:
        return matmul_softmax_matmul(query, key, value)[0]

    ours = partial(tiled, query, key, value)
    fused = partial(F.scaled_dot_product_attention, query, key, value)
    for title, theirs, time_goal, memory_goal in (
        ("tiled / matmul, softmax, matmul", whole, 1.0, 1 / 16),
        ("tiled / F.scaled_dot_product_attention", fused, None, None),
    ):
        compare = partial(Comparison, title, time_goal=time_goal, memory_goal=memory_goal)
        yield from ways(compare, f"n = {n}, ", ours, theirs, inputs)


def linear_attention(device: torch.device, sizes: Sizes) -> Iterator[Comparison]:
    """Beside the kernel that computes what it does without: a softmax over all words before."""
    for n in sizes.read:
        shape = (1, sizes.heads, n, sizes.d_k)
        query, key, value = (torch.randn(shape, device=device, requires_grad=True) for _ in range(3))
        ours = partial(linear, query, key, value, chunk=64)
        theirs = partial(F.scaled_dot_product_attention, query, key, value, is_causal=True)
        compare = partial(Comparison, "linear / F.scaled_dot_product_attention, causal", alike=False)
        yield from ways(compare, f"n = {n}, ", ours, theirs, [query, key, value])


def multi_head(device: torch.device, sizes: Sizes) -> Iterator[Comparison]:
    d_model = sizes.layer[-1]
    ours = MultiHeadAttention(d_model, sizes.layer_heads).to(device)
    theirs = nn.MultiheadAttention(d_model, sizes.layer_heads, batch_first=True).to(device)
    ours.load_state_dict(theirs.state_dict())
    inputs = torch.randn(sizes.layer, device=device, requires_grad=True)

    def our_output(layer: nn.Module, need_weights: bool = False) -> Tensor:
        output: Tensor = layer(inputs, need_weights=need_weights)[0]
        return output

    def their_output(layer: nn.Module, need_weights: bool = False) -> Tensor:
        options = {"need_weights": need_weights, "average_attn_weights": False}
        output: Tensor = layer(inputs, inputs, inputs, **options)[0]
        return output

    compare = partial(Comparison, "MultiHeadAttention / nn.MultiheadAttention", time_goal=1.0)
    runs = partial(our_output, ours), partial(their_output, theirs)
    yield compare("training, forward", *runs)
    yield compare("training, with weights", *(partial(run, need_weights=True) for run in runs))
    ours_back = both_ways(runs[0], [inputs, *ours.parameters()])
    theirs_back = both_ways(runs[1], [inputs, *theirs.parameters()])
    yield compare("training, forward + backward", ours_back, theirs_back)
    # When it evaluates without gradients, PyTorch's layer has a path of its own, all in C++.
    answer = torch.no_grad()(partial(our_output, deepcopy(ours).eval()))
    their_answer = torch.no_grad()(partial(their_output, deepcopy(theirs).eval()))
    yield compare("evaluating, fast path", answer, their_answer)
    yield compare("evaluating, without it", answer, without_fast_path()(their_answer))


@contextmanager
def without_fast_path() -> Iterator[None]:
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        yield
    finally:
        torch.backends.mha.set_fastpath_enabled(True)


def masks(device: torch.device, sizes: Sizes) -> Iterator[Comparison]:
    n = sizes.masked
    batch, heads = sizes.tokens // n, sizes.heads
    scores = torch.randn(batch, heads, n, n, device=device, requires_grad=True)
    compare = partial(Comparison, "masked_softmax / masked_fill, softmax", time_goal=1.1)
    for whose, number in (("each head", heads), ("all heads", 1)):
        mask = torch.rand(batch, number, n, n, device=device) < 0.5
        mask[..., 0] = True  # a row that hides everything is NaN over there
        ours, theirs = partial(masked_softmax, scores, mask), partial(masked_fill_softmax, scores, mask)
        yield from ways(compare, f"{whose}, ", ours, theirs, [scores])


def masked_fill_softmax(scores: Tensor, mask: Tensor) -> Tensor:
    return scores.masked_fill(~mask, -math.inf).softmax(-1)


def additive_scores(device: torch.device, sizes: Sizes) -> Iterator[Comparison]:
    n, hidden = sizes.additive
    shapes = (n, hidden), (n, hidden), (hidden, hidden), (hidden, hidden), (hidden,)
    inputs = [torch.randn(shape, device=device, requires_grad=True) for shape in shapes]
    query, key, query_weight, key_weight, vector = inputs
    plain = partial(additive, query, key, query_weight, key_weight, vector)
    # Threads wait for the slowest of them after each operation, and here are 64 times as many as in the plain
    # score: where other programs take a core, the ratio on several threads rises and spreads.
    lean = partial(plain, chunk="auto")
    compare = partial(Comparison, 'additive, chunk="auto" / chunk=None', time_goal=1.0, memory_goal=1 / 16)
    yield from ways(compare, f"n = {n}, ", lean, plain, inputs)


def table(device: torch.device, sizes: Sizes) -> Iterator[Comparison]:
    length, d_model = sizes.table

    def double_loop() -> Tensor:
        rows = torch.zeros(length, d_model, device=device)
        for position in range(length):
            for column in range(0, d_model, 2):
                angle = position / 10000 ** (column / d_model)
                rows[position, column] = math.sin(angle)
                rows[position, column + 1] = math.cos(angle)
        return rows

    ours = partial(sinusoidal, length, d_model, device=device)
    yield Comparison("sinusoidal / a double loop", f"{length} × {d_model}", ours, double_loop)


def layer_norm(device: torch.device, sizes: Sizes) -> Iterator[Comparison]:
    d_model = sizes.layer[-1]
    ours, theirs = LayerNorm(d_model).to(device), nn.LayerNorm(d_model).to(device)
    inputs = torch.randn(sizes.layer, device=device, requires_grad=True)
    our_output, their_output = partial(ours, inputs), partial(theirs, inputs)
    compare = partial(Comparison, "LayerNorm / nn.LayerNorm", time_goal=1.1)
    yield compare("forward", our_output, their_output)
    back = both_ways(our_output, [inputs, *ours.parameters()])
    yield compare("forward + backward", back, both_ways(their_output, [inputs, *theirs.parameters()]))


def ways(
    compare: Callable[..., Comparison],
    case: str,
    ours: Callable[[], Tensor],
    theirs: Callable[[], Tensor],
    inputs: list[Tensor],
) -> Iterator[Comparison]:
    """Forward alone, without gradients, and there and back."""
    yield compare(f"{case}forward", torch.no_grad()(ours), torch.no_grad()(theirs))
    yield compare(f"{case}forward + backward", both_ways(ours, inputs), both_ways(theirs, inputs))


def both_ways(forward: Callable[[], Tensor], inputs: list[Tensor]) -> Run:
    gradient = forward().detach()  # any will do
    return lambda: torch.autograd.grad(forward(), inputs, gradient)


# ---- the run ----


def machines() -> Iterator[tuple[str, torch.device, int]]:
    """One core, then all of them, then the GPU where there is one: a name, a device, a number of threads."""
    cores, instructions = torch.get_num_threads(), torch.backends.cpu.get_cpu_capability()
    for threads in sorted({1, cores}):
        yield f"CPU ({instructions}), {threads} of {cores} threads", torch.device("cpu"), threads
    if torch.cuda.is_available():
        yield torch.cuda.get_device_name(), torch.device("cuda"), cores


def report(name: str, device: torch.device, sizes: Sizes, asked: str = "") -> str:
    """Print each line as soon as it is measured, of titles with what is asked, and count the goals met."""
    print(f"{name}, PyTorch {torch.__version__}\n{HEADER}", flush=True)
    results: list[Result] = []
    for title, cases in groupby(comparisons(device, sizes), key=attrgetter("title")):
        if asked.lower() not in title.lower():
            continue
        print(title)
        for comparison in cases:
            results.append(measure(comparison, device))
            print(line(results[-1]), flush=True)
    goals = [goal for result in results for goal in result.goals if goal is not None]
    return f"{sum(goals)} of {len(goals)} on {name}"


def main(sizes: Sizes | None = None, asked: str = "") -> None:
    counts = []
    for name, device, threads in machines():
        torch.set_num_threads(threads)
        counts.append(report(name, device, sizes or Sizes(), asked))
    print(f"bench: goals met: {'; '.join(counts)}")


if __name__ == "__main__":
    main(asked=" ".join(sys.argv[1:]))
