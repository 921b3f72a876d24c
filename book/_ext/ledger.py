"""`{ledger}`: a table of every claim in the book, read from the stored outputs of its chapters."""

from typing import Any

from contents import chapters, link_to
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from bookkit.claims import short
from bookkit.registry import Chapter

COLUMNS = ("Claim", "Claimed", "Measured")


class Ledger(SphinxDirective):
    """One table a chapter, under a link to it."""

    def run(self) -> list[nodes.Node]:
        made: list[nodes.Node] = []
        for name, notebook in chapters(self.env):
            claims = Chapter(notebook).claims
            made += [self.heading(name, len(claims)), table(claims)]
        return made

    def heading(self, name: str, count: int) -> nodes.paragraph:
        return nodes.paragraph("", "", link_to(name, self.env), nodes.Text(f" — {count} claims"))


def table(claims: list[dict[str, Any]]) -> nodes.table:
    body = nodes.tbody()
    for claim in claims:
        numbers = claim["bound"], short(claim["measured"], claim["digits"])
        # A line may break after a hyphen, not after a minus: 1e-9 stays whole.
        body += row(claim["sentence"], *(text.replace("-", "\N{MINUS SIGN}") for text in numbers))
    columns = [nodes.colspec(colwidth=width) for width in (60, 20, 20)]
    group = nodes.tgroup("", *columns, nodes.thead("", row(*COLUMNS)), body, cols=len(COLUMNS))
    return nodes.table("", group, classes=["ledger"])


def row(*texts: str) -> nodes.row:
    return nodes.row("", *(nodes.entry("", nodes.paragraph("", text)) for text in texts))


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("ledger", Ledger)
    return {"parallel_read_safe": True}
