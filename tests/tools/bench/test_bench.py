"""The measuring is right, and both sides of each comparison do the same. No time is asserted."""

import itertools
from functools import partial

import pytest
import torch

from tools.bench import side_by_side, the_package
from tools.bench.side_by_side import Comparison, Result, in_turns, line, measure
from tools.bench.the_package import Sizes, comparisons

CPU = torch.device("cpu")
TINY = Sizes(
    lengths=(2, 4), tokens=4, heads=2, d_k=4, layer=(2, 3, 8), layer_heads=2, masked=4, additive=(4, 2),
    read=(3, 70),
)  # fmt: skip


def test_each_is_timed_alone_and_its_first_call_which_sets_up_is_not_measured(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(side_by_side, "clock_of", lambda device: lambda: now[0])

    def taking(*seconds):
        """A run that moves the clock by so much: by the last of these, from there on."""
        durations = itertools.chain(seconds, itertools.repeat(seconds[-1]))
        return lambda: now.__setitem__(0, now[0] + next(durations))

    turns = in_turns([taking(100.0, 0.001), taking(3.0)], 0, CPU)
    assert turns == [pytest.approx([0.001, 3.0])] * side_by_side.FEWEST_TURNS


def test_a_ratio_is_that_of_the_same_turn(monkeypatch):
    # An interruption doubles all times of the last turns. The ratio does not feel it.
    turns = [[2.0, 4.0]] * 3 + [[4.0, 8.0]] * 3
    monkeypatch.setattr(side_by_side, "in_turns", lambda runs, seconds, device: turns)
    monkeypatch.setattr(side_by_side, "peak_memory", lambda run, device: run())
    result = measure(Comparison("ours / theirs", "case", lambda: 1, lambda: 16), CPU)
    assert (result.ratio, result.seconds, result.memory) == ((0.5, 0.5, 0.5), (3.0, 6.0), (1, 16))


def tensors(result):
    return [part for part in (result if isinstance(result, tuple) else (result,)) if part is not None]


@pytest.mark.parametrize("comparison", [*comparisons(CPU, TINY)], ids=lambda one: f"{one.title}, {one.case}")
def test_both_sides_do_the_same(comparison):
    for ours, theirs in zip(tensors(comparison.ours()), tensors(comparison.theirs()), strict=True):
        assert ours.shape == theirs.shape
        if comparison.alike:
            # float32 rounds at 1e-7, and gradients here add up a few dozen numbers of size 1.
            torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-5)


def test_the_fast_path_is_on_again_after_it_was_off():
    assert not the_package.without_fast_path()(torch.backends.mha.get_fastpath_enabled)()
    assert torch.backends.mha.get_fastpath_enabled()


def told(ratio, memory, **goals):
    comparison = Comparison("ours / theirs", "n = 2", lambda: None, lambda: None, **goals)
    result = Result(comparison, (0.001, 0.002), (ratio - 0.1, ratio, ratio + 0.1), (memory, 64_000_000))
    return " ".join(line(result).split())


def test_a_line_tells_the_ratio_its_spread_and_whether_what_is_shown_meets_the_goals():
    both_met = told(0.5, 4_000_000, time_goal=1.0, memory_goal=1 / 16)
    assert both_met == "n = 2 1 / 2 0.50 [0.40–0.60] ≤ 1 ✓ 4 / 64 ≤ 0.0625 ✓"
    assert told(1.06, 8_000_000, time_goal=1.05, memory_goal=1 / 16).count("✗") == 2
    assert ["✓" in told(ratio, 1, time_goal=1.0) for ratio in (1.004, 1.006)] == [True, False]
    assert not set("≤✓✗") & set(told(0.5, 4_000_000))


@pytest.mark.weekly
def test_a_whole_run_has_a_row_for_each_comparison(monkeypatch, capsys):
    threads = torch.get_num_threads()
    monkeypatch.setattr(the_package, "machines", lambda: [("here", CPU, 1)])
    monkeypatch.setattr(side_by_side, "SAMPLE_SECONDS", 0)
    monkeypatch.setattr(the_package, "measure", partial(measure, seconds=0))
    try:
        the_package.main(TINY)
    finally:
        torch.set_num_threads(threads)
    table = capsys.readouterr().out
    for comparison in comparisons(CPU, TINY):
        assert comparison.title in table
        assert f"  {comparison.case} " in table
