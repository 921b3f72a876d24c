"""Every interactive chart of the book: written in Python, computed in the browser.

A chart carries a few numbers and the steps from them to what is drawn. The browser takes the steps again each
time a control moves, so a chart needs no kernel: it works alike on the site, on Binder and in JupyterLab.

The charts themselves are in each chapter's folder, in `chapters/<chapter>/charts.py`. Here is what several of
them need.
"""

import sys
from collections.abc import Callable
from typing import Any, Literal

# Else Altair's import would have jsonschema build a grammar of international addresses, which no chart needs:
# nearly two seconds of every chapter. jsonschema does without where the package can't be imported.
sys.modules["rfc3987_syntax"] = None  # type: ignore[assignment]
import altair as alt  # noqa: E402

from bookkit.mime_types import CHART, as_saved  # noqa: E402
from bookkit.pictures.colours import COLOURS, SERIES  # noqa: E402

del sys.modules["rfc3987_syntax"]


def for_notebooks(chart: dict[str, Any]) -> dict[str, Any]:
    """`for_notebooks({"description": "Bars."})` is what a cell stores: the chart and, as text, what it shows.

    Both are the same at every run; Altair's own HTML has new random names each time.

    >>> for_notebooks({"description": "Bars."})["text/plain"]
    'Bars.'
    """
    if not chart.get("description", "").strip():
        raise ValueError("description must say in words what the chart shows; it is empty or missing")
    light = look(lambda name: COLOURS[name][0])
    return {CHART: as_saved(chart | {"config": light}), "text/plain": chart["description"]}


def look(colour: Callable[[str], str]) -> dict[str, Any]:
    """`look(lambda name: f"var(--{name})")` is the look of every chart, in colours that are given by name."""
    ink, grey, faint = colour("ink"), colour("grey"), colour("faint")
    return {
        "background": colour("paper"),
        "mark": {"color": colour("blue")},
        "text": {"color": ink, "fontSize": 13},
        "view": {"stroke": None},
        "legend": {"labelColor": ink, "titleColor": ink, "labelFontSize": 12},
        "range": {"category": [colour(name) for name in SERIES]},
        "axis": {
            "labelColor": ink,
            "titleColor": ink,
            "domainColor": grey,
            "tickColor": grey,
            "gridColor": faint,
            "labelFontSize": 12,
            "titleFontSize": 13,
            "titleFontWeight": "normal",
        },
    }


alt.renderers.register("attnlab", for_notebooks)
if "google.colab" not in sys.modules:  # Colab draws what Altair's own renderer gives, and no chart of ours
    alt.renderers.enable("attnlab")


def slider(
    name: str, label: str, lowest: float, highest: float, *, step: float, value: float
) -> alt.Parameter:
    """`slider("d_model", "columns", 2, 32, step=2, value=16)` offers 2, 4 and so on, and begins at 16."""
    bind = alt.binding_range(name=label, min=lowest, max=highest, step=step)
    return alt.param(name=name, value=value, bind=bind)


def choice(name: str, label: str, options: list[str], *, value: str) -> alt.Parameter:
    """`choice("cut", "a long review", ["front", "back"], value="back")` offers two and begins at "back"."""
    return alt.param(name=name, value=value, bind=alt.binding_radio(name=label, options=options))


def softmax(rows: alt.Chart, score: str) -> alt.Chart:
    """`softmax(rows, score="datum.x * factor")` gives each row a `score`, and a `weight`: its share of 1."""
    return (
        rows.transform_calculate(score=score)
        .transform_joinaggregate(highest="max(score)")
        .transform_calculate(power="exp(datum.score - datum.highest)")  # no overflow: the largest is 1
        .transform_joinaggregate(total="sum(power)")
        .transform_calculate(weight="datum.power / datum.total")
    )


def readout(
    row: alt.Chart,
    side: Literal["left", "right"],
    y: float | Literal["height"],
    *,
    baseline: Literal["top", "bottom"] = "top",
    dy: alt.typing.Optional[float] = alt.Undefined,
    line_height: int = 20,
) -> alt.Chart:
    """`readout(row, "right", y=0)` writes the lines that the one row calls `readout` at the top right."""
    return (
        row.mark_text(align=side, baseline=baseline, dy=dy, lineHeight=line_height)
        .encode(x=alt.value(0 if side == "left" else "width"), y=alt.value(y), text="readout:N")
        .properties(name="readout")  # the site's charts.js reads it out when a control has moved
    )
