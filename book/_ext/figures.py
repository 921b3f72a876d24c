"""Every image says in words what it shows, and how large it is before it has loaded.

A notebook's file has each picture once, in HTML that all viewers show; here it is taken out for the page.
"""

import json
from pathlib import Path
from typing import Any
from urllib.parse import quote
from xml.etree import ElementTree

import imagesize
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.writers.html5 import HTML5Translator

from bookkit.mime_types import with_copies

logger = logging.getLogger(__name__)


def take_out(app: Sphinx, page: str, source: list[str]) -> None:
    if not app.env.doc2path(page).endswith(".ipynb"):
        return
    notebook = json.loads(source[0])
    for cell in notebook["cells"]:
        for output in cell.get("outputs", []):
            if "data" in output:
                output["data"] = with_copies(output["data"])
    source[0] = json.dumps(notebook)


def visit_image(translator: HTML5Translator, node: nodes.image) -> None:
    builder = translator.builder
    file = Path(builder.srcdir, node["uri"])
    alt = node.get("alt") or title(file)
    if not alt:
        logger.error("an image has no alt text: say in words what it shows", location=with_line(node))
    # With its size known, the text below does not jump when the image arrives.
    width, height = (round(length) for length in imagesize.get(file))
    address = f"{builder.imgpath}/{quote(builder.images[node['uri']])}"
    tag = translator.emptytag(node, "img", src=address, alt=alt, width=width, height=height, loading="lazy")
    translator.body.append(tag)


def depart_image(translator: HTML5Translator, node: nodes.image) -> None:
    """An <img> has no end tag."""


def with_line(node: nodes.Node) -> nodes.Node:
    """The node itself or the nearest one around it whose line is known: MyST gives images none."""
    while not node.line and node.parent:
        node = node.parent
    return node


def title(file: Path) -> str:
    """A figure from bookkit.pictures.figures carries its description as the title of its SVG."""
    if file.suffix != ".svg":
        return ""
    return ElementTree.parse(file).findtext("{http://www.w3.org/2000/svg}title", "")


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("source-read", take_out, priority=100)  # before whatever looks for pictures
    app.add_node(nodes.image, override=True, html=(visit_image, depart_image))
    return {"parallel_read_safe": True}
