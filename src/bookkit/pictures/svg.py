"""The marks that drawings are made of: lines, arrows, shapes and letters, as SVG in colours by name."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Literal

import matplotlib as mpl
from matplotlib.ft2font import FT2Font, LoadFlags

from bookkit.pictures.colours import COLOURS, ROLES

LETTERS = 15  # pixels
SMALL = 13
SMALLEST = 12  # what can still be read on a phone
LINE = 1.35  # times the size of its letters
FONT = '"Source Sans 3", Arial, "Liberation Sans", sans-serif'
CODE = 'ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace'
Anchor = Literal["start", "middle", "end"]
Side = Literal["left", "right", "top", "bottom"]


@dataclass(frozen=True)
class Place:
    """`Place(0, 0, 40, 20)` is a rectangle by its left upper corner and its size."""

    left: float
    top: float
    width: float
    height: float

    @property
    def right(self) -> float:
        """`Place(0, 0, 40, 20).right` is 40."""
        return self.left + self.width

    @property
    def bottom(self) -> float:
        """`Place(0, 0, 40, 20).bottom` is 20."""
        return self.top + self.height

    def point(self, side: Side) -> tuple[float, float]:
        """`Place(0, 0, 40, 20).point("right")` is (40, 10), the middle of that side."""
        middle = self.left + self.width / 2, self.top + self.height / 2
        return {
            "left": (self.left, middle[1]),
            "right": (self.right, middle[1]),
            "top": (middle[0], self.top),
            "bottom": (middle[0], self.bottom),
        }[side]


def label(
    x: float,
    y: float,
    words: str,
    *,
    size: float = LETTERS,
    colour: str = "ink",
    anchor: Anchor = "middle",
    bold: bool = False,
    code: bool = False,
) -> str:
    """`label(50, 20, "k_1")` writes one line at this place; y is where its letters stand."""
    style = ' font-weight="600"' if bold else ""
    style += f" style='font-family:{CODE}'" if code else ""
    content = escape(words, quote=False) if code else _raised(words, size)
    return (
        f'<text x="{short(x)}" y="{short(y)}" font-size="{size:g}" fill="{paint(colour)}"'
        f' text-anchor="{anchor}"{style}>{content}</text>'
    )


INDEX = re.compile(r"([_^])(\{[^}]*\}|.)")


def _raised(words: str, size: float) -> str:
    """Indices lower and exponents higher, both smaller."""
    made, end, level = "", 0, 0.0
    for found in INDEX.finditer(words):
        made += _at_level(words[end : found.start()], -level)
        level = 0.0 if found.start() > end else level
        shift = size * (0.25 if found[1] == "_" else -0.35)
        small = escape(found[2].strip("{}"), quote=False)
        made += f'<tspan dy="{short(shift - level)}" font-size="{short(0.72 * size)}">{small}</tspan>'
        level, end = shift, found.end()
    return made + _at_level(words[end:], -level)


def _at_level(words: str, shift: float) -> str:
    plain = escape(words, quote=False)
    return f'<tspan dy="{short(shift)}">{plain}</tspan>' if plain and shift else plain


def width_of(line: str, size: float, code: bool = False) -> float:
    """`width_of("query", 15)` is in pixels, by the letters of a font that is wider than most machines'."""
    if code:
        return 0.61 * size * len(line)
    plain = INDEX.sub(lambda found: found[2].strip("{}"), line)
    FONT_FILE.set_text(plain, 0, flags=LoadFlags.NO_HINTING)
    return FONT_FILE.get_width_height()[0] / 64 * size / 100


FONT_FILE = FT2Font(str(Path(mpl.get_data_path(), "fonts/ttf/DejaVuSans.ttf")))
FONT_FILE.set_size(100, 72)


def broken(line: str, size: float, width: float | None, code: bool) -> list[str]:
    """`broken("a long line", 15, 40, False)` is its lines, none wider than 40 where words can be parted."""
    lines = [""]
    for word in line.split(" "):
        longer = f"{lines[-1]} {word}" if lines[-1] else word
        if width and lines[-1] and width_of(longer, size, code) > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


def line(
    x1: float,
    y1: float,
    x2: float,
    y2: float,
    *,
    colour: str = "grey",
    width: float = 1.5,
    dashed: bool = False,
) -> str:
    """`line(0, 0, 50, 20)` joins two points."""
    dashes = ' stroke-dasharray="2 4"' if dashed else ""
    return (
        f'<path d="M{short(x1)} {short(y1)}L{short(x2)} {short(y2)}" stroke="{paint(colour)}"'
        f' stroke-width="{short(width)}"{dashes}/>'
    )


def arrowhead(x: float, y: float, direction: tuple[float, float], length: float, colour: str) -> str:
    """`arrowhead(50, 50, (1, 0), 8, "ink")` begins at this point and leads to the right."""
    (dx, dy), half = direction, 0.45 * length
    tip = x + dx * length, y + dy * length
    return polygon([tip, (x - dy * half, y + dx * half), (x + dy * half, y - dx * half)], colour)


def vector(x1: float, y1: float, x2: float, y2: float, *, colour: str = "ink", width: float = 2.5) -> str:
    """`vector(50, 50, 90, 10)` is an arrow from one point to another."""
    length = ((x2 - x1) ** 2 + (y2 - y1) ** 2) ** 0.5
    direction = (x2 - x1) / length, (y2 - y1) / length
    head = 4 + 2 * width
    end = x2 - direction[0] * head, y2 - direction[1] * head
    return line(x1, y1, *end, colour=colour, width=width) + arrowhead(*end, direction, head, colour)


def circle(x: float, y: float, radius: float, *, colour: str = "grey", fill: str | None = None) -> str:
    """`circle(50, 50, 40)` is a ring, and `circle(50, 50, 4, fill="ink")` a dot."""
    inside = f'fill="{paint(fill)}"' if fill else 'fill="none"'
    return (
        f'<circle cx="{short(x)}" cy="{short(y)}" r="{short(radius)}" {inside}'
        f' stroke="{paint(colour)}" stroke-width="1.5"/>'
    )


def curve(points: Sequence[tuple[float, float]], *, colour: str = "grey", width: float = 2) -> str:
    """`curve([(0, 0), (10, 5), (20, 0)])` joins many points, as a line that bends."""
    path = "L".join(f"{short(x)} {short(y)}" for x, y in points)
    return f'<path d="M{path}" fill="none" stroke="{paint(colour)}" stroke-width="{short(width)}"/>'


def polygon(corners: Sequence[tuple[float, float]], colour: str, *, opacity: float = 1) -> str:
    """`polygon([(0, 0), (10, 0), (5, 8)], "ink")` is a filled shape."""
    path = "L".join(f"{short(x)} {short(y)}" for x, y in corners)
    return f'<path d="M{path}Z" fill="{paint(colour)}" fill-opacity="{short(opacity)}"/>'


def rectangle(
    place: Place,
    colour: str | None,
    *,
    fill: str | None = None,
    opacity: float = 1,
    corner: float = 0,
    dashed: bool = False,
) -> str:
    """`rectangle(Place(0, 0, 40, 20), "grey")` is a frame; `fill` and `opacity` are those of its ground."""
    frame = f'stroke="{paint(colour)}"' + (' stroke-dasharray="3 3"' if dashed else "") if colour else ""
    inside = f'fill="{paint(fill)}" fill-opacity="{short(opacity)}"' if fill else 'fill="none"'
    return (
        f'<rect x="{short(place.left)}" y="{short(place.top)}" width="{short(place.width)}"'
        f' height="{short(place.height)}" rx="{short(corner)}" {inside} {frame}/>'
    )


def paint(colour: str) -> str:
    """`paint("query")` is `var(--blue)`: a colour by its name, or by what it stands for."""
    name = ROLES.get(colour, colour)
    if name not in COLOURS:
        raise ValueError(f"there is no colour {colour!r}: take one of {', '.join([*ROLES, *COLOURS])}")
    return f"var(--{name})"


def short(number: float) -> str:
    """`short(12.0)` is "12": a tenth of a pixel can't be seen, a hundredth of an opacity hardly."""
    return f"{round(number, 2 if abs(number) < 1 else 1):g}"
