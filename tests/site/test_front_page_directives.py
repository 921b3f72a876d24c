"""The front page's directives on a small book: what good source becomes, and what bad source is told."""

import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from bs4 import BeautifulSoup
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from bookkit.mime_types import CLAIM
from tools.chapters.notebooks import BOOK

pytestmark = pytest.mark.thorough


SETTINGS = f"""
import sys
sys.path.append({str(BOOK)!r})
extensions = ["myst_nb", "sphinx_external_toc", "_ext.charts", "_ext.front"]
nb_execution_mode = "off"
html_theme_options = {{
    "repository_url": "https://github.com/ada/fork", "repository_branch": "main", "path_to_docs": "book",
    "launch_buttons": {{"binderhub_url": "https://mybinder.org"}},
}}
html_theme = "sphinx_book_theme"
"""
CONTENTS = """
format: jb-book
root: index
parts:
  - caption: Beginnings
    chapters: [{file: second-by-name}, {file: first-by-name}]
  - caption: More
    chapters: [{file: third}]
  - caption: Appendices
    chapters: [{file: words}]
"""
CHAPTER = """# About {}

*{} minutes to read · 10 seconds to run · you need: nothing*

An opening {{cite}}`somebody2020`.

When you have read this chapter you will be able to

- say what *{}* is {{cite}}`somebody2020`,
  and more;
- do other things.
"""
PAGE = """# A book

```{chart} chapters.what_is_attention.front_page.soft_look_up
```

```{door} here
Read

As it is.
```

```{door} binder
Run
```

```{door} the-rest
Carry
```

```{chapters}
```

## The rest
"""


def write(folder: Path, name: str, first: str) -> None:
    claim = new_output("display_data", data={CLAIM: {"sentence": "one"}, "text/plain": "one"})
    cells = [
        new_code_cell("print()", execution_count=1),
        new_markdown_cell(first),
        new_code_cell("claim()", execution_count=2, outputs=[claim, claim]),
    ]
    python = {"language_info": {"name": "python"}}
    nbformat.write(new_notebook(cells=cells, metadata=python), folder / f"{name}.ipynb")


def build(folder: Path, page: str = PAGE, builder: str = "html") -> tuple[int, str, Path]:
    folder.joinpath("conf.py").write_text(SETTINGS, "utf-8")
    folder.joinpath("_toc.yml").write_text(CONTENTS, "utf-8")
    folder.joinpath("index.md").write_text(page, "utf-8")
    folder.joinpath("words.md").write_text("# Words\n", "utf-8")
    for name, minutes, topic in [("first-by-name", 5, "B"), ("second-by-name", 25, "A"), ("third", 9, "C")]:
        if not folder.joinpath(f"{name}.ipynb").exists():
            write(folder, name, CHAPTER.format(topic, minutes, topic))
    out = folder / builder
    command = [sys.executable, "-m", "sphinx", "-q", "--keep-going", "-b", builder, str(folder), str(out)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    return result.returncode, result.stderr, out


@pytest.fixture(scope="module")
def page(tmp_path_factory) -> BeautifulSoup:
    status, messages, out = build(tmp_path_factory.mktemp("book"))
    assert status == 0, messages
    return BeautifulSoup((out / "index.html").read_text("utf-8"), "html.parser")


def test_chapters_are_listed_in_the_order_of_the_contents_and_counted_on(page):
    assert [caption.get_text() for caption in page.select("p.rubric")] == ["Beginnings", "More"]
    lists = page.select("ol.chapters")
    assert [links["href"] for links in page.select("ol.chapters a")] == [
        "second-by-name.html",
        "first-by-name.html",
        "third.html",
    ]
    assert [each.get("start", "1") for each in lists] == ["1", "3"]


def test_a_chapter_says_what_its_cells_and_outputs_say(page):
    title, goal, facts = page.select("ol.chapters > li:first-child > p")[:3]
    assert title.get_text() == "About A"
    assert goal.get_text() == "You will be able to say what A is, and more."
    assert goal.em.get_text() == "A"
    assert facts.get_text() == "25 minutes to read · 2 claims checked"


def test_doors_lead_to_the_first_chapter_to_binder_and_to_a_section(page):
    links = {door.a.get_text(): door.a["href"] for door in page.select(".door")}
    assert links == {
        "Read": "second-by-name.html",
        "Run": "https://mybinder.org/v2/gh/ada/fork/main?urlpath=lab/tree/book/second-by-name.ipynb",
        "Carry": "#the-rest",
    }
    assert page.select_one(".door").get_text(" ", strip=True) == "Read As it is."


def test_a_chart_stands_on_a_page_without_cells(page):
    chart = page.select_one(".chart")
    assert chart.find(role="img")["aria-label"].startswith("Above, arrows from one point")
    assert len(chart.find_all("input", type="range")) == 2


def test_a_page_that_is_only_text_says_what_the_chart_shows(tmp_path):
    status, messages, out = build(tmp_path, builder="text")
    assert status == 0, messages
    text = " ".join((out / "index.txt").read_text("utf-8").split())
    assert "Above, arrows from one point: a query, and the keys" in text
    assert "1. About A" in text
    assert "<" not in text


def test_each_mistake_fails_the_build_with_file_and_line(tmp_path):
    write(tmp_path, "third", "# A title\n")
    names = ["nowhere.soft_look_up", "chapters.what_is_attention.front_page.nothing", "soft_look_up"]
    _, messages, _ = build(tmp_path, PAGE + "".join(f"\n```{{chart}} {name}\n```\n" for name in names))
    line = PAGE.count("\n") + 2
    for place, words in [
        (f"index.md:{line}", "No module named 'nowhere'"),
        (f"index.md:{line + 3}", "has no attribute 'nothing'"),
        (f"index.md:{line + 6}", "write the name as module.function"),
        ("index.md:", "it can't be listed: third.ipynb: its opening must say"),
    ]:
        said = [line for line in messages.splitlines() if place in line and "ERROR" in line and words in line]
        assert said, f"nothing said {words!r} at {place!r} in\n{messages}"
