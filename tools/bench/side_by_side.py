"""Two ways to do one thing beside each other: their times, taken in turns in one run, and their memory.

A busy machine slows down both sides of a turn, so read their ratio: its median, and its quartiles for the
spread.
"""

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch.utils.benchmark import Timer, timer

from bookkit.memory import peak_memory

SECONDS = 1.5  # for each comparison
# Long beside the clock's ticks, and short enough to fall often between two interruptions by other programs.
SAMPLE_SECONDS = 0.005
FEWEST_TURNS = 6

Run = Callable[[], object]


@dataclass(frozen=True)
class Comparison:
    """One thing done in two ways."""

    title: str
    case: str
    ours: Run
    theirs: Run
    time_goal: float | None = None
    memory_goal: float | None = None
    alike: bool = True  # whether both compute the same


@dataclass(frozen=True)
class Result:
    comparison: Comparison
    seconds: tuple[float, float]  # ours, theirs
    ratio: tuple[float, float, float]  # ours / theirs: the quartiles
    memory: tuple[int, int]


def clock_of(device: torch.device) -> Callable[[], float]:
    """The processor's time, which leaves out what other programs took, where it is that of one thread.

    PyTorch's own clock, for all else, waits for a GPU.
    """
    return time.process_time if device.type == "cpu" and torch.get_num_threads() == 1 else timer


def in_turns(runs: Sequence[Run], seconds: float, device: torch.device) -> list[list[float]]:
    """The time of one call of each run, over and over for as long as `seconds`."""
    clock, threads = clock_of(device), torch.get_num_threads()
    # Before each sample such a timer calls a run unmeasured, which finds another's data in the cache.
    timers = [Timer("run()", globals={"run": run}, timer=clock, num_threads=threads) for run in runs]
    calls = [max(1, round(SAMPLE_SECONDS / max(each.timeit(1).mean, 1e-9))) for each in timers]
    turns: list[list[float]] = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(turns) < FEWEST_TURNS:
        turns.append([each.timeit(count).mean for each, count in zip(timers, calls, strict=True)])
    return turns


def measure(comparison: Comparison, device: torch.device, seconds: float = SECONDS) -> Result:
    both = comparison.ours, comparison.theirs
    turns = in_turns(both, seconds, device)
    ours, theirs = (statistics.median(times) for times in zip(*turns, strict=True))
    low, median, high = statistics.quantiles([a / b for a, b in turns], n=4, method="inclusive")
    our_memory, their_memory = (peak_memory(run, device) for run in both)
    return Result(comparison, (ours, theirs), (low, median, high), (our_memory, their_memory))


def short(ratio: float) -> str:
    return f"{ratio:.2f}" if ratio >= 0.1 else f"{ratio:.2g}"


def judged(ratio: float, goal: float | None) -> str:
    # What is shown counts: with more digits, equal code would miss a goal of 1 half of the time.
    return "" if goal is None else f"≤ {goal:.3g} {'✓' if float(short(ratio)) <= goal else '✗'}"


HEADER = f"  {'':30}{'ms, ours / theirs':>20}   {'ratio [quartiles]':24}{'goal':12}MB, ours / theirs"


def line(result: Result) -> str:
    comparison, memory = result.comparison, result.memory
    times = " / ".join(f"{1e3 * seconds:.3g}" for seconds in result.seconds)
    low, median, high = map(short, result.ratio)
    ratio, goal = f"{median} [{low}–{high}]", judged(result.ratio[1], comparison.time_goal)
    sizes = " / ".join(f"{number / 1e6:.3g}" for number in memory)
    memory_goal = judged(memory[0] / memory[1] if memory[1] else 0, comparison.memory_goal)
    return f"  {comparison.case:30}{times:>20}   {ratio:24}{goal:12}{sizes:20}{memory_goal}".rstrip()
