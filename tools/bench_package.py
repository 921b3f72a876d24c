"""Time and memory of attnlab beside PyTorch's own, or beside the plain way, taken in turns in one run.

A busy machine slows down both sides of a turn, so read their ratio: its median, and its quartiles for the
spread. Third in each turn is a bare operation, such as a matrix product, that shows what the machine can do
at that moment, and so how far from the limit each side is.
"""

import math
import os
import statistics
import time
import timeit
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

os.environ.setdefault("KINETO_LOG_LEVEL", "99")  # PyTorch's profiler reads it once, and then runs in silence
import matplotlib as mpl
import torch
import torch.nn.functional as F
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor, nn

from attnlab.attention import MultiHeadAttention, attend
from attnlab.layers import LayerNorm
from attnlab.positions import sinusoidal
from attnlab.scores import additive
from bookkit import figures

FOLDER = Path(__file__).resolve().parent.parent / "_build" / "bench"
SECONDS = 1.5  # for each comparison
# Long beside the clock's ticks, and short enough to fall often between two interruptions by other programs.
SAMPLE_SECONDS = 0.005
FEWEST_TURNS = 6

Run = Callable[[], object]
Clock = Callable[[], float]


# ---- measuring ----


class Quartiles(NamedTuple):
    low: float
    median: float
    high: float


def quartiles(samples: Sequence[float]) -> Quartiles:
    return Quartiles(*statistics.quantiles(samples, n=4, method="inclusive"))


def in_turns(runs: Sequence[Run], seconds: float, clock: Clock) -> list[tuple[float, ...]]:
    """The time of one call of each run, over and over for as long as `seconds`.

    The turns go A B C, C B A, A B C, …, so that no run always comes after the same other one, whose heat and
    cached data it would meet each time.
    """
    timers = [timeit.Timer(run, timer=clock) for run in runs]
    for timer in timers:
        timer.timeit(1)  # the first call sets things up
    calls = [max(1, round(SAMPLE_SECONDS / timer.timeit(1))) for timer in timers]
    turns: list[tuple[float, ...]] = []
    order = list(range(len(runs)))
    end = clock() + seconds
    while clock() < end or len(turns) < FEWEST_TURNS:
        turn = [0.0] * len(runs)
        for index in order:
            timers[index].timeit(1)  # not counted, as it finds another's data in the cache
            turn[index] = timers[index].timeit(calls[index]) / calls[index]
        turns.append(tuple(turn))
        order.reverse()
    return turns


def clock_of(device: torch.device) -> Clock:
    if device.type == "cuda":

        def clock() -> float:
            torch.cuda.synchronize(device)  # a GPU works on after a call has returned
            return time.perf_counter()

        return clock
    # The processor's time leaves out what other programs took. It is not how long threads together take.
    return time.process_time if torch.get_num_threads() == 1 else time.perf_counter


def peak_memory(run: Run, device: torch.device) -> int:
    """The most bytes that one call held at once, beyond what was held before it."""
    run()  # some memory is taken by the first call, and kept
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)
        before = torch.cuda.memory_allocated(device)
        run()
        return torch.cuda.max_memory_allocated(device) - before
    # The profiler sees every allocation, those inside a fused kernel included.
    activities = [torch.profiler.ProfilerActivity.CPU]
    with torch.profiler.profile(activities=activities, profile_memory=True) as profile:
        run()
    events = [event for event in profile.profiler.kineto_results.events() if event.name() == "[memory]"]
    held = peak = 0
    for event in sorted(events, key=lambda event: event.start_ns()):
        held += event.nbytes()
        peak = max(peak, held)
    return peak


# ---- what is compared ----


@dataclass(frozen=True)
class Limit:
    """A bare operation, and how much work one call of it does."""

    name: str
    unit: str
    run: Run
    work: float


@dataclass(frozen=True)
class Comparison:
    """One thing done in two ways. `work` is the least that it takes, counted as the limit counts."""

    title: str
    case: str
    ours: Run
    theirs: Run
    limit: Limit
    work: float
    time_goal: float | None = None
    memory_goal: float | None = None


@dataclass(frozen=True)
class Sizes:
    lengths: tuple[int, ...] = (128, 512, 1024, 2048)
    tokens: int = 2048  # in a batch, whatever the length: 16 sequences of 128, or one of 2048
    heads: int = 4
    d_k: int = 64
    layer: tuple[int, int, int] = (4, 256, 512)  # (B, T, d_model)
    layer_heads: int = 8
    additive: tuple[int, int] = (512, 64)  # (n, hidden)
    table: tuple[int, int] = (200, 512)  # (length, d_model)
    product: int = 1024  # rows and columns of the limit's matrices: a GPU needs more to be busy


def comparisons(device: torch.device, sizes: Sizes) -> Iterator[Comparison]:
    torch.manual_seed(0)
    yield from attention(device, sizes)
    yield from multi_head(device, sizes)
    yield from additive_scores(device, sizes)
    yield from table(device, sizes)
    yield from layer_norm(device, sizes)


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
    yield compare("evaluating, without it", answer, without_fast_path(their_answer), work=work)


def without_fast_path(run: Run) -> Run:
    def slow() -> object:
        torch.backends.mha.set_fastpath_enabled(False)
        try:
            return run()
        finally:
            torch.backends.mha.set_fastpath_enabled(True)

    return slow


def additive_scores(device: torch.device, sizes: Sizes) -> Iterator[Comparison]:
    n, hidden = sizes.additive
    shapes = (n, hidden), (n, hidden), (hidden, hidden), (hidden, hidden), (hidden,)
    inputs = [torch.randn(shape, device=device, requires_grad=True) for shape in shapes]
    query, key, query_weight, key_weight, vector = inputs
    plain = partial(additive, query, key, query_weight, key_weight, vector)
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
    compare = partial(Comparison, "LayerNorm / nn.LayerNorm", limit=limit)
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


# ---- the results ----


@dataclass(frozen=True)
class Result:
    comparison: Comparison
    seconds: tuple[float, float]  # ours, theirs
    ratio: Quartiles  # ours / theirs
    shares: tuple[float, float]  # of the limit
    rate: float  # the limit's, in work a second
    memory: tuple[int, int]

    @property
    def memory_ratio(self) -> float:
        return self.memory[0] / self.memory[1]

    @property
    def goals(self) -> tuple[bool | None, bool | None]:
        """Whether the goals for time and memory are met; None where there is none."""
        comparison = self.comparison
        return met(self.ratio.median, comparison.time_goal), met(self.memory_ratio, comparison.memory_goal)


def met(ratio: float, goal: float | None) -> bool | None:
    # What is shown counts: with more digits, equal code would miss a goal of 1 half of the time.
    return None if goal is None else float(short(ratio)) <= goal


def measure(comparison: Comparison, device: torch.device, seconds: float = SECONDS) -> Result:
    limit = comparison.limit
    turns = in_turns((comparison.ours, limit.run, comparison.theirs), seconds, clock_of(device))
    least = comparison.work / limit.work  # calls of the limit
    ours, limits, theirs = zip(*turns, strict=True)
    return Result(
        comparison,
        seconds=(statistics.median(ours), statistics.median(theirs)),
        ratio=quartiles([a / b for a, _, b in turns]),
        shares=(
            statistics.median(least * c / a for a, c, _ in turns),
            statistics.median(least * c / b for _, c, b in turns),
        ),
        rate=limit.work / statistics.median(limits),
        memory=(peak_memory(comparison.ours, device), peak_memory(comparison.theirs, device)),
    )


def short(ratio: float) -> str:
    return f"{ratio:.2f}" if ratio >= 0.1 else f"{ratio:.2g}"


HEADER = (
    f"  {'':30}{'ms, ours / theirs':>20}   {'ratio [quartiles]':24}{'goal':10}"
    f"{'share of the limit':28}{'MB, ours / theirs':>18}   {'ratio':8}goal"
)


def line(result: Result) -> str:
    comparison = result.comparison
    times = " / ".join(f"{1e3 * seconds:.3g}" for seconds in result.seconds)
    low, median, high = (short(ratio) for ratio in result.ratio)
    shares = " / ".join(f"{100 * share:.0f} %" for share in result.shares)
    sizes = " / ".join(f"{number / 1e6:.3g}" for number in result.memory)
    time_goal, memory_goal = (
        "" if reached is None else f"≤ {goal:.3g} {'✓' if reached else '✗'}"
        for goal, reached in zip((comparison.time_goal, comparison.memory_goal), result.goals, strict=True)
    )
    return (
        f"  {comparison.case:30}{times:>20}   {f'{median} [{low}–{high}]':24}{time_goal:10}"
        f"{f'{shares} of {comparison.limit.name}':28}{sizes:>18}   "
        f"{short(result.memory_ratio):8}{memory_goal}"
    ).rstrip()


def limits(results: Sequence[Result]) -> str:
    """The slowest and the fastest that each limit was, which depends on other programs and on the size."""
    rates: dict[str, list[float]] = {}
    for result in results:
        limit = result.comparison.limit
        rates.setdefault(f"G{limit.unit} ({limit.name})", []).append(result.rate / 1e9)
    return ", ".join(f"{min(values):.3g} to {max(values):.3g} {unit}" for unit, values in rates.items())


def draw(machine: str, results: Sequence[Result]) -> Figure:
    """Left how long ours takes beside theirs, right how near each comes to the limit."""
    rows = range(len(results))
    figure = Figure(figsize=(9.6, 1.5 + 0.27 * len(results)))
    figure.suptitle(machine)
    ratios, shares = figure.subplots(1, 2, sharey=True)
    ratios.set_xscale("log", base=2)
    ratios.set_xlim(0.5, 2)
    ratios.set_xticks([0.5, 0.7, 1, 1.4, 2], ["0.5", "0.7", "1", "1.4", "2"])
    ratios.set_xlabel("time, ours / theirs; the bar is the goal")
    for row, result in enumerate(results):
        draw_ratio(ratios, row, result)
    for index, (name, colour) in enumerate((("ours", "blue"), ("theirs", "grey"))):
        shares.plot(
            [100 * result.shares[index] for result in results], rows,
            ls="", marker=figures.MARKERS[index], color=figures.COLOURS[colour][0], label=name,
        )  # fmt: skip
    names = [(result.comparison.title.split(" / ")[0], result.comparison.case) for result in results]
    shares.set_yticks(rows, [f"{title}, {case}" for title, case in names], fontsize=8)
    shares.invert_yaxis()
    shares.set_xlim(0, 105)
    shares.set_xlabel("% of the limit")
    shares.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2)
    return figure


def draw_ratio(axes: Axes, row: int, result: Result) -> None:
    """The median and the quartiles; what lies far from 1 is an arrow with its number."""
    missed = result.goals[0] is False
    colour = figures.COLOURS["orange" if missed else "blue"][0]
    left, right = axes.get_xlim()
    median = result.ratio.median
    if median < left:
        axes.text(left * 1.02, row, f"← {short(median)}", color=colour, va="center")
    elif median > right:
        axes.text(right / 1.02, row, f"{short(median)} →", color=colour, va="center", ha="right")
    else:
        axes.hlines(row, result.ratio.low, result.ratio.high, color=colour)
        axes.plot(median, row, marker="s" if missed else "o", color=colour)
    if result.comparison.time_goal is not None:
        axes.vlines(
            result.comparison.time_goal, row - 0.4, row + 0.4, color=figures.COLOURS["ink"][0], lw=1, zorder=3
        )


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
