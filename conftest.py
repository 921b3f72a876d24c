"""How the chapters are checked under nbval, and what the last lines of a run say."""

import contextlib
import gc
import math
import os
import sys
import warnings
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from jupyter_client.provisioning import local_provisioner
from nbval import plugin
from nbval.kernel import RunningKernel
from nbval.plugin import IPyNbCell, IPyNbFile

from bookkit import catalogue
from bookkit.mime_types import CLAIM, PICTURE
from tools import ROOT
from tools.chapters import likeness, notebooks
from tools.testing import kernels

if not Path(catalogue.__file__).is_relative_to(ROOT):
    sys.exit(
        f"the tests are those of {ROOT}, and Python takes the packages from {Path(catalogue.__file__).parent}"
    )
pytest_plugins = ["tools.testing.plugin"]
# HTML always has plain text beside it, and that text is compared (test_notebooks.py sees to both). The HTML
# of a claim also shows the measured value, whose last digits may differ from machine to machine. The picture
# of a chart is made from the chart, which is compared.
NOT_COMPARED = ("text/html", CLAIM, PICTURE)
# To the letter. What it is given by `compare_outputs` here has words in place of pictures.
TO_THE_LETTER = IPyNbCell.compare_outputs
# nbval's kernels alone: those of other tests have settings of their own. On Linux alone, since elsewhere a
# fork of what has loaded PyTorch may not live; and on a CPU alone, since CUDA does not outlive a fork.
FORKED = (
    mock.patch.object(local_provisioner, "launch_kernel", kernels.Forked)
    if sys.platform == "linux" and os.environ.get("ATTNLAB_DEVICE") == "cpu"
    else contextlib.nullcontext()
)
# The stored outputs are the sample's, also where somebody has put the real texts beside it.
os.environ["ATTNLAB_ONLY_SAMPLE"] = "1"
LISTS = Path(__file__).parent / "_build"  # where long lists go, which nobody needs to see when all is well
# MB for one chapter: Binder gives 2 GB to JupyterLab and all open chapters together. It has PyTorch as built
# for CPUs; merely to import what is built for GPUs takes half of this.
MOST_MEMORY = 1000 if version("torch").endswith("+cpu") else math.inf
# What may take more: its model alone, whose numbers this book unpacks to read them, takes 538.
MORE_MEMORY = {"a-real-model-opened.ipynb": 1100}


def pytest_collectstart(collector: pytest.Collector) -> None:
    if isinstance(collector, IPyNbFile):
        collector.skip_compare += NOT_COMPARED


def compare_outputs(cell: IPyNbCell, test: list[Any], ref: list[Any], skip_compare: Any = None) -> bool:
    """nbval's, by the names that it has: pictures as pictures, all else to the letter."""
    stored, fresh = likeness.in_words(ref, test)
    return bool(TO_THE_LETTER(cell, fresh, stored, skip_compare))


def started_kernel(*arguments: Any, **settings: Any) -> RunningKernel:
    """nbval's kernel. Its ports were free a moment before: where another was quicker to take one, it dies."""
    with FORKED:
        with contextlib.suppress(RuntimeError):
            return RunningKernel(*arguments, **settings)
        with warnings.catch_warnings(action="ignore", category=ResourceWarning):
            gc.collect()  # what the dead one left open
        return RunningKernel(*arguments, **settings)


IPyNbCell.compare_outputs = compare_outputs
plugin.RunningKernel = started_kernel


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
    """After a chapter's last cell, while its kernel still lives, ask what memory it took at most."""
    is_last = isinstance(item, IPyNbCell) and (nextitem is None or nextitem.parent is not item.parent)
    megabytes = peak_memory(item.parent.kernel.km.provisioner.pid) if is_last and item.parent.kernel else None
    yield  # to stop the kernel comes first: what fails before that fails the next chapter's first cell, too
    if megabytes is not None:
        item.user_properties.append(("peak memory", megabytes))
        most = max(MOST_MEMORY, MORE_MEMORY.get(item.path.name, 0))
        if megabytes > most:
            pytest.fail(f"{item.path.name} took {megabytes} MB of memory; the limit is {most} MB")


def peak_memory(process: int) -> int | None:
    """In MB; None where the system does not tell (it does on Linux)."""
    status = Path(f"/proc/{process}/status")
    if not status.exists():
        return None
    for line in status.read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) // 1000
    return None


def pytest_report_teststatus(report: pytest.TestReport) -> tuple[str, str, str] | None:
    """No dot for what passes: thousands of them would fill the screen."""
    return ("passed", "", "PASSED") if report.passed and report.when == "call" else None


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reports = [
        report
        for group in terminalreporter.stats.values()
        for report in group
        if isinstance(report, pytest.TestReport)
    ]
    LISTS.mkdir(exist_ok=True)
    show_chapters(terminalreporter, reports)
    show_exercises(terminalreporter, reports)
    show_statements(terminalreporter, reports)


def tested_file(report: pytest.TestReport) -> str:
    return report.nodeid.partition("::")[0]


def show_exercises(terminal: pytest.TerminalReporter, reports: list[pytest.TestReport]) -> None:
    """How many of the known mistakes each exercise's check names, as its test has counted."""
    told = [dict(report.user_properties).get("known mistakes") for report in reports]
    counted = {row[0]: catalogue.Row(*row) for row in told if row}
    if counted:
        order = [one.name for _, one in catalogue.every_exercise()]
        file = LISTS / "exercises.txt"
        table = catalogue.table(sorted(counted.values(), key=lambda row: order.index(row.exercise)))
        file.write_text(f"{table}\n", encoding="utf-8")
        _, known, rejected, named = table.splitlines()[-1].split()
        words = f"{known} known mistakes, {rejected} rejected, {named} named"
        terminal.write_line(f"exercises: {words} ({file.relative_to(ROOT)})")


def show_statements(terminal: pytest.TerminalReporter, reports: list[pytest.TestReport]) -> None:
    """Every number that the chapters' prose states, and what holds it."""
    told = [dict(report.user_properties).get("numbers") for report in reports if report.when == "call"]
    if lines := [line for of_chapter in told for line in of_chapter or ()]:
        file = LISTS / "numbers-in-the-prose.txt"
        file.write_text("\n".join([*lines, ""]), encoding="utf-8")
        count = sum(line.startswith(" ") for line in lines)
        terminal.write_line(f"numbers in the prose: {count} ({file.relative_to(ROOT)})")


def show_chapters(terminal: pytest.TerminalReporter, reports: list[pytest.TestReport]) -> None:
    """What the chapters cost, and the counts."""
    seconds: dict[str, float] = {}
    megabytes: dict[str, float] = {}
    cells = tests = 0
    for report in reports:
        file = tested_file(report)
        if not file.endswith(".ipynb"):
            tests += report.when == "call"
            continue
        cells += report.when == "call"
        seconds[file] = seconds.get(file, 0) + report.duration
        megabytes[file] = max([megabytes.get(file, 0), *(value for _, value in report.user_properties)])
    if seconds:
        claims = sum(len(notebooks.claims(notebooks.read(ROOT / file))) for file in seconds)
        slowest, largest = max(seconds, key=seconds.__getitem__), max(megabytes, key=megabytes.__getitem__)
        time = f"{sum(seconds.values()):.0f} s in all, {seconds[slowest]:.0f} s for {Path(slowest).stem}"
        memory = f"at most {megabytes[largest]:.0f} MB, for {Path(largest).stem}"
        terminal.write_line(f"chapters: {len(seconds)}, {time}, {memory}")
        terminal.write_line(f"checked: {cells} cells, {claims} claims, {tests} tests")
