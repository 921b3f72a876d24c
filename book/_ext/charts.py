"""A chart in a notebook becomes a picture with labelled controls, and comes to life when one of them moves.

Vega-Lite is compiled to Vega here: the browser needs Vega alone, and only on the reader's first action.
A page without cells names what makes its chart: `{chart} chapters.where_am_i.charts.position_table`.
"""

import importlib
import json
import re
from html import escape
from pathlib import Path
from typing import Any

import vl_convert
from docutils import nodes
from myst_nb.core.render import MimeData, NbElementRenderer, load_mime_renders
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from _ext.javascript import bundle
from bookkit.mime_types import CHART, CLAIM
from bookkit.pictures.charts import look

# Two pictures whose letters have the same size: book.css shows the one that fits the screen.
WIDTHS = {"narrow": 270, "wide": 560}
# Colours by name: book.css gives each a value for light pages and one for dark pages.
LOOK = look(lambda name: f"var(--{name})") | {"background": "transparent"}

# Nobody sees a twentieth of an opacity; hundreds of them weigh half a kilobyte.
OPACITIES = re.compile(r'(?<=opacity=")0\.\d+')
# Digits of places and sizes that nobody sees; they made the HTML of a page a seventh heavier.
SMALL_PARTS = re.compile(r"(?<=[\s\"(,A-Za-z])-?\d+\.\d{4,}(?=[^<>]*>)")
# A picture is one image, described as a whole: what Vega says of each of its parts nobody hears.
SAID_OF_PARTS = re.compile(r' (?:class="(?!marks)[^"]*"|(?:role|aria-[a-z]+|pointer-events)="[^"]*")')


# The cells of a heat map, each a path of its own. Those of one colour can be one path.
CELL = r'<path d="(M[^"]*h[^"]*v[^"]*Z)" fill="([^"]*)" opacity="([^"]*)"/>'
CELLS = re.compile(f"(?:{CELL}){{2,}}")


class ChartRenderer:
    """What MyST-NB asks about each output of a cell: charts become HTML, and the rest is left to MyST-NB."""

    mime_priority_overrides = (("*", CHART, 0),)

    @staticmethod
    def handle_mime(renderer: NbElementRenderer, data: MimeData, inline: bool) -> list[nodes.Element] | None:
        if data.mime_type == CLAIM:
            return []  # for the ledger: the page shows the claim's HTML
        if data.mime_type != CHART:
            return None
        try:
            return [nodes.raw("", figure(data.content, f"chart-{data.cell_index}"), format="html")]
        except ValueError as reason:
            renderer.logger.error(f"a chart can't be shown: {reason}", subtype="chart", line=data.line)
            return []


class Chart(SphinxDirective):
    """`{chart} chapters.where_am_i.charts.position_table` is the chart that this function makes."""

    required_arguments = 1
    has_content = True  # for viewers that draw no charts

    def run(self) -> list[nodes.Node]:
        module, _, name = self.arguments[0].rpartition(".")
        try:
            if not module:
                raise ValueError("write the name as module.function")
            made = getattr(importlib.import_module(module), name)()._repr_mimebundle_()[CHART]
            html = figure(made, f"chart-{name}-{self.env.new_serialno('chart')}")
        except (ImportError, AttributeError, ValueError) as reason:
            raise self.error(f"a chart can't be shown: {reason}") from reason
        # A page that is only text says what the chart shows.
        return [
            nodes.raw("", html, format="html"),
            nodes.raw("", made["description"], format="text"),
        ]


def together(cells: re.Match[str]) -> str:
    """The cells of each colour as one path, without those that nobody sees."""
    paths: dict[tuple[str, str], str] = {}
    for path, *colour in re.findall(CELL, cells[0]):
        paths[colour[0], colour[1]] = paths.get((colour[0], colour[1]), "") + path
    return "".join(
        f'<path d="{path}" fill="{fill}" opacity="{opacity}"/>'
        for (fill, opacity), path in paths.items()
        if opacity != "0"
    )


def figure(chart: dict[str, Any], name: str) -> str:
    """The HTML of a chart; `name` must be its own on the page."""
    description = chart.get("description", "").strip()
    if not description:
        raise ValueError("it has no description, and readers who can't see it need one")
    vega = vl_convert.vegalite_to_vega(chart | {"config": LOOK})
    controls = "".join(control(signal, name) for signal in vega["signals"] if "bind" in signal)
    for signal in vega["signals"]:
        signal.pop("bind", None)  # Vega would make controls of its own, which have no labels
    pictures = "".join(picture(vega, screen) for screen in WIDTHS)
    # In a script element "</" is the beginning of its end.
    data = json.dumps(vega, ensure_ascii=False, separators=(",", ":")).replace("</", "<\\/")
    return (
        f'<div class="chart">\n<form autocomplete="off">{controls}</form>\n'
        f'<div class="chart-picture" role="img" aria-label="{escape(description)}">{pictures}</div>\n'
        f'<p class="unseen" role="status"></p>\n<script type="application/json">{data}</script>\n</div>\n'
    )


def picture(vega: dict[str, Any], screen: str) -> str:
    width = WIDTHS[screen]
    svg = SMALL_PARTS.sub(
        lambda number: f"{float(number[0]):.2f}", vl_convert.vega_to_svg(vega | {"width": width})
    )
    svg = OPACITIES.sub(lambda number: f"{round(20 * float(number[0])) / 20:g}", svg)
    svg = CELLS.sub(together, SAID_OF_PARTS.sub("", svg))
    return svg.replace("<svg", f'<svg data-screen="{screen}" data-width="{width}"', 1)


def control(signal: dict[str, Any], chart: str) -> str:
    """A labelled slider or a choice for one of the chart's parameters."""
    name, value, bind = signal["name"], signal["value"], signal["bind"]
    label = escape(bind.get("name", name))
    if bind["input"] == "range":
        limits = " ".join(f'{limit}="{bind[limit]}"' for limit in ("min", "max", "step"))
        return (
            f'<div><label for="{chart}-{name}">{label}</label>'
            f'<input type="range" id="{chart}-{name}" name="{name}" {limits} value="{value}">'
            f"<span>{value}</span></div>"
        )
    if bind["input"] == "radio":
        options = "".join(
            f'<label><input type="radio" name="{name}" value="{escape(option)}"'
            f"{' checked' if option == value else ''}> {escape(option)}</label>"
            for option in bind["options"]
        )
        return f"<fieldset><legend>{label}</legend>{options}</fieldset>"
    raise ValueError(f"the site has sliders (range) and choices (radio), not {bind['input']!r}")


def finish(app: Sphinx, exception: Exception | None) -> None:
    if not exception and app.builder.format == "html":
        bundle(Path(__file__).with_name("vega.mjs"), Path(app.outdir, "_static/vega.js"))


def setup(app: Sphinx) -> dict[str, Any]:
    # MyST-NB looks for renderers among the installed packages, and keeps the list: this one is not installed.
    load_mime_renders().append(ChartRenderer)
    app.add_directive("chart", Chart)
    app.connect("build-finished", finish)
    return {"parallel_read_safe": True}
