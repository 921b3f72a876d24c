"""What has passed is not run again until something changes that it depends on."""

import pytest

from tools.testing import passed
from tools.testing.passed import Digests, Passed, left_out, whole_project

ONE, TWO = "tests/a.py::test_one", "tests/a.py::test_two"
CELLS = ["book/a.ipynb::Cell 0", "book/a.ipynb::Cell 1"]


@pytest.fixture
def known(tmp_path):
    def begin(digest="1"):
        begun = Passed(tmp_path / "_build" / "passed.jsonl", Digests({}, digest))
        begun.begin()
        return begun

    return begin


def test_what_passed_is_known_until_its_digest_changes(known):
    known().keep(ONE)
    assert known().tests == {ONE}
    assert known("2").tests == set()
    assert known().tests == set(), "what no longer holds is forgotten"


def test_half_a_line_is_forgotten(known):
    begun = known()
    begun.keep(ONE)
    with begun.file.open("a") as file:
        file.write('["tests/a.py::te')
    assert known().tests == {ONE}


def test_of_a_chapter_all_cells_are_left_out_or_none():
    assert left_out([ONE, TWO, *CELLS], {ONE, *CELLS}) == {ONE, *CELLS}
    assert left_out([ONE, TWO, *CELLS], {ONE, CELLS[0]}) == {ONE}


def test_a_chapter_has_a_digest_of_its_own(monkeypatch):
    monkeypatch.setattr(passed, "of_chapters", lambda: {"book/a.ipynb": "of the chapter"})
    monkeypatch.setattr(passed, "whole_project", lambda: "of all")
    of = Digests.now().of
    assert of(CELLS[0]) == "of the chapter"
    assert of(ONE) != "of the chapter"


def test_any_file_that_changes_comes_or_moves_is_noticed(tmp_path):
    seen = {whole_project(tmp_path)}
    for name, content in {"README.md": "one", "book/a.py": "one", "tools/a/b.py": "one"}.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)
        seen.add(whole_project(tmp_path))
        file.write_text("two")
        seen.add(whole_project(tmp_path))
        file.rename(file.with_suffix(".txt"))
        seen.add(whole_project(tmp_path))
    assert len(seen) == 10
    for name in ("_build/html/index.html", "book/__pycache__/a.pyc", "tools/node_modules/a.js"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text("made")
    assert whole_project(tmp_path) in seen


@pytest.mark.parametrize(
    "change",
    [
        lambda patch: patch.setattr(passed, "distributions", list),
        lambda patch: patch.setenv("ATEN_CPU_CAPABILITY", "none"),
    ],
)
def test_with_another_package_or_processor_nothing_is_known_to_pass(change, monkeypatch):
    before = passed.surroundings()
    passed.surroundings.cache_clear()
    change(monkeypatch)
    assert passed.surroundings() != before
    passed.surroundings.cache_clear()
