"""`make check` runs again what an edit touches, and remembers the rest."""

import pytest

from tools.testing import check
from tools.testing.check import Job, Memory


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
    check.named_in.cache_clear()
    check.files_of.cache_clear()
    yield tmp_path
    check.imported.cache_clear()
    check.named_in.cache_clear()
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
    one, other = Job("one", ("a",), "1"), Job("other", ("b",), "1")
    assert memory.fresh([one, other]) == [one, other]
    memory.keep([one])
    again = Memory(tmp_path / "_build" / "passed.json")
    assert again.fresh([one, other]) == [other]
    assert again.fresh([Job("one", ("a",), "2")]) == [Job("one", ("a",), "2")]


def test_parts_of_one_file_run_together_by_name_and_files_one_after_the_other():
    pages = [
        Job("page a", ("tests/p.py", "-k", "a.html"), ""),
        Job("page b", ("tests/p.py", "-k", "b.html"), ""),
    ]
    assert check.together(pages) == ["tests/p.py", "-k", "a.html or b.html"]
    assert check.together([Job("x", ("x.py",), ""), Job("y", ("y.py",), "")]) == ["x.py", "y.py"]


@pytest.mark.thorough
def test_every_room_chapter_and_page_is_known(site):
    names = [one.name for one in check.everything()]
    assert len(names) == len(set(names))
    assert {
        "tests/attnlab/test_scores.py",
        "exercises of where_am_i",
        "faults planted in attnlab/scores",
        "where-am-i",
        "page index",
    } <= {*names}
