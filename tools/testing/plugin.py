"""While tests run: what is long first, a line every half minute, and each failure when it happens."""

import time
from pathlib import Path

import pytest

SELDOM = 30.0  # seconds between two lines
# Files that take minutes. Each goes to one worker, whole: dealt out last, they would leave the others idle.
LONG = ("test_grader.py", "test_trainings.py", "test_pages.py")


@pytest.hookimpl(trylast=True)  # after all that sort by something else
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: item.path.suffix != ".ipynb" and item.path.name not in LONG)


@pytest.hookimpl(trylast=True)  # pytest's own terminal must be there
def pytest_configure(config: pytest.Config) -> None:
    # With workers, from where they are started; without, pytest says by itself where it is.
    if config.getoption("numprocesses", None):
        config.pluginmanager.register(Follower(config), "follower")


class Follower:
    """Follows a run from where tests are dealt out to workers."""

    def __init__(self, config: pytest.Config) -> None:
        self.terminal = config.get_terminal_writer()
        self.ended = self.all = 0
        self.said = time.monotonic()
        self.running: set[str] = set()

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        self.all = len(ids)

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.running.add(nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.terminal.line()
            self.terminal.sep("_", f"{report.nodeid} failed", red=True)
            report.toterminal(self.terminal)

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self.ended += 1
        if time.monotonic() - self.said > SELDOM:
            files = sorted({Path(test.partition("::")[0]).name for test in self.running})
            self.terminal.line(f"test: {self.ended:,} of {self.all:,} tests; now {', '.join(files)}")
            self.terminal.flush()
            self.said = time.monotonic()
        self.running.discard(nodeid)
