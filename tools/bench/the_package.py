"""Time and memory of attnlab beside PyTorch's own, or beside the plain way of doing the same."""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

import matplotlib as mpl
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attnlab.attention import MultiHeadAttention, attend, masked_softmax
from attnlab.layers import LayerNorm
from attnlab.positions import sinusoidal
from attnlab.scores import additive
from attnlab.today.linear import linear
from attnlab.today.tiles import tiled
from bookkit.pictures import figures
from tools import ROOT
from tools.bench import writing
from tools.bench.side_by_side import (
    HEADER,
    Comparison,
    Limit,
    Result,
    Run,
    clock_of,
    draw,
    limits,
    line,
    measure,
)

FOLDER = ROOT / "_build" / "bench"


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
    product: int = 1024  # rows and columns of the limit's matrices: a GPU needs more to be busy


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
    yield from writing.comparisons(device, sizes.text, product(device, sizes))


def attention(device: torch.device, sizes: Sizes) -> Iterator[Comparison]:
    limit = product(device, sizes)
    fused = partial(attend, need_weights=False), F.scaled_dot_product_attention
    for title, (ours, theirs), goal in (
        ("attend without weights / F.scaled_dot_product_attention", fused, 1.05),
        ("attend with weights / matmul, softmax, matmul", (attend, matmul_softmax_matmul), 1.1),
    ):
        for n in sizes.lengths:
            shape = (sizes.tokens // n, sizes.heads, n, sizes.d_k)
            query, key, value = (torch.randn(shape, device=device) for _ in range(3))
            # Two products, of d_k multiplications and additions for each query and each key.
            work = 4 * math.prod(shape) * n
            runs = partial(ours, query, key, value), partial(theirs, query, key, value)
            yield Comparison(title, f"n = {n}", *runs, limit, work, goal)


def matmul_softmax_matmul(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    weights = (query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])).softmax(-1)
    return weights @ value, weights


def tiles(device: torch.device, sizes: Sizes) -> Iterator[Comparison]:
    """At the longest, beside the whole table that it does without, and the kernel that does it in C++."""
    limit, n = product(device, sizes), max(sizes.lengths)
    shape = (sizes.tokens // n, sizes.heads, n, sizes.d_k)
    inputs = [torch.randn(shape, device=device, requires_grad=True) for _ in range(3)]
    query, key, value = inputs
    work = 4 * math.prod(shape) * n

    def whole() -> Tensor:
        return matmul_softmax_matmul(query, key, value)[0]

    ours = partial(tiled, query, key, value)
    fused = partial(F.scaled_dot_product_attention, query, key, value)
    for title, theirs, time_goal, memory_goal in (
        ("tiled / matmul, softmax, matmul", whole, 1.0, 1 / 16),
        ("tiled / F.scaled_dot_product_attention", fused, None, None),
    ):
        compare = partial(Comparison, title, limit=limit, time_goal=time_goal, memory_goal=memory_goal)
        runs = (torch.no_grad()(run) for run in (ours, theirs))
        yield compare(f"n = {n}, forward", *runs, work=work)
        # On the way back four products; that both make one anew is no part of the least.
        back = (both_ways(run, inputs) for run in (ours, theirs))
        yield compare(f"n = {n}, forward + backward", *back, work=3 * work)


def linear_attention(device: torch.device, sizes: Sizes) -> Iterator[Comparison]:
    """Beside the kernel that computes what it does without: a softmax over all words before."""
    limit, chunk = product(device, sizes), 64
    for n in sizes.read:
        shape = (1, sizes.heads, n, sizes.d_k)
        query, key, value = (torch.randn(shape, device=device, requires_grad=True) for _ in range(3))
        ours = partial(linear, query, key, value, chunk=chunk)
        theirs = partial(F.scaled_dot_product_attention, query, key, value, is_causal=True)
        # Two products with a table of the chunk, and two with the state. It is their least, too, if they had
        # a state: so their share says what the table costs.
        work = 4 * math.prod(shape) * (min(chunk, n) + sizes.d_k)
        title = "linear / F.scaled_dot_product_attention, causal"
        compare = partial(Comparison, title, limit=limit, alike=False)
        yield compare(f"n = {n}, forward", torch.no_grad()(ours), torch.no_grad()(theirs), work=work)
        back = (both_ways(run, [query, key, value]) for run in (ours, theirs))
        yield compare(f"n = {n}, forward + backward", *back, work=3 * work)


def multi_head(device: torch.device, sizes: Sizes) -> Iterator[Comparison]:
    batch, length, d_model = sizes.layer
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

    # Four projections, and the two products of attention.
    work = batch * length * (8 * d_model**2 + 4 * length * d_model)
    compare = partial(
        Comparison, "MultiHeadAttention / nn.MultiheadAttention", limit=product(device, sizes), time_goal=1.0
    )
    runs = partial(our_output, ours), partial(their_output, theirs)
    yield compare("training, forward", *runs, work=work)
    yield compare("training, with weights", *(partial(run, need_weights=True) for run in runs), work=work)
    ours_back = both_ways(runs[0], [inputs, *ours.parameters()])
    theirs_back = both_ways(runs[1], [inputs, *theirs.parameters()])
    yield compare("training, forward + backward", ours_back, theirs_back, work=3 * work)
    # When it evaluates without gradients, PyTorch's layer has a path of its own, all in C++.
    answer = torch.no_grad()(partial(our_output, deepcopy(ours).eval()))
    their_answer = torch.no_grad()(partial(their_output, deepcopy(theirs).eval()))
    yield compare("evaluating, fast path", answer, their_answer, work=work)
    yield compare("evaluating, without it", answer, without_fast_path()(their_answer), work=work)


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
    limit = copy(device, scores.numel())
    compare = partial(Comparison, "masked_softmax / masked_fill, softmax", limit=limit, time_goal=1.1)
    for whose, number in (("each head", heads), ("all heads", 1)):
        mask = torch.rand(batch, number, n, n, device=device) < 0.5
        mask[..., 0] = True  # a row that hides everything is NaN over there
        runs = partial(masked_softmax, scores, mask), partial(masked_fill_softmax, scores, mask)
        # As a copy does: the scores are read, and the weights written; and a byte of the mask is read.
        forward = limit.work + mask.numel()
        yield compare(f"{whose}, forward", *(torch.no_grad()(run) for run in runs), work=forward)
        # On the way back the weights and their gradients are read, and the scores' gradients written.
        back = [both_ways(run, [scores]) for run in runs]
        yield compare(f"{whose}, forward + backward", *back, work=forward + 1.5 * limit.work)


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
    work = n * n * hidden
    compare = partial(
        Comparison, 'additive, chunk="auto" / chunk=None', limit=tanh(device, sizes), work=work,
        time_goal=1.0, memory_goal=1 / 16,
    )  # fmt: skip
    yield compare(f"n = {n}, forward", torch.no_grad()(lean), torch.no_grad()(plain))
    yield compare(f"n = {n}, forward + backward", both_ways(lean, inputs), both_ways(plain, inputs))


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
    limit = copy(device, length * d_model)
    # Half of a copy: nothing has to be read.
    yield Comparison(
        "sinusoidal / a double loop", f"{length} × {d_model}", ours, double_loop, limit, limit.work / 2
    )


def layer_norm(device: torch.device, sizes: Sizes) -> Iterator[Comparison]:
    d_model = sizes.layer[-1]
    ours, theirs = LayerNorm(d_model).to(device), nn.LayerNorm(d_model).to(device)
    inputs = torch.randn(sizes.layer, device=device, requires_grad=True)
    our_output, their_output = partial(ours, inputs), partial(theirs, inputs)
    limit = copy(device, inputs.numel())
    compare = partial(Comparison, "LayerNorm / nn.LayerNorm", limit=limit, time_goal=1.1)
    # As a copy does: the inputs are read, and the outputs written.
    yield compare("forward", our_output, their_output, work=limit.work)
    # On the way back the inputs and the outputs' gradients are read, and the inputs' gradients written.
    yield compare(
        "forward + backward",
        both_ways(our_output, [inputs, *ours.parameters()]),
        both_ways(their_output, [inputs, *theirs.parameters()]),
        work=2.5 * limit.work,
    )


def both_ways(forward: Callable[[], Tensor], inputs: list[Tensor]) -> Run:
    gradient = forward().detach()  # any will do
    return lambda: torch.autograd.grad(forward(), inputs, gradient)


def product(device: torch.device, sizes: Sizes) -> Limit:
    side = sizes.product
    left, right, out = (torch.randn(side, side, device=device) for _ in range(3))
    return Limit("matmul", "FLOP/s", partial(torch.mm, left, right, out=out), 2 * side**3)


def copy(device: torch.device, numbers: int) -> Limit:
    source, target = (torch.randn(numbers, device=device) for _ in range(2))
    return Limit("copy", "B/s", partial(target.copy_, source), 8 * numbers)  # 4 bytes read, 4 written


def tanh(device: torch.device, sizes: Sizes) -> Limit:
    """Neither products nor memory need bound an additive score, but its n·m·hidden tanhs do."""
    side = sizes.product // 2  # 1 MB, which stays in a core's own cache
    source, target = (torch.randn(side, side, device=device) for _ in range(2))
    return Limit("tanh", "tanh/s", partial(torch.tanh, source, out=target), side**2)


# ---- the run ----


class Machine(NamedTuple):
    name: str
    device: torch.device
    threads: int
    sizes: Sizes


def machines() -> Iterator[Machine]:
    """One core, then all of them, then the GPU where there is one."""
    cores, instructions = torch.get_num_threads(), torch.backends.cpu.get_cpu_capability()
    for threads in sorted({1, cores}):
        yield Machine(
            f"CPU ({instructions}), {threads} of {cores} threads", torch.device("cpu"), threads, Sizes()
        )
    if torch.cuda.is_available():
        yield Machine(torch.cuda.get_device_name(), torch.device("cuda"), cores, Sizes(product=8192))


def report(machine: Machine, say: Callable[[str], None]) -> list[Result]:
    """Say each line as soon as it is measured."""
    torch.set_num_threads(machine.threads)
    clock = "the processor's time" if clock_of(machine.device) is time.process_time else "time on the clock"
    say(f"{machine.name}, PyTorch {torch.__version__}, {clock}\n{HEADER}")
    results: list[Result] = []
    rows = comparisons(machine.device, machine.sizes)
    for title, cases in groupby(rows, key=attrgetter("title")):
        say(title)
        for comparison in cases:
            results.append(measure(comparison, machine.device))
            say(line(results[-1]))
    say(f"The limits here: {limits(results)}\n")
    return results


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    with (FOLDER / "package.txt").open("w", encoding="utf-8") as file:

        def say(text: str) -> None:
            print(text, flush=True)
            print(text, file=file)

        counts = []
        for number, machine in enumerate(machines(), 1):
            results = report(machine, say)
            with mpl.rc_context(figures.STYLE):
                picture = figures.svg(draw(machine.name, results), f"The table of {machine.name}, drawn")
            (FOLDER / f"package-{number}.svg").write_text(picture, encoding="utf-8")
            goals = [goal for result in results for goal in result.goals if goal is not None]
            counts.append(f"{sum(goals)} of {len(goals)} on {machine.name}")
        say(f"bench: goals met: {'; '.join(counts)} (_build/{FOLDER.name}/ has this table and figures of it)")
