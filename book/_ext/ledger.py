"""`{ledger}`: a table of every claim in the book, each with a link to its row in its chapter.

A row gets its address while the site is built, from its chapter and its sentence: `#claim-1526756f` stays as
long as the sentence does, and no two pages have the same.
"""

import hashlib
import json
from typing import Any, cast

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.domains.std import StandardDomain
from sphinx.util.docutils import SphinxDirective

from _ext.contents import chapters, link_to
from _ext.tables import table
from bookkit.claims import short
from bookkit.mime_types import CLAIM
from bookkit.registry import Chapter

COLUMNS = {"Claim": 60, "Claimed": 20, "Measured": 20}  # and their widths


def addresses(page: str, sentences: list[str]) -> list[str]:
    """`addresses("where-am-i", ["the first row is 0"])` is ["claim-1526756f"]: the id of each claim's row."""
    made: list[str] = []
    for place, sentence in enumerate(sentences):
        before = sentences[:place].count(sentence)  # a loop may claim the same twice
        digest = hashlib.sha256(f"{page} {sentence} {before}".encode()).hexdigest()
        made.append(f"claim-{digest[:8]}")
    return made


def give_addresses(app: Sphinx, page: str, source: list[str]) -> None:
    """Put its id into each row of a chapter."""
    if not app.env.doc2path(page).endswith(".ipynb"):
        return
    notebook = json.loads(source[0])
    outputs = [output for cell in notebook["cells"] for output in cell.get("outputs", [])]
    rows = [output["data"] for output in outputs if CLAIM in output.get("data", {})]
    names = addresses(page, [row[CLAIM]["sentence"] for row in rows])
    places = cast(StandardDomain, app.env.get_domain("std")).anonlabels
    for row, name in zip(rows, names, strict=True):
        places[name] = page, name
        row["text/html"] = "".join(row["text/html"]).replace("<div ", f'<div id="{name}" ', 1)
    source[0] = json.dumps(notebook)


class Ledger(SphinxDirective):
    """One table a chapter, under a link to it."""

    def run(self) -> list[nodes.Node]:
        made: list[nodes.Node] = []
        for name, notebook in chapters(self.env):
            claims = Chapter(notebook).claims
            places = addresses(name, [claim["sentence"] for claim in claims])
            rows = [row(*both, self.env.docname) for both in zip(claims, places, strict=True)]
            made += [self.heading(name, len(claims)), table("ledger", COLUMNS, rows)]
        return made

    def heading(self, name: str, count: int) -> nodes.paragraph:
        return nodes.paragraph("", "", link_to(name, self.env), nodes.Text(f" — {count} claims"))


def row(claim: dict[str, Any], address: str, page: str) -> list[nodes.paragraph]:
    """The claim, which leads to its row in the chapter, and its numbers."""
    sentence = pending_xref(
        "", nodes.inline("", claim["sentence"]), refdoc=page, refdomain="std", reftype="ref",
        reftarget=address, refexplicit=True, refwarn=True,
    )  # fmt: skip
    # A line may break after a hyphen, not after a minus: 1e-9 stays whole.
    numbers = claim["bound"], short(claim["measured"], claim["digits"])
    texts = [nodes.Text(text.replace("-", "\N{MINUS SIGN}")) for text in numbers]
    return [nodes.paragraph("", "", cell) for cell in (sentence, *texts)]


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("ledger", Ledger)
    app.connect("source-read", give_addresses)
    return {"parallel_read_safe": True}
