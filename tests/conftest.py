"""What several test files need."""

import functools
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch
from bs4 import BeautifulSoup
from clocks import Clock

from bookkit.checking.exercise import Exercise
from bookkit.checking.report import Report
from tools import ROOT
from tools.site import build
from tools.site.server import serving

pytest_plugins = ["browser_pages", "live_server"]  # a browser to look at the site with, and `make live`

# `make test` has a worker for each core: second threads would mostly wait for each other.
torch.set_num_threads(1)


@pytest.fixture(scope="session")
def site() -> Path:
    """The built site, from just the files that are here: `make test` makes it before the tests."""
    if not build.is_up_to_date():
        pytest.fail("the site in _build/html is not built from these files: run `make book`", pytrace=False)
    return ROOT / "_build" / "html"


@pytest.fixture(scope="session")
def soup(site: Path) -> Callable[[str], BeautifulSoup]:
    """`soup("index.html")` is that page, parsed once for all tests: to be read, and not to be changed."""

    @functools.cache
    def parsed(name: str) -> BeautifulSoup:
        return BeautifulSoup((site / name).read_text("utf-8"), "html.parser")

    return parsed


@pytest.fixture(autouse=True)
def faults_of_checks_are_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader is asked to report them; a test must fail."""

    broken_off = Exercise._broken_off

    def raised_again(check: Exercise, error: Exception) -> Report:
        report = broken_off(check, error)
        if report.fault:
            raise report.fault
        return report

    monkeypatch.setattr(Exercise, "_broken_off", raised_again)


@pytest.fixture(autouse=True)
def nothing_hangs_on_other_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither on the numbers that they drew, nor on how busy they keep the machine: no limit runs out."""
    torch.manual_seed(1729)  # no test's own, so that whoever draws or seeds leaves other dice
    Clock(monkeypatch)


@pytest.fixture(scope="session")
def base_url(site: Path) -> Iterator[str]:
    with serving(site) as address:
        yield address
