"""Every interactive chart of the book: written in Python, computed in the browser.

A chart carries a few numbers and the steps from them to what is drawn. The browser takes the steps again each
time a control moves, so a chart needs no kernel: it works alike on the site, on Binder and in JupyterLab.

The charts themselves are beside this file, in a module for each chapter.
"""

import sys
from typing import Any

# Else Altair's import would have jsonschema build a grammar of international addresses, which no chart needs:
# nearly two seconds of every chapter. jsonschema does without where the package can't be imported.
sys.modules["rfc3987_syntax"] = None  # type: ignore[assignment]
import altair as alt  # noqa: E402

del sys.modules["rfc3987_syntax"]

# JupyterLab has a viewer for this type, and the site's build looks for it.
MIME_TYPE = "application/vnd.vegalite.v5+json"


def for_notebooks(chart: dict[str, Any]) -> dict[str, Any]:
    """`for_notebooks({"description": "Bars."})` is what a cell stores: the chart and, as text, what it shows.

    Both are the same at every run; Altair's own HTML has new random names each time.

    >>> for_notebooks({"description": "Bars."})["text/plain"]
    'Bars.'
    """
    if not chart.get("description", "").strip():
        raise ValueError("description must say in words what the chart shows; it is empty or missing")
    return {MIME_TYPE: chart, "text/plain": chart["description"]}


alt.renderers.register("attnlab", for_notebooks)
alt.renderers.enable("attnlab")
