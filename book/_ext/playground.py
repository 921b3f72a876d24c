"""`{playground} translator` is a picture, and a button that lets the reader open the model that made it.

`{playground} translator slim` has only the field, the translation and its lines. The model's weights become a
script of their own, which playground.js fetches with the others when the button is pressed.
"""

import gzip
import json
from functools import cache
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from _ext.drawings import on_the_page
from bookkit.pictures.drawings import svg
from bookkit.playground import exported, openable, picture

STATIC = Path(__file__).parents[1] / "_static"
FORMS = ("full", "slim")


class Playground(SphinxDirective):
    required_arguments = 1
    optional_arguments = 1
    has_content = True  # for viewers that open no models

    def run(self) -> list[nodes.Node]:
        model, form = (*self.arguments, "full")[:2]
        try:
            html, words = closed(model, form)
        except (ValueError, FileNotFoundError) as reason:
            raise self.error(f"a playground can't be made: {reason}") from reason
        return [nodes.raw("", html, format="html"), nodes.raw("", words, format="text")]


def closed(model: str, form: str) -> tuple[str, str]:
    """The HTML of a playground whose model has not come yet, and what its picture shows."""
    for given, known in ((model, openable()), (form, FORMS)):
        if given not in known:
            raise ValueError(f"{given!r} is none of {', '.join(known)}")
    drawn = picture(model)
    drawing = {"description": drawn.alt, "wide": svg(drawn.wide), "narrow": svg(drawn.narrow)}
    files = openable()[model].files
    size = len(gzip.compress(script(model).encode())) + sum(
        len(gzip.compress(STATIC.joinpath(name).read_bytes())) for name in files
    )
    invitation = f'<p class="invitation">{drawn.invitation}</p>\n' if drawn.invitation else ""
    return (
        f'<div class="playground" data-model="{model}" data-form="{form}"'
        f' data-files="{" ".join(files)} model-{model}.js">\n'
        f"<p>{drawn.title} <strong>{drawn.words}</strong></p>\n{on_the_page(drawing)}{invitation}"
        f'<p><button type="button">Open the model here ({size / 1000:.0f} kB)</button></p>\n'
        '<p class="without-scripts">The model needs JavaScript; the picture does not.</p>\n'
        '<p class="unseen" role="status"></p>\n</div>\n',
        drawn.alt,
    )


@cache
def script(model: str) -> str:
    """What a page loads to have the model: all that those scripts need to know of it."""
    return f"stored[{json.dumps(model)}] = {json.dumps(exported(model), separators=(',', ':'))};\n"


def finish(app: Sphinx, exception: Exception | None) -> None:
    if not exception and app.builder.format == "html":
        for model in openable():
            Path(app.outdir, f"_static/model-{model}.js").write_text(script(model), "utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("playground", Playground)
    app.connect("build-finished", finish)
    return {"parallel_read_safe": True}
