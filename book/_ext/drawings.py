"""A drawing stands on the page twice, for wide screens and for phones; book.css shows the one that fits."""

import re
from html import escape
from typing import Any

from docutils import nodes
from myst_nb.core.render import MimeData, NbElementRenderer, load_mime_renders
from sphinx.application import Sphinx

from bookkit.mime_types import DRAWING
from bookkit.pictures.drawings import WIDEST


class DrawingRenderer:
    """What MyST-NB asks about each output of a cell: drawings become HTML, the rest is left to MyST-NB."""

    mime_priority_overrides = (("*", DRAWING, 0),)

    @staticmethod
    def handle_mime(renderer: NbElementRenderer, data: MimeData, inline: bool) -> list[nodes.Element] | None:
        if data.mime_type != DRAWING:
            return None
        try:
            return [nodes.raw("", on_the_page(data.content), format="html")]
        except ValueError as reason:
            renderer.logger.error(
                f"cell {data.cell_index + 1}: a drawing can't be shown: {reason}",
                subtype="drawing", line=data.line,
            )  # fmt: skip
            return []


def on_the_page(drawing: dict[str, str]) -> str:
    """The HTML of a drawing: a picture for each kind of screen, with the same words."""
    words = drawing.get("description", "").strip()
    if not words:
        raise ValueError("it has no alt text, and readers who can't see it need one")
    pictures = ""
    for screen, widest in WIDEST.items():
        width = float(re.findall(r' width="([\d.]+)"', drawing[screen])[0])
        # The margin of a picture is four pixels.
        if width > widest + 4:
            raise ValueError(f"it is {width:g} pixels {screen}, where {widest} fit: stack its parts")
        named = f'<svg role="img" aria-label="{escape(words)}" data-screen="{screen}"'
        pictures += drawing[screen].replace("<svg", named, 1)
    return f'<div class="drawing">{pictures}</div>\n'


def setup(app: Sphinx) -> dict[str, Any]:
    # As in charts.py: MyST-NB looks for renderers among the installed packages, and keeps the list.
    load_mime_renders().append(DrawingRenderer)
    return {"parallel_read_safe": True}
