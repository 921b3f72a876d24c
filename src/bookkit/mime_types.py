"""What a chapter's cells store besides text: the type of each, for whatever reads or shows a notebook."""

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
