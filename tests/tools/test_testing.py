"""How `make test` and `make check` run, and the line that says where a command is."""

import io
import os
import subprocess
import sys
from types import SimpleNamespace

import pytest

from tools import ROOT, progress
from tools.progress import Progress, spoken
from tools.testing import check, run
from tools.testing.check import Job, Memory


@pytest.fixture
def suite(monkeypatch):
    """`suite("rest", types=1)`: its status, and the expression of marks that pytest was given, if any."""
    monkeypatch.setattr(check.Memory, "keep", lambda self, jobs: None)
    monkeypatch.setattr(check, "everything", list)

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


# ---- `make check` runs again what an edit touches, and remembers the rest ----


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A room that imports another, and the test of it."""
    for name, source in {
        "book/attnlab/__init__.py": "",
        "book/attnlab/masks.py": "ROW = 1\n",
        "book/attnlab/scores.py": "from attnlab import masks\n",
        "book/attnlab/corpora/text.py": "",
        "tests/support/cases.py": "from attnlab.corpora.text import Field\n",
        "tests/test_scores.py": "import math\n\nimport cases\nfrom attnlab.scores import dot\n",
    }.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(source)
    monkeypatch.setattr(check, "PLACES", [tmp_path / "book", tmp_path / "tests/support"])
    remembering = (check.imported, check.named_in, check.files_of)
    for each in remembering:
        each.cache_clear()
    yield tmp_path
    for each in remembering:
        each.cache_clear()


def test_a_test_depends_on_all_that_it_imports(project):
    found = {str(file.relative_to(project)) for file in check.imported(project / "tests/test_scores.py")}
    assert found == {"tests/test_scores.py", "tests/support/cases.py"} | {
        f"book/attnlab/{name}.py" for name in ("__init__", "masks", "scores", "corpora/text")
    }


def test_what_passed_is_not_fresh_until_its_digest_changes(tmp_path):
    memory = Memory(tmp_path / "_build" / "passed.json")
    one, other = Job("one", ("a",), "1"), Job("other", ("b",), "1")
    assert memory.fresh([one, other]) == [one, other]
    memory.keep([one])
    again = Memory(tmp_path / "_build" / "passed.json")
    assert again.fresh([one, other]) == [other]
    assert again.fresh([Job("one", ("a",), "2")]) == [Job("one", ("a",), "2")]


def test_parts_of_one_file_run_together_by_name_and_files_one_after_the_other():
    pages = [Job(f"page {name}", ("tests/p.py", "-k", f"{name}.html"), "") for name in "ab"]
    assert check.together(pages) == ["tests/p.py", "-k", "a.html or b.html"]
    assert check.together([Job("x", ("x.py",), ""), Job("y", ("y.py",), "")]) == ["x.py", "y.py"]


@pytest.mark.thorough
def test_every_room_chapter_and_page_is_known(site):
    names = [one.name for one in check.everything()]
    assert len(names) == len(set(names))
    some = {"tests/attnlab/test_scores.py", "faults planted in attnlab/scores", "where-am-i", "page index"}
    assert some <= {*names}
    assert "tests/chapters/where_am_i/test_charts.py" not in names, "it looks at the built site"


# ---- while tests run ----


TESTS = """
def test_one():
    pass

def test_two():
    assert "this went wrong" == ""
"""


def test_a_failure_is_shown_when_it_happens_and_a_line_says_where_the_run_is(tmp_path):
    (tmp_path / "conftest.py").write_text("from tools.testing import plugin\n\nplugin.SELDOM = 0\n")
    (tmp_path / "test_it.py").write_text(TESTS)
    command = [sys.executable, "-m", "pytest", "-q", "-c", os.devnull, f"--rootdir={tmp_path}"]
    command += ["-p", "tools.testing.plugin", "-n", "1", "test_it.py"]
    path = {"PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "book")])}
    said = subprocess.run(command, cwd=tmp_path, env=os.environ | path, capture_output=True, text=True)
    meanwhile, _, at_the_end = said.stdout.partition("= FAILURES =")
    assert "test_it.py::test_two failed" in meanwhile
    assert "assert 'this went wrong' == ''" in meanwhile
    assert "assert 'this went wrong' == ''" in at_the_end
    assert "test: 2 of 2 tests; now test_it.py" in meanwhile


# ---- the line that says where a command is ----


@pytest.mark.parametrize(("seconds", "words"), [(3, "10 s"), (44, "40 s"), (89, "90 s"), (100, "2 min")])
def test_a_time_is_told_in_round_numbers(seconds, words):
    assert spoken(seconds) == words


@pytest.mark.parametrize(
    ("terminal", "shown"),
    [
        (False, "refresh: 25 %, 3 min left: where-am-i\nrefresh: stored\nrefresh: 50 %, 2 min left: end\n"),
        (
            True,
            "\r\x1b[Krefresh: 1 %: begin\r\x1b[Krefresh: 25 %, 3 min left: where-am-i"
            "\r\x1b[Krefresh: 30 %, 3 min left: next\r\x1b[Krefresh: stored\n"
            "\r\x1b[Krefresh: 50 %, 2 min left: end\r\x1b[K",
        ),
    ],
)
def test_on_a_terminal_one_line_is_written_over_and_elsewhere_one_comes_now_and_then(
    terminal, shown, monkeypatch
):
    now = [0.0]
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: now[0]))
    stream = io.StringIO()
    stream.isatty = lambda: terminal
    with Progress("refresh", stream) as line:
        for now[0], share, doing in ((3, 0.01, "begin"), (60, 0.25, "where-am-i"), (65, 0.3, "next")):
            line.at(share, doing)
        line.say("refresh: stored")
        now[0] = 100
        line.at(0.5, "end")
    assert stream.getvalue() == shown
