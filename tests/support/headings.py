"""The sections of a page, as links name them."""

import re

from tools.chapters import notebooks


def anchors(page: str) -> set[str]:
    """`anchors("where-am-i.html")` are its headings as MyST names them: small letters, hyphens, no signs."""
    cells = notebooks.read(notebooks.BOOK / page.replace(".html", ".ipynb")).cells
    lines = [line for cell in cells if cell.cell_type == "markdown" for line in cell.source.splitlines()]
    headings = [line.lstrip("# ") for line in lines if line.startswith("##")]
    return {re.sub(r"[^\w\- ]", "", heading.lower().strip()).replace(" ", "-") for heading in headings}
