"""`{ledger}`: how many claims each chapter has. All of them, with their numbers, are in claims.csv, which is
written beside the pages: each with the address of its row in its chapter.

A row gets its address while the site is built, from its chapter and its sentence: `#claim-1526756f` stays as
long as the sentence does, and no two pages have the same.
"""

import csv
import hashlib
import json
from pathlib import Path
from typing import cast

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.domains.std import StandardDomain
from sphinx.util.docutils import SphinxDirective

from _ext.contents import chapters, link_to, site_map
from _ext.tables import table
from bookkit.claims import short
from bookkit.mime_types import CLAIM
from bookkit.registry import Chapter

FILE = "claims.csv"
COLUMNS = ("chapter", "claim", "claimed", "measured", "address")


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
    """A table of the chapters, and the file."""

    def run(self) -> list[nodes.Node]:
        counts = {name: len(Chapter(notebook).claims) for name, notebook in chapters(self.env)}
        rows = [
            [nodes.paragraph("", "", link_to(name, self.env)), nodes.paragraph("", str(count))]
            for name, count in counts.items()
        ]
        file = nodes.reference("", FILE, refuri=FILE)
        words = f"{sum(counts.values()):,} claims, each with its bound, what was measured and its address: "
        return [
            table("ledger", {"Chapter": 80, "Claims": 20}, rows),
            nodes.paragraph("", "", nodes.Text(words), file),
        ]


def write(app: Sphinx, exception: Exception | None) -> None:
    if exception or app.builder.name != "html":
        return
    with Path(app.outdir, FILE).open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(COLUMNS)
        notebooks = {name: Path(app.env.doc2path(name)) for name in site_map(app.env)}
        for name, notebook in notebooks.items():
            if notebook.suffix != ".ipynb" or name not in app.env.found_docs:
                continue
            claims = Chapter(notebook).claims
            places = addresses(name, [claim["sentence"] for claim in claims])
            for claim, place in zip(claims, places, strict=True):
                measured = short(claim["measured"], claim["digits"])
                rows.writerow([name, claim["sentence"], claim["bound"], measured, f"{name}.html#{place}"])


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("ledger", Ledger)
    app.connect("source-read", give_addresses)
    app.connect("build-finished", write)
    return {"parallel_read_safe": True}
