"""What pytest does differently here: how it deals tests out, what it leaves out, that it says where it is.

Only under tools/testing/run.py, which makes a plan; pytest by itself runs what it is given.
"""

import json
import os
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import pytest
from xdist.remote import Producer
from xdist.workermanage import WorkerController

from tools.progress import Progress
from tools.testing import dealing
from tools.testing.passed import Digests, Passed, left_out

TOOK = "seconds.json"  # beside what has passed: how long each unit took
# Names the file that holds the plan of a run.
PLAN = "ATTNLAB_PLAN"


@dataclass(frozen=True)
class Plan:
    """`Plan(known, digests, kept)`: what need not run, and where to keep what passes, under which digests."""

    known: list[str]
    chapters: dict[str, str]
    project: str
    kept: str

    @classmethod
    def read(cls) -> "Plan | None":
        """`Plan.read()` is the one for this run, the same for all workers; None where there is none."""
        file = os.environ.get(PLAN)
        return cls(**json.loads(Path(file).read_text(encoding="utf-8"))) if file else None

    def write(self, file: Path) -> dict[str, str]:
        """`plan.write(file)` are the variables by which a run finds it."""
        file.parent.mkdir(exist_ok=True)
        file.write_text(json.dumps(asdict(self)), encoding="utf-8")
        return {PLAN: str(file)}


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Every worker comes to the same list: it depends on nothing but names and files."""
    if plan := Plan.read():
        out = left_out([item.nodeid for item in items], {*plan.known})
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid in out])
        items[:] = [item for item in items if item.nodeid not in out]
    by_name = {item.nodeid: item for item in items}
    # A notebook's cells have no fixtures.
    for_the_site = [name for name, item in by_name.items() if "site" in getattr(item, "fixturenames", ())]
    order = dealing.longest_first([*by_name], config.option.markexpr, for_the_site)
    items[:] = [by_name[name] for name in order]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> dealing.Dealing:
    # By itself xdist deals out first what has the most tests, however quick they are.
    config.option.loadscopereorder = False
    return dealing.Dealing(config, log)


def pytest_configure(config: pytest.Config) -> None:
    is_worker = hasattr(config, "workerinput")
    if (plan := Plan.read()) and not is_worker:
        config.pluginmanager.register(Follower(config, plan), "follower")


class Follower:
    """Follows a run from where tests are dealt out: keeps what passes, shows what fails, says where it is."""

    def __init__(self, config: pytest.Config, plan: Plan) -> None:
        self.config = config
        # As the files were when the run began: what is edited meanwhile has not passed.
        self.passed = Passed(Path(plan.kept), Digests(plan.chapters, plan.project))
        self.progress = Progress("test")
        self.seconds: dict[str, float] = {}  # of each unit that is still expected
        self.left: dict[str, int] = {}  # its tests
        self.took: dict[str, float] = {}  # and what it really took
        self.running: dict[str, float] = {}  # test -> when it began
        self.failed: set[str] = set()
        self.all = 0.0

    def pytest_sessionstart(self) -> None:
        self.passed.begin()
        self.progress.__enter__()

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, node: WorkerController, ids: list[str]) -> None:
        self.seconds = dealing.expected(ids, self.config.option.markexpr)
        self.all = sum(self.seconds.values())
        self.left = {}
        for test in ids:
            self.left[dealing.unit_of(test)] = self.left.get(dealing.unit_of(test), 0) + 1

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.running[nodeid] = time.monotonic()
        self._say()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        unit = dealing.unit_of(report.nodeid)
        self.took[unit] = self.took.get(unit, 0) + report.duration
        if not report.passed:
            self.failed.add(report.nodeid)
        if report.failed:
            self._show(report)
        if report.when == "teardown":
            self.running.pop(report.nodeid, None)
            if report.nodeid not in self.failed:
                self._keep(report.nodeid)
            if unit in self.left:
                self.seconds[unit] -= self.seconds[unit] / self.left[unit]
                self.left[unit] -= 1
            self._say()

    def pytest_sessionfinish(self) -> None:
        self.progress.__exit__(None, None, None)

    @pytest.hookimpl(wrapper=True)
    def pytest_terminal_summary(self) -> Iterator[None]:
        selected, file = self.config.option.markexpr, self.passed.file.with_name(TOOK)
        known = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
        # A run that goes on from another adds to what that one found.
        file.write_text(
            json.dumps({**known, selected: {**known.get(selected, {}), **self.took}}), encoding="utf-8"
        )
        yield

    def pytest_report_teststatus(self, report: pytest.TestReport) -> tuple[str, str, str] | None:
        """No letter for anything: what fails is shown whole, and the line says where the run is."""
        if report.failed:
            return ("failed" if report.when == "call" else "error"), "", ""
        return ("skipped", "", "") if report.skipped else None

    def _keep(self, test: str) -> None:
        try:
            self.passed.keep(test)
        except OSError as error:
            pytest.exit(f"{error.filename}: {error.strerror}", returncode=1)

    def _say(self) -> None:
        longest = sorted(self.running, key=self.running.__getitem__)
        files = dict.fromkeys(Path(test.partition("::")[0]).name for test in longest)
        share = 1 - sum(self.seconds.values()) / self.all if self.all else 0
        self.progress.at(share, ", ".join(files))

    def _show(self, report: pytest.TestReport) -> None:
        """The failure, whole, when it happens; pytest shows all of them once more at the end."""
        terminal = self.config.get_terminal_writer()
        self.progress.clear()
        terminal.line()
        terminal.sep("_", f"{report.nodeid} failed", red=True)
        report.toterminal(terminal)
        terminal.flush()
