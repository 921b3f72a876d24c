"""Pictures are compared as they look: last digits are forgiven, and nothing that one sees."""

import base64
import functools
import io
import re

import nbformat
import numpy as np
import pytest
from PIL import Image

from bookkit.mime_types import CHART, DRAWING, FIGURE
from tools.chapters import likeness, notebooks

CHAPTERS = ("is-it-any-good", "no-table-at-all", "keeping-numbers-in-range", "is-it-noise")
CURVE = re.compile(r'(?<=<path d=")[^"]*(?=" clip-path="[^"]*" style="fill: none; stroke: var\(--(?!faint))')
TICK = re.compile(r'<use xlink:href="#m\d+" x="[^>]*/>')
TICKS = re.compile(r'(<g id="xtick_1">.*?)(<g id="xtick_2">.*?)(?=<g id="xtick_3">)')


@functools.cache
def stored(chapter: str) -> str:
    """The chapter's first figure with at least two curves and three ticks."""
    for cell in notebooks.code_cells(notebooks.read(notebooks.BOOK / f"{chapter}.ipynb")):
        for data in notebooks.displays(cell):
            figure = data.get(FIGURE, "")
            if len(CURVE.findall(figure)) > 1 and TICKS.search(figure):
                return str(figure)
    raise ValueError(f"{chapter} has no such figure")


def shifted(path: str, by: float, count: int = 0) -> str:
    """So many of the path's heights, or all of them, further down."""
    return re.sub(r"(?<=[ML] )(\S+) (\S+)", lambda at: f"{at[1]} {float(at[2]) + by:g}", path, count=count)


CHANGES = {
    "a curve that moved": lambda figure: CURVE.sub(lambda path: shifted(path[0], 1), figure, 1),
    "a curve with another end": lambda figure: CURVE.sub(lambda path: shifted(path[0], 1, 1), figure, 1),
    "a lost tick": lambda figure: TICK.sub("", figure, 1),
    "ticks in another order": lambda figure: TICKS.sub(r"\2\1", figure, 1),
    "another colour": lambda figure: figure.replace("stroke: var(--blue)", "stroke: var(--green)"),
    "another word": lambda figure: re.sub("<!-- .", "<!-- §", figure, count=1),
    "a larger letter": lambda figure: figure.replace("scale(0.14 -0.14)", "scale(0.15 -0.15)", 1),
    "a thinner line": lambda figure: figure.replace("stroke-width: 0.8", "stroke-width: 0.7"),
}


@pytest.mark.parametrize("chapter", CHAPTERS)
@pytest.mark.parametrize("change", CHANGES)
def test_what_one_sees_is_refused(change, chapter):
    figure = stored(chapter)
    changed = CHANGES[change](figure)
    assert changed != figure
    assert likeness.difference(FIGURE, figure, changed)
    assert likeness.difference(FIGURE, changed, figure)
    nudged = CURVE.sub(lambda path: shifted(path[0], 0.4), figure)
    assert nudged != figure
    assert likeness.difference(FIGURE, figure, nudged) == "", "what nobody sees is forgiven"


def drawing(words: str = "query", y: float = 8, opacity: float = 0.5) -> dict[str, str]:
    svg = (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9">'
        f'<rect x="1" y="{y}" fill="var(--blue)" fill-opacity="{opacity}"/><text y="{y}">{words}</text></svg>'
    )
    return {"description": "a box", "wide": svg, "narrow": svg}


def test_a_drawing_is_compared_in_both_its_sizes():
    same = drawing(y=8.1, opacity=0.51)
    assert likeness.difference(DRAWING, drawing(), same) == ""
    assert likeness.difference(DRAWING, drawing(), drawing() | {"description": "an oval"})
    for other in (drawing("key"), drawing(y=9), drawing(opacity=0.6)):
        for size in ("wide", "narrow"):
            assert likeness.difference(DRAWING, drawing(), drawing() | {size: other[size]})


def chart(*values: float, mark: str = "line") -> dict[str, object]:
    return {"mark": mark, "data": {"values": [{"x": value, "shown": True} for value in values]}}


def test_a_charts_numbers_may_differ_by_little_and_all_else_by_nothing():
    assert likeness.difference(CHART, chart(0.2, 300), chart(0.2004, 301)) == ""
    others = [chart(0.2, 303), chart(0.21, 300), chart(300, 0.2), chart(0.2), chart(0.2, 300, mark="bar")]
    for other in others:
        assert likeness.difference(CHART, chart(0.2, 300), other)


def heat_map(shade: int, colour: str) -> str:
    file = io.BytesIO()
    Image.fromarray(np.full((2, 3, 3), shade, dtype=np.uint8)).save(file, "png")
    source = likeness.BITMAP + base64.b64encode(file.getvalue()).decode()
    return f'<svg><image href="{source}"/><path style="fill: {colour}"/></svg>'


def test_a_heat_map_is_compared_by_its_shades():
    assert likeness.difference(FIGURE, heat_map(100, "#102030"), heat_map(101, "#112030")) == ""
    for other in (heat_map(110, "#102030"), heat_map(100, "#182030")):
        assert likeness.difference(FIGURE, heat_map(100, "#102030"), other)


def outputs(**data: object) -> list[object]:
    return [nbformat.v4.new_output("display_data", data={"text/plain": "words", **data})]


def test_for_the_letter_by_letter_comparison_a_picture_is_a_few_words():
    was, now = likeness.in_words(outputs(**{DRAWING: drawing()}), outputs(**{DRAWING: drawing(y=8.2)}))
    assert was == now
    _, now = likeness.in_words(outputs(**{DRAWING: drawing()}), outputs(**{DRAWING: drawing(y=9)}))
    said = "svg: y of rect was 8, and is 9"
    assert now[0].data[DRAWING] == f"wide: {said}; narrow: {said}"
    was, now = likeness.in_words(outputs(), outputs(**{DRAWING: drawing()}))
    assert was != now


def test_what_is_no_svg_is_said_in_a_line():
    with pytest.raises(ValueError, match=r"the stored figure is no SVG .*: run `make refresh`"):
        likeness.difference(FIGURE, "<svg><g></svg>", "<svg/>")
