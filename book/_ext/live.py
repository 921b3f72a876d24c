"""A chapter's code runs in its page: the button that brings what is needed, and the scripts that come.

Until the button is pressed a page is as it was. Then come a script, its styles, and what the page's chapter
holds: its cells, and where Binder would run them.
"""

import gzip
import json
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sphinx.application import Sphinx

from _ext.charts import LOOK, WIDTHS
from _ext.javascript import bundle
from _ext.playground import STATIC, joined
from bookkit.mime_types import CHART
from bookkit.registry import BOOK


def script_of(notebook: dict[str, Any], **more: Any) -> bytes:
    """`script_of(notebook, name="where-am-i")` is the script of its cells, without what they put out."""
    cells = [cell_without_outputs(cell) for cell in notebook["cells"]]
    chapter = {"cells": cells, "metadata": notebook["metadata"], **more}
    return f"chapterToRun = {json.dumps(chapter, ensure_ascii=False, separators=(',', ':'))};\n".encode()


def cell_without_outputs(cell: dict[str, Any]) -> dict[str, Any]:
    """But for a chart, which a page need not draw again where it comes out as it was."""
    kept = {"id", "cell_type", "metadata"}
    charts = [data[CHART] for output in cell.get("outputs", []) if CHART in (data := output.get("data", {}))]
    own = {"source": "".join(cell["source"])} | ({"chart": charts[0]} if charts else {})
    return {name: value for name, value in cell.items() if name in kept} | own


def kilobytes(files: Iterable[bytes]) -> str:
    """`kilobytes([b"…"])` is what they weigh on the way."""
    return f"{sum(len(gzip.compress(content)) for content in files) / 1000:.0f}\u00a0kB"


@cache
def script() -> bytes:
    return bundled("live/page.mjs")


@cache
def charts() -> bytes:
    """What draws a chart that is not the page's own; of Vega, Vega-Lite needs only what is small."""
    given = f"chartLook = {json.dumps(LOOK)};\nchartWidths = {json.dumps(WIDTHS)};\n"
    return given.encode() + bundled("live/vega_lite.mjs", alias={"vega": "vega-util"})


@cache
def styles() -> bytes:
    return joined("live/live.css")


def bundled(name: str, **options: Any) -> bytes:
    with TemporaryDirectory() as folder:
        out = Path(folder, "out.js")
        bundle(STATIC / name, out, **options)
        return out.read_bytes()


def chapter(app: Sphinx, page: str) -> bytes:
    """The page's own script."""
    notebook = json.loads(Path(app.env.doc2path(page)).read_text("utf-8"))
    repository = app.config.html_theme_options["repository_url"].removeprefix("https://github.com/")
    binder = app.config.html_theme_options["launch_buttons"]["binderhub_url"].rstrip("/")
    return script_of(
        notebook,
        name=page,
        binder=f"{binder}/build/gh/{repository}/{app.config.launched}",
        folder=BOOK.name,
    )


def invite(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object) -> None:
    """Tell the layout of the page, and what pressing its button loads."""
    if app.builder.format == "html" and app.builder.name == "html" and is_notebook(app, page):
        files = [script(), styles(), chapter(app, page)]
        context["live"] = f"{page} {kilobytes(files)}"


def is_notebook(app: Sphinx, page: str) -> bool:
    return page in app.env.found_docs and app.env.doc2path(page).endswith(".ipynb")


def finish(app: Sphinx, exception: Exception | None) -> None:
    if exception or app.builder.name != "html":
        return
    static = Path(app.outdir, "_static")
    static.joinpath("live.js").write_bytes(script())
    static.joinpath("live-charts.js").write_bytes(charts())
    static.joinpath("live.css").write_bytes(styles())
    for page in filter(lambda name: is_notebook(app, name), app.env.found_docs):
        static.joinpath(f"live-{page}.js").write_bytes(chapter(app, page))


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("html-page-context", invite)
    app.connect("build-finished", finish)
    return {"parallel_read_safe": True}
