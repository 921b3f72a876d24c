"""Two ways to do one thing beside each other: their times, taken in turns in one run, and their memory.

A busy machine slows down both sides of a turn, so read their ratio: its median, and its quartiles for the
spread. Third in each turn is a bare operation, such as a matrix product, that shows what the machine can do
at that moment, and so how far from the limit each side is.
"""

import statistics
import time
import timeit
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bookkit.memory import peak_memory
from bookkit.pictures import figures
from bookkit.pictures.colours import COLOURS

SECONDS = 1.5  # for each comparison
# Long beside the clock's ticks, and short enough to fall often between two interruptions by other programs.
SAMPLE_SECONDS = 0.005
FEWEST_TURNS = 6

Run = Callable[[], object]
Clock = Callable[[], float]


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
    alike: bool = True  # whether both compute the same


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
    for row, result in enumerate(results):
        draw_ratio(ratios, row, result)
    ratios.set_xscale("log", base=2)
    ratios.set_xlim(0.5, 2)
    ratios.set_xticks([0.5, 0.7, 1, 1.4, 2], ["0.5", "0.7", "1", "1.4", "2"])
    ratios.set_xlabel("time, ours / theirs; the bar is the goal")
    for index, (name, colour) in enumerate((("ours", "blue"), ("theirs", "grey"))):
        shares.plot(
            [100 * result.shares[index] for result in results], rows,
            ls="", marker=figures.MARKERS[index], color=COLOURS[colour][0], label=name,
        )  # fmt: skip
    names = [(result.comparison.title.split(" / ")[0], result.comparison.case) for result in results]
    shares.set_yticks(rows, [f"{title}, {case}" for title, case in names], fontsize=8)
    shares.invert_yaxis()
    shares.set_xlim(0, 105)
    shares.set_xlabel("% of the limit")
    shares.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2)
    return figure


def draw_ratio(axes: Axes, row: int, result: Result) -> None:
    """The median and the quartiles; what lies far from 1, and so outside, is an arrow with its number."""
    low, median, high = result.ratio
    missed = result.goals[0] is False
    colour = COLOURS["orange" if missed else "blue"][0]
    if median < 0.5:
        axes.text(0.51, row, f"← {short(median)}", color=colour, va="center")
    elif median > 2:
        axes.text(1.96, row, f"{short(median)} →", color=colour, va="center", ha="right")
    else:
        axes.hlines(row, low, high, color=colour)
        axes.plot(median, row, marker="s" if missed else "o", color=colour)
    if (goal := result.comparison.time_goal) is not None:
        axes.vlines(goal, row - 0.4, row + 0.4, color=COLOURS["ink"][0], lw=1, zorder=3)
