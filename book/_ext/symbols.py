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
    written = set(DRAWN_BY_SCRIPTS)
    # search.py has written its script before: there formulas stand as text.
    for page in [*Path(app.outdir).glob("**/*.html"), *Path(app.outdir).glob("_static/sections.js")]:
        # Formulas have a font of their own.
        text = re.sub("<math.*?</math>", "", page.read_text("utf-8"), flags=re.DOTALL)
        written |= {character for character in html.unescape(text) if ord(character) > 0xFF}
    options = subset.Options(flavor="woff", hinting=False, layout_features=[])
    font = subset.load_font(FONT, options)
    subsetter = subset.Subsetter(options)
    subsetter.populate(text="".join(written))
    subsetter.subset(font)
    subset.save_font(font, Path(app.outdir, "_static/symbols.woff"), options)


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("build-finished", finish)
    return {"parallel_read_safe": True}
