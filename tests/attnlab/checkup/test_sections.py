"""Each section that a finding refers to exists."""

import re

import pytest

from attnlab.checkup import sections
from tools.chapters import notebooks


def anchor(heading):
    """As MyST makes it of a heading: small letters, hyphens, no signs."""
    kept = re.sub(r"[^\w\- ]", "", heading.lower().strip())
    return kept.replace(" ", "-")


@pytest.mark.parametrize("name", [name for name in vars(sections) if name.isupper()])
def test_the_section_exists(name):
    page, _, wanted = getattr(sections, name).partition("#")
    path = notebooks.ROOT / "book" / page.replace(".html", ".ipynb")
    cells = notebooks.read(path).cells
    headings = [
        line.lstrip("# ")
        for cell in cells
        if cell.cell_type == "markdown"
        for line in cell.source.splitlines()
        if line.startswith("##")
    ]
    assert wanted in map(anchor, headings)
