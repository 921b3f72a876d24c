"""The measuring is right, and both sides of each comparison do the same. No time is asserted."""

import sys
from collections.abc import Callable, Iterator
from functools import partial
from types import SimpleNamespace
from xml.etree import ElementTree

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from bookkit.playground import exported, openable
from tools.bench import run, side_by_side, the_package, the_site, writing
from tools.bench.side_by_side import (
    Comparison,
    Limit,
    Quartiles,
    in_turns,
    line,
    measure,
    quartiles,
)
from tools.bench.the_package import Machine, Sizes, comparisons

CPU = torch.device("cpu")
TINY = Sizes(
    lengths=(2, 4), tokens=4, heads=2, d_k=4, layer=(2, 3, 8), layer_heads=2, masked=4, additive=(4, 2),
    table=(3, 4), read=(3, 70), product=8,
    text=writing.Sizes(11, d_model=8, heads=2, groups=1, hidden=8, layers=2, behind=(3, 5), count=6),
)  # fmt: skip


def tiny() -> list[Comparison]:
    return list(comparisons(CPU, TINY))


# ---- the clock ----


class FakeClock:
    """It moves only when a run is called, by the seconds that the run takes."""

    def __init__(self) -> None:
        self.now = 0.0
        self.called: list[str] = []

    def __call__(self) -> float:
        return self.now

    def run(self, name: str, *seconds: float) -> Callable[[], None]:
        """A run that takes each of `seconds` in turn, and then the last for ever."""
        durations = iter(seconds)

        def run() -> None:
            self.called.append(name)
            self.now += next(durations, seconds[-1])

        return run


def test_turns_are_interleaved_and_mirrored():
    clock = FakeClock()
    in_turns([clock.run(name, 1.0) for name in "ABC"], seconds=40, clock=clock)
    first, sized, *turns = ("".join(clock.called[start : start + 3]) for start in (0, 3))
    assert (first, sized, turns) == ("ABC", "ABC", [])
    # Each run once to warm up, and once to be timed.
    assert "".join(clock.called[6:]) == "AABBCCCCBBAA" * 3 + "AABBCC"


def test_each_run_is_timed_alone():
    clock = FakeClock()
    turns = in_turns([clock.run("A", 1.0), clock.run("B", 3.0)], seconds=0, clock=clock)
    assert turns == [(1.0, 3.0)] * side_by_side.FEWEST_TURNS


def test_a_short_run_is_called_many_times_for_one_sample():
    clock = FakeClock()
    (turn, *_) = in_turns([clock.run("A", 0.001), clock.run("B", 1.0)], seconds=0, clock=clock)
    assert turn == pytest.approx((0.001, 1.0))
    assert clock.called[4:].count("A") == side_by_side.FEWEST_TURNS * (1 + 5)  # 5 times 1 ms make a sample


def test_the_first_call_which_sets_up_is_not_measured():
    clock = FakeClock()
    turns = in_turns([clock.run("A", 100.0, 0.001)], seconds=0, clock=clock)
    assert turns == [pytest.approx((0.001,))] * side_by_side.FEWEST_TURNS
    assert len(clock.called) == 2 + side_by_side.FEWEST_TURNS * (1 + 5), "nor does it say how long one takes"


def test_quartiles():
    assert quartiles([5.0, 1.0, 4.0, 2.0, 3.0]) == (2.0, 3.0, 4.0)


def test_ratio_shares_and_rate(monkeypatch):
    clock = FakeClock()
    monkeypatch.setattr(side_by_side, "clock_of", lambda device: clock)
    monkeypatch.setattr(side_by_side, "peak_memory", lambda run, device: 16)
    # An interruption doubles all times of the last turns. The ratio does not feel it.
    ours, theirs, limit = (
        clock.run(name, *[t] * 8, 2 * t) for name, t in (("A", 2.0), ("B", 4.0), ("C", 1.0))
    )
    comparison = Comparison("ours / theirs", "case", ours, theirs, Limit("limit", "", limit, 30.0), work=15.0)
    result = measure(comparison, CPU, seconds=0)
    assert result.ratio == (0.5, 0.5, 0.5)
    # 15 of its 30 would take the limit half a second.
    assert result.shares == (0.25, 0.125)
    assert result.rate == 20  # half of the limit's times are 1, half are 2


# ---- the comparisons ----


def tensors(result: object) -> Iterator[torch.Tensor]:
    for part in result if isinstance(result, tuple) else (result,):
        if part is not None:
            yield part


def test_both_sides_do_the_same():
    for comparison in tiny():
        pairs = zip(tensors(comparison.ours()), tensors(comparison.theirs()), strict=True)
        for ours, theirs in pairs:
            assert ours.shape == theirs.shape
            if not comparison.alike:
                continue
            # float32 rounds at 1e-7, and gradients here add up a few dozen numbers of size 1.
            torch.testing.assert_close(
                ours,
                theirs,
                rtol=1e-4,
                atol=1e-5,
                msg=lambda why, of=comparison: f"{of.title}, {of.case}: {why}",
            )


def test_work_is_what_pytorch_counts():
    counted = 0
    for comparison in tiny():
        if comparison.title.startswith("attend with weights") or comparison.case == "training, with weights":
            counted += 1
            with FlopCounterMode(display=False) as flops:
                comparison.theirs()
            assert comparison.work == flops.get_total_flops()
            with FlopCounterMode(display=False) as flops:
                comparison.limit.run()
            assert comparison.limit.work == flops.get_total_flops()
    assert counted == 3


def test_the_fast_path_is_on_again_after_it_was_off():
    seen = []
    the_package.without_fast_path()(lambda: seen.append(torch.backends.mha.get_fastpath_enabled()))()
    assert seen == [False]
    assert torch.backends.mha.get_fastpath_enabled()


# ---- the report ----


def result(ratio: float, memory: int, **goals: float) -> side_by_side.Result:
    limit = Limit("matmul", "FLOP/s", lambda: None, 1.0)
    comparison = Comparison("ours / theirs", "n = 2", lambda: None, lambda: None, limit, 1.0, **goals)
    return side_by_side.Result(
        comparison, seconds=(0.001, 0.002), ratio=Quartiles(ratio - 0.1, ratio, ratio + 0.1),
        shares=(0.5, 0.25), rate=2e9, memory=(memory, 64_000_000),
    )  # fmt: skip


def test_a_line_tells_the_ratio_its_spread_and_whether_the_goals_are_met():
    both_met = line(result(0.5, 4_000_000, time_goal=1.0, memory_goal=1 / 16))
    words = "n = 2 1 / 2 0.50 [0.40–0.60] ≤ 1 ✓ 50 % / 25 % of matmul 4 / 64 0.062 ≤ 0.0625 ✓"
    assert " ".join(both_met.split()) == words
    assert line(result(1.06, 8_000_000, time_goal=1.05, memory_goal=1 / 16)).count("✗") == 2
    assert not set("≤✓✗") & set(line(result(0.5, 4_000_000)))


@pytest.mark.parametrize(("ratio", "reached"), [(1.004, True), (1.006, False), (0.9, True)])
def test_a_goal_is_met_by_what_is_shown(ratio, reached):
    assert result(ratio, 1, time_goal=1.0).goals == (reached, None)


def test_a_whole_run(monkeypatch, tmp_path, capsys):
    threads = torch.get_num_threads()
    monkeypatch.setattr(the_package, "FOLDER", tmp_path)
    monkeypatch.setattr(side_by_side, "SAMPLE_SECONDS", 0)
    monkeypatch.setattr(the_package, "measure", partial(measure, seconds=0))
    monkeypatch.setattr(the_package, "machines", lambda: [Machine("a small machine", CPU, 1, TINY)])
    try:
        the_package.main()
    finally:
        torch.set_num_threads(threads)
    table = capsys.readouterr().out
    assert tmp_path.joinpath("package.txt").read_text("utf-8") == table
    for comparison in tiny():
        assert comparison.title in table
        assert f"  {comparison.case} " in table
    assert table.splitlines()[-1].startswith("bench: goals met: ")
    assert "of 25 on a small machine" in table
    picture = ElementTree.parse(tmp_path / "package-1.svg").getroot()
    assert picture.tag == "{http://www.w3.org/2000/svg}svg"


def test_machines_are_one_core_all_cores_and_a_gpu_where_there_is_one():
    machines = list(the_package.machines())
    assert [machine.threads for machine in machines if machine.device == CPU] == sorted(
        {1, torch.get_num_threads()}
    )
    assert sum(machine.device.type == "cuda" for machine in machines) == torch.cuda.is_available()


@pytest.mark.thorough
def test_each_model_in_the_page_is_timed_at_every_text_that_it_offers(browser, base_url, site, monkeypatch):
    monkeypatch.setattr(the_site, "SITE", site)
    pages = the_site.models()
    assert sorted(pages) == sorted(openable())
    for model, page in pages.items():
        each = the_site.milliseconds_a_word(browser, base_url + page, model)
        assert len(each) == len(exported(model)["offered"])
        assert min(each) > 0


@pytest.mark.parametrize(("arguments", "ran"), [([], ["package", "site"]), (["site"], ["site"])])
def test_the_command_runs_one_part_or_all(arguments, ran, monkeypatch):
    called = []
    for part in run.PARTS:
        module = SimpleNamespace(main=partial(called.append, part))
        monkeypatch.setitem(sys.modules, f"tools.bench.the_{part}", module)
    monkeypatch.setattr(sys, "argv", ["run.py", *arguments])
    monkeypatch.setattr(sys, "path", [*sys.path])
    run.main()
    assert called == ran
