"""`make chapter` makes a chapter that runs, builds and is listed; the README lists chapters as they are."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from bs4 import BeautifulSoup

from bookkit import registry
from tools import ROOT
from tools.chapters import new_chapter, notebooks, readme, refresh

PART = "Training"


@pytest.fixture
def copy(tmp_path):
    """The project without what it builds and installs."""
    leave = shutil.ignore_patterns(".*", "_build", "node_modules", "__pycache__")
    shutil.copytree(ROOT, tmp_path / "copy", ignore=leave)
    return tmp_path / "copy"


@pytest.mark.thorough
def test_a_new_chapter_runs_builds_and_needs_nothing_else(copy):
    before = {path for path in copy.rglob("*") if path.is_file()}
    contents = (copy / "_toc.yml").read_text()
    made = new_chapter.make("a-new-chapter", "A new chapter?", PART, copy)

    assert {path for path in copy.rglob("*") if path.is_file()} - before == set(made)
    new = (copy / "_toc.yml").read_text().replace("      - file: a-new-chapter\n", "", 1)
    assert new == contents, "_toc.yml gains one line, and the rest stays"
    listed = registry.chapters(copy / "book", copy / "_toc.yml")
    (found,) = [one for one in listed if one.name == "a-new-chapter"]
    assert (found.title, found.part, found.package) == ("A new chapter?", PART, "a_new_chapter")

    # Alone in its book, executed as `make refresh` does and built with the book's own settings.
    fresh = refresh.normalise(refresh.execute(notebooks.read(found.notebook), copy / "book"), copy / "book")
    notebooks.write(fresh, found.notebook)
    assert notebooks.problems(found.notebook, copy / "book", copy / "_toc.yml") == []
    alone = {"format": "jb-book", "root": "references", "chapters": [{"file": "a-new-chapter"}]}
    (copy / "_toc.yml").write_text(yaml.safe_dump(alone))
    (copy / "node_modules").symlink_to(ROOT / "node_modules")
    program = Path(sys.executable).with_name("jupyter-book")
    options = ["--config", copy / "_config.yml", "--toc", copy / "_toc.yml", "--path-output", ".", "-W", "-n"]
    built = subprocess.run([program, "build", "book", *options], cwd=copy, capture_output=True, text=True)
    page = copy / "_build/html/a-new-chapter.html"
    assert page.exists(), built.stdout + built.stderr
    headings = BeautifulSoup(page.read_text(), "html.parser").select("h1, h2")
    first = [heading.get_text().rstrip("#") for heading in headings][:3]
    assert first == ["A new chapter?", "Mistakes people make here", "Exercises"]


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"name": "Many heads"}, "NAME must be lower-case words joined by hyphens, got 'Many heads'"),
        ({"name": "where-am-i"}, "book/where-am-i.ipynb is there already"),
        ({"title": " "}, "TITLE must say what the chapter is called"),
        ({"part": "Part V"}, "PART must be one of Attention from first principles, .*, got 'Part V'"),
    ],
)
def test_what_can_not_be_made_is_told_and_leaves_no_trace(copy, wrong, words):
    before = sorted(copy.rglob("*"))
    with pytest.raises(ValueError, match=words):
        new_chapter.make(**({"name": "new", "title": "New", "part": PART, "root": copy} | wrong))
    assert sorted(copy.rglob("*")) == before


def test_the_readme_lists_the_chapters_as_they_are():
    text = readme.README.read_text(encoding="utf-8")
    assert readme.with_table(text, registry.chapters()) == text, "run `make refresh`"
    for one in registry.chapters():
        assert f"[{one.title}](book/{one.notebook.name}) | {one.goal} |" in text


def test_the_readme_is_written_only_where_it_differs(tmp_path):
    path = tmp_path / "README.md"
    path.write_text("# Book\n\n<!-- chapters -->\n| 8 | yesterday |\n<!-- end of chapters -->\n\nMore.\n")
    assert readme.write(path)
    assert not readme.write(path)
    text = path.read_text(encoding="utf-8")
    assert "yesterday" not in text
    assert text.startswith("# Book")
    assert text.endswith("More.\n")
