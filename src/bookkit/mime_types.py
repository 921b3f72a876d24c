"""What a chapter's cells store besides text: the type of each, for whatever reads or shows a notebook."""

import base64
import re
from typing import Any

CLAIM = "application/vnd.attnlab.claim+json"
FIGURE = "image/svg+xml"
# Two SVGs, for wide screens and for phones, and their description.
DRAWING = "application/vnd.attnlab.drawing+json"
# JupyterLab has a viewer for this type.
CHART = "application/vnd.vegalite.v5+json"
# How a chart looks before anybody moves a control, for viewers that know no charts.
PICTURE = "image/png"


def as_saved(content: Any) -> Any:
    """`as_saved({"x": 2.0})` is what JupyterLab leaves of the content when it saves: JavaScript has no 2.0.

    Stored so from the beginning, a chapter does not change when it is opened and saved.

    >>> as_saved({"x": [2.0, 0.5, True]})
    {'x': [2, 0.5, True]}
    """
    if isinstance(content, dict):
        return {name: as_saved(value) for name, value in content.items()}
    if isinstance(content, list | tuple):
        return [as_saved(value) for value in content]
    return int(content) if isinstance(content, float) and content.is_integer() else content


IMAGE = re.compile(rf"data:{re.escape(FIGURE)};base64,([\w+/=]+)")


def as_image(picture: str) -> str:
    """`as_image("<svg/>")` is the picture as the source of an image in HTML.

    >>> as_image("<svg/>")
    'data:image/svg+xml;base64,PHN2Zy8+'
    """
    return f"data:{FIGURE};base64,{base64.b64encode(picture.encode()).decode()}"


def without_copies(data: dict[str, Any]) -> dict[str, Any]:
    """`without_copies(data)` is what a file keeps of an output: a picture's HTML, which holds all of it."""
    return {kind: content for kind, content in data.items() if kind not in _pictures(data)}


def with_copies(data: dict[str, Any]) -> dict[str, Any]:
    """`with_copies(data)` is what the cell had put out, before `without_copies`."""
    return data if {FIGURE, DRAWING} & data.keys() else _pictures(data) | data


def _pictures(data: dict[str, Any]) -> dict[str, Any]:
    """The figure, or the drawing, that the HTML holds."""
    html = "".join(data.get("text/html", ""))
    found = [base64.b64decode(image).decode() for image in IMAGE.findall(html)]
    if html.startswith("<picture>") and len(found) == 2:
        narrow, wide = (re.sub("<style>.*?</style>", "", svg, count=1) for svg in found)
        return {DRAWING: {"description": "".join(data["text/plain"]), "wide": wide, "narrow": narrow}}
    return {FIGURE: found[0]} if html.startswith("<img ") and len(found) == 1 else {}
