"""How `make test` and `make check` run."""

import os
import subprocess
import sys
from types import SimpleNamespace

import pytest

from tools import ROOT
from tools.testing import check, run

EXERCISES = "src/chapters/where_am_i/exercises"
REACH = ["tests/site/test_reach_view.py", "-m", "not weekly"]
PAGE = ["tests/site/test_pages.py", "-k", "where-am-i.html"]


@pytest.fixture
def suite(monkeypatch):
    """`suite("rest", types=1)`: its status, and the expression of marks that pytest was given, if any."""

    def go(tier="people", types=0, site=0, status=0):
        asked = []
        mypy = SimpleNamespace(wait=lambda: types, kill=lambda: None)
        monkeypatch.setattr(run.subprocess, "Popen", lambda *words, **options: mypy)
        monkeypatch.setattr(run.subprocess, "run", lambda *words, **options: SimpleNamespace(returncode=site))
        monkeypatch.setattr(run, "pytest", lambda *words, **variables: asked.append(words[3]))
        monkeypatch.setattr(run, "finished", lambda process: status)
        return run.suite(tier), asked

    return go


def test_what_each_push_asks_is_asked_once_and_the_week_asks_the_rest(suite):
    asked = {tier: suite(tier)[1][0] for tier in run.TIERS}

    def tiers_of(**marks):
        return {tier for tier, wanted in asked.items() if eval(wanted, {"thorough": 0, "weekly": 0} | marks)}

    assert tiers_of() == {"people", "all"}
    assert tiers_of(thorough=1) == {"rest", "all"}
    assert tiers_of(weekly=1) == tiers_of(weekly=1, thorough=1) == {"weekly"}


@pytest.mark.parametrize(
    ("fails", "status", "runs"),
    [
        ({}, 0, True),
        ({"types": 1}, 1, True),  # told when the tests have run
        ({"site": 1}, 1, False),
        *(({"status": status}, 1, True) for status in (1, 4, 5)),
    ],
)
def test_it_fails_where_types_site_or_pytest_do(suite, fails, status, runs):
    assert suite(**fails) == (status, [run.TIERS["people"]] * runs)


def test_a_full_disk_is_told_in_one_line(suite, monkeypatch):
    monkeypatch.setattr(run.shutil, "disk_usage", lambda folder: SimpleNamespace(free=3_000_000))
    with pytest.raises(SystemExit, match=r"^test: the disk has room for 3 MB, and the tests need 500 MB$"):
        suite()


# ---- `make check` runs what an edit touches ----


def test_what_was_edited_git_knows(tmp_path, monkeypatch):
    def git(*words):
        who = ["-c", "user.name=reader", "-c", "user.email=reader@example.org"]
        subprocess.run(["git", *who, *words], cwd=tmp_path, check=True)

    old, gone, new = (tmp_path / name for name in ("old.py", "gone.py", "new.py"))
    monkeypatch.setattr(check, "ROOT", tmp_path)
    assert check.edited() == [], "there is no repository"
    for file in (old, gone):
        file.write_text("")
    for command in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-qm", "first"]):
        git(*command)
    assert check.edited() == []
    old.write_text("1")
    gone.unlink()
    new.write_text("")
    assert check.edited() == ["new.py", "old.py"]
    for command in (["checkout", "-qb", "branch"], ["add", "."], ["commit", "-qm", "an edit"]):
        git(*command)
    assert check.edited() == ["new.py", "old.py"], "on a branch, since it left main"


@pytest.mark.parametrize(
    ("file", "runs"),
    [
        ("src/attnlab/masks.py", [["tests/attnlab/test_masks.py"]]),
        (f"{EXERCISES}/waves.py", [["tests/chapters", "-k", "waves or test_where_am_i"]]),
        ("tests/attnlab/test_masks.py", [["tests/attnlab/test_masks.py"]]),
        ("book/where-am-i.ipynb", [["book/where-am-i.ipynb"], PAGE]),
        ("book/glossary.md", [["tests/site/test_pages.py", "-k", "glossary.html"]]),
        ("book/_ext/folds.py", [["tests/site"]]),
        ("book/_static/bench/reach_carry.js", [REACH, check.tests_of("book/_static/x.js")]),
        ("tests/site/test_folds.py", [["tests/site/test_folds.py"]]),
        ("README.md", []),
    ],
)
def test_it_runs_what_asks_about_a_file(file, runs):
    assert check.touched([file]) == runs


# ---- while tests run ----


TESTS = """
def test_one():
    pass

def test_two():
    assert "this went wrong" == ""
"""


@pytest.mark.thorough
def test_a_failure_is_shown_when_it_happens_and_a_line_says_where_the_run_is(tmp_path):
    (tmp_path / "conftest.py").write_text("from tools.testing import plugin\n\nplugin.SELDOM = 0\n")
    (tmp_path / "test_it.py").write_text(TESTS)
    command = [sys.executable, "-m", "pytest", "-q", "-c", os.devnull, f"--rootdir={tmp_path}"]
    command += ["-p", "tools.testing.plugin", "-n", "1", "test_it.py"]
    path = {"PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src")])}
    said = subprocess.run(command, cwd=tmp_path, env=os.environ | path, capture_output=True, text=True)
    meanwhile, _, at_the_end = said.stdout.partition("= FAILURES =")
    assert "test_it.py::test_two failed" in meanwhile
    assert "assert 'this went wrong' == ''" in meanwhile
    assert "assert 'this went wrong' == ''" in at_the_end
    assert "test: 2 of 2 tests; now test_it.py" in meanwhile
