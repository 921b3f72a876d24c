"""Every topic that the book owes its readers has a place, and the table of topics leads there."""

import re

import nbformat
import pytest
from nbformat.v4 import new_markdown_cell, new_notebook

from _ext import topics
from tools.chapters.notebooks import BOOK


@pytest.fixture(scope="module")
def rows(soup):
    """Label to links."""
    found = {}
    for row in soup("how-this-book-checks-itself.html").select("table.topics tbody tr"):
        label, about, where = row.select("td")
        assert about.get_text(strip=True)
        found[label.get_text(strip=True)] = [link["href"] for link in where.select("a")]
    return found


def test_the_table_holds_every_label_in_the_book(rows):
    """A line of the table that no cell carries stops the build; a cell that no line lists stops here."""
    carried = {
        label
        for page in [*BOOK.glob("*.ipynb"), *BOOK.glob("*.md")]
        for label, _ in topics.places(page)
        if re.fullmatch(r"[A-Z]\d+", label)
    }
    assert rows.keys() == carried


def test_each_has_a_place_that_is_there(rows, site):
    for label, links in rows.items():
        assert links, label
        for link in links:
            page, _, anchor = link.partition("#")
            assert f'id="{anchor}"' in (site / page).read_text("utf-8"), f"{label}: {link} leads nowhere"


def test_a_label_belongs_to_the_heading_above_it(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# Title\n\n<!-- A1 -->\n\n## Second\n\nText.\n\n<!-- A2 -->\n", "utf-8")
    assert list(topics.places(page)) == [("A1", "Title"), ("A2", "Second")]


def test_a_label_of_a_cell_belongs_to_the_heading_that_the_cell_begins_with(tmp_path):
    texts = ["# Title\n\nText.\n\n## Second", "More.", "## Third\n\nText."]
    cells = [new_markdown_cell(text, metadata={"tags": [f"A{i}"]}) for i, text in enumerate(texts)]
    nbformat.write(new_notebook(cells=cells), tmp_path / "chapter.ipynb")
    places = list(topics.places(tmp_path / "chapter.ipynb"))
    assert places == [("A0", "Title"), ("A1", "Second"), ("A2", "Third")]
