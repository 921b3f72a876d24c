"""`{ledger}`: a table of every claim in the book, read from the stored outputs of its chapters."""

from collections.abc import Iterator
from pathlib import Path

import nbformat
from contents import chapters, link_to
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from bookkit.mime_types import CLAIM

COLUMNS = ("Claim", "Claimed", "Measured")


def claims(chapter: Path) -> Iterator[dict]:
    for cell in nbformat.read(chapter, as_version=4).cells:
        for output in cell.get("outputs", []):
            if CLAIM in output.get("data", {}):
                yield output.data[CLAIM]


class Ledger(SphinxDirective):
    """One table a chapter, under a link to it."""

    def run(self) -> list[nodes.Node]:
        made: list[nodes.Node] = []
        for name, chapter in chapters(self.env):
            rows = list(claims(chapter))
            made += [self.heading(name, len(rows)), self.table(rows)]
        return made

    def heading(self, name: str, count: int) -> nodes.paragraph:
        return nodes.paragraph("", "", link_to(name, self.env), nodes.Text(f" — {count} claims"))

    def table(self, rows: list[dict]) -> nodes.table:
        body = nodes.tbody()
        for row in rows:
            # A line may break after a hyphen, not after a minus: 1e-9 stays whole.
            numbers = [row[name].replace("-", "\N{MINUS SIGN}") for name in ("bound", "measured")]
            body += self.row([row["sentence"], *numbers])
        columns = [nodes.colspec(colwidth=width) for width in (60, 20, 20)]
        group = nodes.tgroup("", *columns, nodes.thead("", self.row(COLUMNS)), body, cols=len(COLUMNS))
        return nodes.table("", group, classes=["ledger"])

    def row(self, texts: list[str] | tuple[str, ...]) -> nodes.row:
        return nodes.row("", *(nodes.entry("", nodes.paragraph("", text)) for text in texts))


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("ledger", Ledger)
    return {"parallel_read_safe": True}
