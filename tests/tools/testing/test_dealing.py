"""How tests are dealt out: in units, the longest first."""

from types import SimpleNamespace

import pytest

from tools import ROOT
from tools.testing import dealing, plugin

CHAPTER = ["book/a.ipynb::Cell 0", "book/a.ipynb::Cell 1"]
SHORT = ["tests/b.py::test_one", "tests/b.py::test_two"]
PAGES = ["tests/site/test_pages.py::test_page[a]", "tests/site/test_pages.py::test_page[b]"]
A, B = "tests/site/test_pages.py[a]", "tests/site/test_pages.py[b]"


@pytest.fixture(autouse=True)
def what_is_known(monkeypatch):
    monkeypatch.setattr(dealing, "known", lambda selected: {B: 20.0})


def test_a_file_is_a_unit_and_of_a_long_one_each_thing():
    assert [dealing.unit_of(test) for test in CHAPTER] == ["book/a.ipynb"] * 2
    assert [dealing.unit_of(test) for test in PAGES] == [A, B]
    assert dealing.unit_of("tests/site/test_pages.py::test_print[a]") == A
    assert dealing.unit_of("tests/site/test_pages.py::test_search") == "tests/site/test_pages.py::test_search"


def test_what_takes_longest_comes_first_and_units_stay_in_their_order():
    tests = [*SHORT, *PAGES, *CHAPTER]
    assert dealing.longest_first(tests) == [PAGES[1], *CHAPTER, *SHORT, PAGES[0]]
    assert sorted(dealing.longest_first(tests)) == sorted(tests)


def test_who_waits_for_the_site_comes_last_with_all_of_its_unit():
    waiting = dealing.longest_first([*SHORT, *CHAPTER, *PAGES], waiting=PAGES[1:])
    assert waiting == [*CHAPTER, *SHORT, PAGES[0], PAGES[1]]
    assert dealing.longest_first([*SHORT, *CHAPTER], waiting=SHORT[:1]) == [*CHAPTER, *SHORT]


def test_nothing_reorders_what_is_dealt_out(monkeypatch):
    monkeypatch.setattr(dealing, "Dealing", lambda config, log: config.option.loadscopereorder)
    config = SimpleNamespace(option=SimpleNamespace(loadscopereorder=True))
    assert plugin.pytest_xdist_make_scheduler(config, None) is False


def test_what_is_not_known_is_taken_for_short_unless_it_is_a_chapter():
    seconds = dealing.expected([*SHORT, *CHAPTER])
    assert seconds == {"tests/b.py": 2 * dealing.A_TEST, "book/a.ipynb": dealing.A_CHAPTER}


def test_the_files_that_are_dealt_out_by_tests_are_there():
    assert [file for file in dealing.ONE_BY_ONE if not (ROOT / file).is_file()] == []


def test_a_unit_takes_as_long_as_those_of_its_tests_that_run(monkeypatch, tmp_path):
    monkeypatch.undo()
    monkeypatch.setattr(dealing, "SECONDS", tmp_path / "seconds.json")
    dealing.SECONDS.write_text('{"thorough": {"a": 5.0}, "not thorough": {"a": 2.0, "b": 1.0}}')
    dealing.known.cache_clear()
    assert dealing.known("thorough") == {"a": 5.0}
    assert dealing.known() == {"a": 7.0, "b": 1.0}
    dealing.known.cache_clear()
