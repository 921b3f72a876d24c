"""Whether two pictures look the same: what another processor draws a tenth of a pixel higher, nobody sees.

Elements, words, colours and their order must be the same. Numbers may differ by less than can be seen.
"""

import base64
import copy
import io
import math
import re
from collections.abc import Iterator, Sequence
from typing import Any
from xml.etree import ElementTree

import numpy as np
from PIL import Image

from bookkit.mime_types import CHART, DRAWING, FIGURE, with_copies

PIXEL = 0.5
SHADE = 2  # of 255: a step of a colour map
OPACITY = 0.011  # the last digit of what a drawing stores
SHARE = 0.005  # of a number in a chart
PLACES = ("d", "x", "y", "x1", "y1", "x2", "y2", "width", "height", "r", "rx", "ry", "cx", "cy", "dx", "dy")
DEPTHS = ("opacity", "fill-opacity", "stroke-opacity", "stroke-width")
BOUNDS = dict.fromkeys(PLACES, PIXEL) | dict.fromkeys(DEPTHS, OPACITY)
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?")
CALL = re.compile(r"(\w+)\(([^)]*)\)")
SHADED = re.compile(r"#[0-9a-f]{6}")
BITMAP = "data:image/png;base64,"


def difference(kind: str, stored: Any, fresh: Any) -> str:
    """`difference(FIGURE, stored, fresh)` is what one sees to be different, "" where it is nothing."""
    if stored == fresh:
        return ""
    if kind == CHART:
        return next(in_charts(stored, fresh, "chart"), "")
    if kind == DRAWING:
        if stored.keys() != fresh.keys() or stored["description"] != fresh["description"]:
            return "the description is another"
        sizes = [size for size in stored if size != "description"]
        return "; ".join(f"{size}: {said}" for size in sizes if (said := in_svg(stored[size], fresh[size])))
    return in_svg(stored, fresh)


def in_svg(stored: str, fresh: str) -> str:
    return next(in_elements(parsed(stored, "the stored"), parsed(fresh, "the fresh"), "svg"), "")


def parsed(text: str, which: str) -> ElementTree.Element:
    """With its comments: Matplotlib draws letters as outlines, and says there which words they are."""
    builder = ElementTree.TreeBuilder(insert_comments=True)
    try:
        return ElementTree.fromstring(text, ElementTree.XMLParser(target=builder))
    except ElementTree.ParseError as error:
        raise ValueError(f"{which} figure is no SVG ({error}): run `make refresh`") from None


def in_elements(stored: ElementTree.Element, fresh: ElementTree.Element, place: str) -> Iterator[str]:
    place = f"{place}/{stored.get('id')}" if stored.get("id") else place
    if stored.tag != fresh.tag:
        yield f"{place}: {name_of(stored)} was here, and now {name_of(fresh)} is"
    for said, says in ((stored.text, fresh.text), (stored.tail, fresh.tail)):
        if (said or "").split() != (says or "").split():
            yield f"{place}: it said “{(said or '').strip()}” here, and now “{(says or '').strip()}”"
    if stored.attrib.keys() != fresh.attrib.keys():
        yield f"{place}: {name_of(stored)} had {sorted(stored.keys())}, and has {sorted(fresh.keys())}"
    for name in stored.attrib.keys() & fresh.attrib.keys():
        if not alike(name, stored.attrib[name], fresh.attrib[name]):
            yield f"{place}: {name} of {name_of(stored)} {moved(stored.attrib[name], fresh.attrib[name])}"
    if len(stored) != len(fresh):
        yield f"{place}: {len(stored)} parts were here, and now there are {len(fresh)}"
    for was, is_now in zip(stored, fresh, strict=False):
        yield from in_elements(was, is_now, place)


def name_of(element: ElementTree.Element) -> str:
    """`name_of(<path/>)` is "path"; a comment's tag is a function, and a name stands behind a namespace."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else "a comment"


def alike(name: str, stored: str, fresh: str) -> bool:
    """`alike("x", "12", "12.3")` is true; `alike("fill", "#ff0000", "#00ff00")` is not."""
    name = name.rpartition("}")[2]
    if stored == fresh:
        return True
    if name == "style":
        was, is_now = declarations(stored), declarations(fresh)
        return [*was] == [*is_now] and all(alike(each, was[each], is_now[each]) for each in was)
    if name == "transform":
        calls, fresh_calls = CALL.findall(stored), CALL.findall(fresh)
        return len(calls) == len(fresh_calls) and all(
            a == b or (a[0] == b[0] == "translate" and within(PIXEL, a[1], b[1]))
            for a, b in zip(calls, fresh_calls, strict=True)
        )
    if SHADED.fullmatch(stored) and SHADED.fullmatch(fresh):
        return near(shades(stored), shades(fresh), SHADE)
    if stored.startswith(BITMAP) and fresh.startswith(BITMAP):
        image, fresh_image = pixels(stored), pixels(fresh)
        return image.shape == fresh_image.shape and bool((abs(image - fresh_image) <= SHADE).all())
    return name in BOUNDS and within(BOUNDS[name], stored, fresh)


def declarations(style: str) -> dict[str, str]:
    """`declarations("fill: none; stroke: red")` is {"fill": "none", "stroke": "red"}."""
    pairs = (each.partition(":") for each in style.split(";") if each.strip())
    return {name.strip(): value.strip() for name, _, value in pairs}


def within(bound: float, stored: str, fresh: str) -> bool:
    """Whether the same words hold numbers that are as near as that."""
    if "".join(NUMBER.split(stored)).split() != "".join(NUMBER.split(fresh)).split():
        return False
    return near(numbers(stored), numbers(fresh), bound)


def numbers(text: str) -> list[float]:
    return [float(number) for number in NUMBER.findall(text)]


def near(stored: Sequence[float], fresh: Sequence[float], bound: float) -> bool:
    return len(stored) == len(fresh) and not any(
        abs(was - is_now) > bound for was, is_now in zip(stored, fresh, strict=True)
    )


def shades(colour: str) -> list[int]:
    return [*bytes.fromhex(colour[1:])]


def pixels(address: str) -> Any:
    """The bitmap in `data:image/png;base64,…`, as numbers of 0 to 255."""
    with Image.open(io.BytesIO(base64.b64decode(address.removeprefix(BITMAP)))) as image:
        return np.asarray(image.convert("RGBA"), dtype=int)


def moved(stored: str, fresh: str) -> str:
    """How far numbers moved or, where it is no such thing, what was and what is."""
    was, is_now = numbers(stored), numbers(fresh)
    if len(was) == len(is_now) > 1:
        return f"is {max(abs(a - b) for a, b in zip(was, is_now, strict=True)):.2f} off"
    return f"was {stored[:60]}, and is {fresh[:60]}"


def in_charts(stored: Any, fresh: Any, place: str) -> Iterator[str]:
    if isinstance(stored, dict) and isinstance(fresh, dict) and stored.keys() == fresh.keys():
        for name in stored:
            yield from in_charts(stored[name], fresh[name], f"{place}.{name}")
    elif isinstance(stored, list) and isinstance(fresh, list) and len(stored) == len(fresh):
        for index, (was, is_now) in enumerate(zip(stored, fresh, strict=True)):
            yield from in_charts(was, is_now, f"{place}[{index}]")
    elif not same_value(stored, fresh):
        yield f"{place} was {str(stored)[:60]}, and is {str(fresh)[:60]}"


def same_value(stored: Any, fresh: Any) -> bool:
    if isinstance(stored, bool) or not isinstance(stored, int | float) or not isinstance(fresh, int | float):
        return type(stored) is type(fresh) and bool(stored == fresh)
    return math.isclose(stored, fresh, rel_tol=SHARE, abs_tol=1e-3)


def in_words(stored: Any, fresh: Any) -> tuple[Any, Any]:
    """`in_words(cell.outputs, outputs)` are both with a few words for each picture.

    Where pictures look alike, so do their words; elsewhere they tell what differs. Words can be compared to
    the letter.
    """
    stored, fresh = copy.deepcopy(stored), copy.deepcopy(fresh)
    for output in (*stored, *fresh):
        if "data" in output:
            output["data"] = with_copies(output["data"])
    for kind in (FIGURE, DRAWING, CHART):
        was, is_now = (
            [output["data"] for output in outputs if kind in output.get("data", {})]
            for outputs in (stored, fresh)
        )
        for before, now in zip(was, is_now, strict=False):
            now[kind] = difference(kind, before[kind], now[kind]) or "a picture"
            before[kind] = "a picture"
    return stored, fresh
