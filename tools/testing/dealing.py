"""How tests are dealt out to workers: in units, those that take longest first, so that all work to the end.

A unit is a file, as its tests share what is set up for them. Of a file in ONE_BY_ONE it is the tests of one
page, one chapter, one exercise, one planted fault.
"""

import functools
import json
from collections.abc import Collection, Sequence
from pathlib import Path

from xdist.scheduler import LoadScopeScheduling

# Long files, whose tests of one thing need nothing of another's; what all need lives as long as the worker.
ONE_BY_ONE = (
    "tests/bookkit/test_catalogue.py",
    "tests/site/test_pages.py",
    "tests/site/test_rhythm.py",
    "tests/test_planted_faults.py",
    "tests/test_pretended_gpu.py",
)
# Seconds of each unit that takes more than one, on one idle core: they decide what comes first, and how much
# time is left, and nothing else. `python -m tools.testing.run --learn` writes them anew.
SECONDS = Path(__file__).with_name("seconds.json")
A_CHAPTER, A_TEST = 10.0, 0.03  # where nothing is known


def unit_of(test: str) -> str:
    """`unit_of("tests/a.py::test_b[c]")` is "tests/a.py"; of a file in ONE_BY_ONE it is "tests/a.py[c]"."""
    file, _, name = test.partition("::")
    if file not in ONE_BY_ONE:
        return file
    _, bracket, thing = name.partition("[")
    return f"{file}[{thing}" if bracket else test


@functools.cache
def known(selected: str = "") -> dict[str, float]:
    """`known("not thorough")` is what each unit took when these tests of it ran; `known()`, all of them."""
    table: dict[str, dict[str, float]] = json.loads(SECONDS.read_text("utf-8")) if SECONDS.exists() else {}
    if selected:
        return table.get(selected, {})
    together: dict[str, float] = {}
    for units in table.values():
        for unit, seconds in units.items():
            together[unit] = together.get(unit, 0) + seconds
    return together


def expected(tests: Sequence[str], selected: str = "") -> dict[str, float]:
    """`expected(tests, "not thorough")[unit]` is how many seconds each of their units will take."""
    counts: dict[str, int] = {}
    for test in tests:
        counts[unit_of(test)] = counts.get(unit_of(test), 0) + 1
    return {
        unit: known(selected).get(unit, A_CHAPTER if unit.endswith(".ipynb") else A_TEST * count)
        for unit, count in counts.items()
    }


def longest_first(tests: Sequence[str], selected: str = "", waiting: Collection[str] = ()) -> list[str]:
    """The tests in another order: by what their unit takes, and within a unit as they were.

    Units with a test among those `waiting` for the site come behind all others, while it is being made.
    """
    seconds, late = expected(tests, selected), {unit_of(test) for test in waiting}

    def place(test: str) -> tuple[bool, float, str, str]:
        unit = unit_of(test)
        # Units of one length stay side by side with those of their file.
        return unit in late, -seconds[unit], test.partition("::")[0], unit

    return sorted(tests, key=place)


class Dealing(LoadScopeScheduling):
    """pytest-xdist's own way to deal out groups of tests, with units for groups."""

    def _split_scope(self, nodeid: str) -> str:
        return unit_of(nodeid)
