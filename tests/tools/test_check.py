"""`make check` runs again what an edit touches, and remembers the rest."""

from types import SimpleNamespace

import pytest

from tools import ROOT, check, run_tests
from tools.check import Check, Memory


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
    check.imported.cache_clear()
    check.files_of.cache_clear()
    yield tmp_path
    check.imported.cache_clear()
    check.files_of.cache_clear()


def test_a_test_depends_on_all_that_it_imports(project):
    found = {str(file.relative_to(project)) for file in check.imported(project / "tests/test_scores.py")}
    assert found == {
        "book/attnlab/__init__.py",
        "book/attnlab/masks.py",
        "book/attnlab/scores.py",
        "book/attnlab/corpora/text.py",
        "tests/support/cases.py",
        "tests/test_scores.py",
    }


def test_what_passed_is_not_fresh_until_its_digest_changes(tmp_path):
    memory = Memory(tmp_path / "_build" / "passed.json")
    one, other = Check("one", ("a",), "1"), Check("other", ("b",), "1")
    assert memory.fresh([one, other]) == [one, other]
    memory.keep([one])
    again = Memory(tmp_path / "_build" / "passed.json")
    assert again.fresh([one, other]) == [other]
    assert again.fresh([Check("one", ("a",), "2")]) == [Check("one", ("a",), "2")]


def test_parts_of_one_file_run_together_by_name_and_files_one_after_the_other():
    pages = [
        Check("page a", ("tests/p.py", "-k", "a.html"), ""),
        Check("page b", ("tests/p.py", "-k", "b.html"), ""),
    ]
    assert check.together(pages) == ["tests/p.py", "-k", "a.html or b.html"]
    assert check.together([Check("x", ("x.py",), ""), Check("y", ("y.py",), "")]) == ["x.py", "y.py"]


def test_every_room_chapter_and_page_is_known(site):
    names = [one.name for one in check.everything()]
    assert len(names) == len(set(names))
    assert {
        "tests/attnlab/test_scores.py",
        "faults planted in attnlab/scores",
        "where-am-i",
        "page index",
    } <= {*names}
    assert "tests/chapters/where_am_i/test_charts.py" not in names, "it looks at the built site"


# ---- what `make test` need not run again ----


def test_what_make_test_may_leave_out_is_there_under_that_name():
    costly = [*check.costly()]
    assert len({one.name for one in costly}) == len(costly)
    for one in costly:
        file, _, test = one.arguments[0].partition("::")
        assert (ROOT / file).exists()
        if test:
            assert f"def {test.partition('[')[0]}(" in (ROOT / file).read_text()


def test_any_file_that_changes_comes_or_moves_is_noticed(tmp_path):
    seen = {check.whole_project(tmp_path)}
    for name, content in {"README.md": "one", "book/a.py": "one", "tools/a/b.py": "one"}.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)
        seen.add(check.whole_project(tmp_path))
        file.write_text("two")
        seen.add(check.whole_project(tmp_path))
        file.rename(file.with_suffix(".txt"))
        seen.add(check.whole_project(tmp_path))
    assert len(seen) == 10
    (tmp_path / "book" / "__pycache__").mkdir()
    (tmp_path / "book" / "__pycache__" / "a.pyc").write_text("made")
    assert check.whole_project(tmp_path) in seen


def test_with_another_package_all_runs_again(monkeypatch):
    before = {one.digest for one in check.costly()}
    monkeypatch.setattr(check, "distributions", list)
    assert before.isdisjoint(one.digest for one in check.costly())


@pytest.fixture
def tests_run(tmp_path, monkeypatch):
    """`tests_run(status)`: of two tests that take long, those that a run with this status has left out."""
    types = SimpleNamespace(communicate=lambda: ("", None), returncode=0)
    monkeypatch.setattr(run_tests.subprocess, "Popen", lambda *_, **__: types)
    monkeypatch.setattr(check, "TESTED", tmp_path / "tested.json")
    monkeypatch.setattr(check, "PASSED", tmp_path / "passed.json")
    monkeypatch.setattr(check, "everything", list)
    monkeypatch.setattr(check, "costly", lambda: [Check("a", ("a.py",), "1"), Check("b", ("b.py",), "1")])

    def run(status: int, again: bool = False) -> list[str]:
        seen: list[str] = []
        monkeypatch.setattr(run_tests, "pytest", lambda *words, **_: seen.extend(words) or status)
        assert run_tests.everything(again) == status
        return [word for word in seen if word.startswith("--deselect")]

    return run


def test_what_passed_is_left_out_the_next_time_unless_all_is_asked_for(tests_run):
    assert tests_run(status=0) == []
    assert tests_run(status=0) == ["--deselect=a.py", "--deselect=b.py"]
    assert tests_run(status=0, again=True) == []


def test_where_a_test_fails_nothing_is_left_out_the_next_time(tests_run):
    assert tests_run(status=1) == []
    assert tests_run(status=0) == []
