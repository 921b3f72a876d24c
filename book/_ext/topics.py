"""`{topics}`: where each topic of the book is taught, found by the labels in its pages.

A line of the directive is a label and its words, `A1 attention as a gate`. A chapter teaches it where a
Markdown cell carries the label as a tag, and a page of plain Markdown where a line `<!-- A1 -->`
stands (a comment, which no reader sees). The link leads to the heading above.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from _ext.contents import pages
from _ext.tables import table
from bookkit.registry import Chapter

LABEL = re.compile(r"^<!-- ([A-Z]\d+) -->$")
MISTAKES = "Mistakes people make here"
COLUMNS = {"Label": 8, "What it is about": 52, "Where": 40}  # and their widths


def places(page: Path) -> Iterator[tuple[str, str]]:
    """Each label in the page, with the text of the heading under which it stands."""
    heading = ""
    for text, labels in parts(page):
        headings = [line.lstrip("# ") for line in text.splitlines() if line.startswith("#")]
        heading = headings[0] if headings else heading
        yield from ((label, heading) for label in labels)
        heading = headings[-1] if headings else heading


def parts(page: Path) -> Iterator[tuple[str, list[str]]]:
    """The Markdown of each cell, or of each line, and the labels on it."""
    if page.suffix == ".ipynb":
        for cell in Chapter(page).cells:
            if cell["cell_type"] == "markdown":
                yield "".join(cell["source"]), cell["metadata"].get("tags", [])
    else:
        for line in page.read_text(encoding="utf-8").splitlines():
            yield line, LABEL.findall(line)


def words(heading: str) -> str:
    """As the page shows it, without the signs of Markdown."""
    return "".join(sign for sign in heading if sign not in "`*$\\")


class Topics(SphinxDirective):
    """A table with a row for each line; a label that no cell carries is an error."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        links = self.links()
        rows = []
        for line in self.content:
            label, _, about = line.partition(" ")
            if label not in links:
                raise self.error(f"no chapter has a cell tagged {label} ({about})")
            where = nodes.paragraph()
            for place, link in enumerate(links[label]):
                where += [nodes.Text(", "), link] if place else [link]
            rows.append([nodes.paragraph("", label), nodes.paragraph("", about), where])
        return [table("topics", COLUMNS, rows)]

    def links(self) -> dict[str, list[nodes.reference]]:
        found: dict[str, list[nodes.reference]] = {}
        for name, page in pages(self.env):
            for label, heading in dict.fromkeys(places(page)):
                shown = words(heading)
                address = f"{self.env.app.builder.get_target_uri(name)}#{nodes.make_id(shown)}"
                # Every chapter has a section of this name.
                if shown == MISTAKES:
                    title = words(Chapter(page).title)
                    shown = f"{title}{'' if title.endswith('?') else '.'} {shown}"
                link = nodes.reference("", shown, refuri=address, internal=True)
                found.setdefault(label, []).append(link)
        return found


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("topics", Topics)
    return {"parallel_read_safe": True}
