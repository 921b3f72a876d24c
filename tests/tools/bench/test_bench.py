"""The measuring is right, and both sides of each comparison do the same. No time is asserted."""

import itertools
from functools import partial
from types import SimpleNamespace

import pytest
import torch

from bookkit.playground import exported, openable
from tools.bench import side_by_side, the_package, the_site, writing
from tools.bench.side_by_side import Comparison, Result, in_turns, line, measure
from tools.bench.the_package import Sizes, comparisons

CPU = torch.device("cpu")
TINY = Sizes(
    lengths=(2, 4), tokens=4, heads=2, d_k=4, layer=(2, 3, 8), layer_heads=2, masked=4, additive=(4, 2),
    table=(3, 4), read=(3, 70),
    text=writing.Sizes(11, d_model=8, heads=2, groups=1, hidden=8, layers=2, behind=(3, 5), count=6,
        read=3, real=False),
)  # fmt: skip


@pytest.fixture
def clock(monkeypatch):
    """It moves only when a run takes its seconds: `clock.run(2, 1)` takes two at first, and then one."""
    clock = SimpleNamespace(now=0.0)

    def run(*seconds):
        durations = itertools.chain(seconds, itertools.repeat(seconds[-1]))
        return lambda: setattr(clock, "now", clock.now + next(durations))

    clock.run = run
    monkeypatch.setattr(side_by_side, "clock_of", lambda device: lambda: clock.now)
    return clock


def test_each_is_timed_alone_a_short_one_by_many_calls_and_without_the_first_which_sets_up(clock):
    turns = in_turns([clock.run(100.0, 0.001), clock.run(3.0)], 0, CPU)
    assert turns == [pytest.approx([0.001, 3.0])] * side_by_side.FEWEST_TURNS
    assert clock.now < 100 + 0.001 * 100 + 3.0 * 100
    assert (clock.now - 100) % 3.0 > 0.001 * 4 * side_by_side.FEWEST_TURNS


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


def result(ratio, memory, **goals):
    comparison = Comparison("ours / theirs", "n = 2", lambda: None, lambda: None, **goals)
    return Result(comparison, (0.001, 0.002), (ratio - 0.1, ratio, ratio + 0.1), (memory, 64_000_000))


def test_a_line_tells_the_ratio_its_spread_and_whether_the_goals_are_met():
    both_met = line(result(0.5, 4_000_000, time_goal=1.0, memory_goal=1 / 16))
    assert " ".join(both_met.split()) == "n = 2 1 / 2 0.50 [0.40–0.60] ≤ 1 ✓ 4 / 64 ≤ 0.0625 ✓"
    assert line(result(1.06, 8_000_000, time_goal=1.05, memory_goal=1 / 16)).count("✗") == 2
    assert not set("≤✓✗") & set(line(result(0.5, 4_000_000)))
    assert [result(ratio, 1, time_goal=1.0).goals[0] for ratio in (1.004, 1.006)] == [True, False], "as shown"


@pytest.mark.weekly
def test_a_whole_run_has_a_row_for_each_comparison_and_counts_the_goals(monkeypatch, capsys):
    threads = torch.get_num_threads()
    first, *_ = machines = [*the_package.machines()]
    assert (first[1:], machines[-1][2]) == ((CPU, 1), threads)
    monkeypatch.setattr(the_package, "machines", lambda: [first])
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
    assert table.splitlines()[-1].startswith("bench: goals met: ")
    assert " of 25 on CPU" in table


@pytest.mark.thorough
def test_each_model_in_the_page_is_timed_at_every_text_that_it_offers(browser, base_url, site, monkeypatch):
    monkeypatch.setattr(the_site, "SITE", site)
    pages = the_site.models()
    assert sorted(pages) == sorted(openable())
    for model, page in pages.items():
        each = the_site.milliseconds_a_word(browser, base_url + page, model)
        assert len(each) == len(exported(model)["offered"])
        assert min(each) > 0
