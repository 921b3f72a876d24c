"""The few characters that the text font lacks (✓ ☰ ₖ …) come with the site: not every machine can draw them.

They are cut out of DejaVu Sans, which matplotlib brings along for the figures.
"""

import html
import re
from pathlib import Path
from typing import Any

import matplotlib
from fontTools import subset
from sphinx.application import Sphinx

FONT = Path(matplotlib.get_data_path(), "fonts/ttf/DejaVuSans.ttf")
# What the stylesheet and the scripts write themselves.
DRAWN_BY_SCRIPTS = "◐○●✓▶▼"


def finish(app: Sphinx, exception: Exception | None) -> None:
    if exception or app.builder.format != "html":
        return
    out = Path(app.outdir)
    written = set(DRAWN_BY_SCRIPTS)
    for page in out.glob("**/*.html"):
        # Formulas have a font of their own.
        text = re.sub("<math.*?</math>", "", page.read_text("utf-8"), flags=re.DOTALL)
        written |= characters(html.unescape(text))
    cut_out(written, out / "_static/symbols.woff")
    # Search quotes formulas as text (search.py has written them before): its page has a larger font.
    for quoted in out.glob("_static/sections.js"):
        cut_out(written | characters(quoted.read_text("utf-8")), out / "_static/symbols-of-search.woff")


def characters(text: str) -> set[str]:
    return {character for character in text if ord(character) > 0xFF}


def cut_out(letters: set[str], file: Path) -> None:
    options = subset.Options(flavor="woff", hinting=False, layout_features=[])
    font = subset.load_font(FONT, options)
    subsetter = subset.Subsetter(options)
    subsetter.populate(text="".join(letters))
    subsetter.subset(font)
    subset.save_font(font, file, options)


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("build-finished", finish)
    return {"parallel_read_safe": True}
