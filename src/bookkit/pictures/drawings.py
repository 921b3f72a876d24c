"""How drawings are made: what meets what, with arrows, shapes and small grids of numbers.

A figure plots what was measured; a drawing shows how a thing works. It is put together from parts: a part
has a size, marks in SVG, and places, which have names and which arrows join. Every drawing is made twice,
for wide screens and for phones, from the same numbers as the code beside it.

The drawings themselves are beside the chapters, in a module for each. See the parts in use there.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import accumulate
from typing import Any, Literal

from IPython.core.getipython import get_ipython
from IPython.display import display
from torch import Tensor

from bookkit.mime_types import DRAWING, as_image
from bookkit.pictures.colours import COLOURS
from bookkit.pictures.svg import (
    FONT,
    LETTERS,
    LINE,
    SMALL,
    Place,
    Side,
    arrowhead,
    broken,
    label,
    paint,
    rectangle,
    short,
    width_of,
)

# Pixels that a page has room for. On a phone a drawing is not made smaller, so its letters can be read.
WIDEST = {"wide": 740, "narrow": 330}
SMALLEST = 12  # pixels: smaller letters can't be read on a phone
# A weight is an opacity that never quite vanishes, nor hides the number on it.
FAINTEST, TINT, STRONGEST = 0.06, 0.16, 0.5


@dataclass(frozen=True)
class Part:
    """`Part(40, 20, "<rect …/>")` is a piece of a drawing; `places` are what arrows may join, by name."""

    width: float
    height: float
    marks: str
    places: Mapping[str, Place] = field(default_factory=dict)

    def named(self, name: str) -> "Part":
        """`part.named("query")` is the same part, as a place of its own."""
        return Part(
            self.width,
            self.height,
            self.marks,
            {**self.places, name: Place(0, 0, self.width, self.height)},
        )


Piece = Part | str


# ---- text ----


def text(
    words: str,
    *,
    size: float = LETTERS,
    colour: str = "ink",
    bold: bool = False,
    code: bool = False,
    width: float | None = None,
) -> Part:
    r"""`text("W_Q x^T")` has W with an index and x with an exponent; `text("a\nb")` has two lines.

    With a `width` lines break between words. With `code` the letters are those of code, and `_` is itself.
    """
    lines = [line for given in words.split("\n") for line in broken(given, size, width, code)]
    widths = [width_of(line, size, code) * (1.06 if bold else 1) for line in lines]
    marks = "".join(
        label(
            max(widths) / 2, size * (LINE * place + 1), line, size=size, colour=colour, bold=bold, code=code
        )
        for place, line in enumerate(lines)
    )
    return Part(max(widths), size * LINE * len(lines), marks)


def note(words: str, *, width: float | None = None) -> Part:
    """`note("one score for each key", width=120)` is a few words beside what they explain."""
    return text(words, size=SMALL, colour="grey", width=width)


def left_note(words: str, width: float) -> Part:
    """`left_note("A line marks the chance before.", 320)` is a note whose lines begin below each other."""
    lines = broken(words, SMALL, width, False)
    marks = "".join(
        label(0, SMALL * (LINE * place + 1), line, size=SMALL, colour="grey", anchor="start")
        for place, line in enumerate(lines)
    )
    return Part(max(width_of(line, SMALL) for line in lines), SMALL * LINE * len(lines), marks)


# ---- parts beside each other ----


def row(*pieces: Piece, gap: float = 14, align: Literal["top", "middle", "bottom"] = "middle") -> Part:
    """`row("Q", "×", "K")` has its parts side by side."""
    parts = [_part(piece) for piece in pieces]
    height = max(part.height for part in parts)
    share = {"top": 0.0, "middle": 0.5, "bottom": 1.0}[align]
    lefts = [0.0, *accumulate(part.width + gap for part in parts)]
    return over(
        lefts[-1] - gap,
        height,
        *((part, left, share * (height - part.height)) for part, left in zip(parts, lefts, strict=False)),
    )


def column(*pieces: Piece, gap: float = 10, align: Literal["left", "middle", "right"] = "middle") -> Part:
    """`column("scores", "weights")` has its parts one below the other."""
    parts = [_part(piece) for piece in pieces]
    width = max(part.width for part in parts)
    share = {"left": 0.0, "middle": 0.5, "right": 1.0}[align]
    tops = [0.0, *accumulate(part.height + gap for part in parts)]
    return over(
        width,
        tops[-1] - gap,
        *((part, share * (width - part.width), top) for part, top in zip(parts, tops, strict=False)),
    )


def across(narrow: bool, *pieces: Piece, gap: float = 20) -> Part:
    """`across(narrow, "Q", "K")` is a row, and a column on a phone."""
    return column(*pieces, gap=gap) if narrow else row(*pieces, gap=gap)


def over(width: float, height: float, *placed: tuple[Part, float, float] | str) -> Part:
    """`over(200, 100, (part, 10, 20), line(0, 0, 50, 50))` puts parts, and marks, where you say."""
    marks, places = "", {}
    for one in placed:
        if isinstance(one, str):
            marks += one
            continue
        part, left, top = one
        marks += f'<g transform="translate({short(left)} {short(top)})">{part.marks}</g>'
        for name, place in part.places.items():
            if name in places:
                raise ValueError(f"two places are called {name!r}: arrows would not know which to join")
            places[name] = Place(place.left + left, place.top + top, place.width, place.height)
    return Part(width, height, marks, places)


def padded(piece: Piece, across: float = 12, down: float | None = None) -> Part:
    """`padded("Q", 12)` has room around it: 12 on each side, and `down` (else the same) above and below."""
    part = _part(piece)
    down = across if down is None else down
    return over(part.width + 2 * across, part.height + 2 * down, (part, across, down))


def faded(piece: Piece) -> Part:
    """`faded(part)` steps back, where the rest of a drawing that was shown before is told."""
    part = _part(piece)
    return Part(part.width, part.height, f'<g opacity="0.3">{part.marks}</g>', part.places)


def box(
    piece: Piece,
    *,
    name: str = "",
    colour: str = "grey",
    learned: bool = False,
    width: float = 0,
    padding: float = 10,
) -> Part:
    """`box("W_Q", name="queries", learned=True)` frames a part; what is learned is tinted."""
    inside = padded(piece, padding, 0.7 * padding)
    wide = max(inside.width, width)
    frame = rectangle(
        Place(0, 0, wide, inside.height), colour, fill=colour if learned else None, corner=6, opacity=TINT
    )
    part = over(wide, inside.height, frame, (inside, (wide - inside.width) / 2, 0))
    return part.named(name) if name else part


def panel(piece: Piece, title: str = "", *, name: str = "") -> Part:
    """`panel(part, "one layer")` puts a part on a pale ground, with its title above."""
    inside = column(text(title, size=SMALL, bold=True), piece, gap=8) if title else _part(piece)
    inside = padded(inside, 14, 10)
    ground = rectangle(Place(0, 0, inside.width, inside.height), None, fill="grey", corner=8, opacity=0.09)
    part = over(inside.width, inside.height, ground, (inside, 0, 0))
    return part.named(name) if name else part


def operator(words: str, *, name: str = "") -> Part:
    """`operator("softmax")` is a step without anything learned, and `operator("×")` a small circle."""
    inside = text(words, size=LETTERS if len(words) < 3 else SMALL)
    height = inside.height + 8
    width = max(height, inside.width + 18)
    ring = rectangle(Place(0, 0, width, height), "grey", fill="paper", corner=height / 2)
    part = over(width, height, ring, (inside, (width - inside.width) / 2, 4))
    return part.named(name) if name else part


# ---- grids of numbers ----


def grid(
    numbers: Tensor | Sequence[Sequence[float | str]],
    *,
    name: str = "",
    title: str = "",
    colour: str = "grey",
    rows: Sequence[str] = (),
    columns: Sequence[str] = (),
    shape: str = "",
    digits: int = 2,
    shaded: bool = False,
    cell: tuple[float, float] = (46, 30),
    absent: str | None = None,
) -> Part:
    """`grid(weights, rows=["cat"], columns=["the", "sat"], colour="query", shaded=True)` is a matrix.

    Numbers are written with so many `digits`, and words as they are. With `shaded` a cell is the stronger the
    larger its number is; without it all are tinted alike. A cell whose words are `absent` stays empty, in a
    dashed frame. Its places are "name" and, for each cell, "name.i.j".
    """
    values = numbers.detach().cpu().tolist() if isinstance(numbers, Tensor) else numbers
    if not all(isinstance(each, list | tuple) for each in values) or not values:
        raise ValueError(
            "numbers must have rows and columns: write [[1, 2]] for a row, x[:, None] for a column"
        )
    (wide, high), left = cell, max((width_of(each, SMALL) + 8 for each in rows), default=0)
    top = SMALL * LINE + 2 if columns else 0.0
    marks, places = "", {}
    for j, each in enumerate(columns):
        marks += label(left + wide * (j + 0.5), SMALL, each, size=SMALL)
    for i, each in enumerate(rows):
        middle = top + high * (i + 0.5)
        marks += label(left - 8, middle + 0.35 * SMALL, each, size=SMALL, anchor="end")
    strengths = _strengths(values) if shaded else {}
    for i, values_of_row in enumerate(values):
        for j, value in enumerate(values_of_row):
            place = places[f"{name}.{i}.{j}"] = Place(left + wide * j, top + high * i, wide, high)
            words = value if isinstance(value, str) else as_text(value, digits)
            if words == absent:
                marks += rectangle(place, "faint", dashed=True)
            else:
                marks += rectangle(place, colour, fill=colour, opacity=strengths.get((i, j), TINT))
                marks += _fitted(place, words)
    width, height = left + wide * max(map(len, values)), top + high * len(values)
    cells = Part(width, height, marks, places if name else {})
    above = text(title, bold=True, colour="ink" if colour == "grey" else colour) if title else None
    whole = _around(cells, above, note(shape) if shape else None, middle=(left + width) / 2)
    return whole.named(name) if name else whole


def _strengths(values: Sequence[Sequence[float | str]]) -> dict[tuple[int, int], float]:
    """How strong each number's cell is; minus infinity, which a softmax makes zero, is the faintest."""
    sizes = {
        (i, j): abs(value) if math.isfinite(value) else 0.0
        for i, row in enumerate(values)
        for j, value in enumerate(row)
        if not isinstance(value, str)
    }
    largest = max(sizes.values(), default=0) or 1
    return {place: max(FAINTEST, STRONGEST * size / largest) for place, size in sizes.items()}


def _fitted(place: Place, words: str) -> str:
    """The words in the middle of a cell, as large as its width allows."""
    size = round(min(LETTERS, (place.width - 4) / max(1, width_of(words, 1))), 1)
    if size < SMALLEST:
        raise ValueError(f"a cell {place.width:g} wide has no room for {words!r}: give the grid a wider cell")
    return label(place.left + place.width / 2, place.top + place.height / 2 + 0.35 * size, words, size=size)


def _around(cells: Part, above: Part | None, below: Part | None, *, middle: float) -> Part:
    """Title and shape stand over the middle of the cells, and not of the names of rows beside them."""
    words = [part for part in (above, below) if part]
    push = max([0.0, *(part.width / 2 - middle for part in words)])
    width = max([cells.width + push, *(push + middle + part.width / 2 for part in words)])
    top = above.height + 4 if above else 0.0
    placed = [(cells, push, top)]
    if above:
        placed.append((above, push + middle - above.width / 2, 0))
    if below:
        placed.append((below, push + middle - below.width / 2, top + cells.height + 3))
    return over(width, top + cells.height + (below.height + 3 if below else 0), *placed)


def as_text(value: float, digits: int) -> str:
    """`as_text(-0.5, 2)` is "−0.50", with a real minus; `as_text(-0.001, 2)` has none, and −∞ is itself."""
    # Adding 0 makes a zero of a negative zero.
    return "−∞" if value == -math.inf else f"{round(value, digits) + 0.0:.{digits}f}".replace("-", "−")


# ---- arrows between places ----


@dataclass(frozen=True)
class Arrow:
    """`Arrow("query", "scores", "asks")` leads from one place to another; a `weight` makes it a band.

    `sides` says where it leaves and where it arrives; else it takes the sides that face each other.
    """

    start: str
    end: str
    words: str = ""
    colour: str = "grey"
    weight: float | None = None
    dashed: bool = False
    sides: tuple[Side, Side] | None = None


def joined(part: Part, *arrows: Arrow) -> Part:
    """`joined(part, Arrow("query", "scores"))` is the part with its places joined."""
    marks = "".join(_arrow(arrow, part.places) for arrow in arrows)
    # Bands lie below what they join, so that they hide no number.
    return Part(part.width, part.height, marks + part.marks, part.places)


def _arrow(arrow: Arrow, places: Mapping[str, Place]) -> str:
    for name in (arrow.start, arrow.end):
        if name not in places:
            raise ValueError(f"no place is called {name!r}; there are {', '.join(sorted(places))}")
    start, end = places[arrow.start], places[arrow.end]
    sides = arrow.sides or _facing(start, end)
    (x1, y1), (x2, y2) = start.point(sides[0]), end.point(sides[1])
    out, back = _away(sides[0]), _away(sides[1])
    head = 0.0 if arrow.weight is not None or arrow.dashed else 8.0
    x2, y2 = x2 + back[0] * head, y2 + back[1] * head
    reach = 0.5 * max(abs(x2 - x1), abs(y2 - y1))
    turn = "" if (x1 == x2 or y1 == y2) else "C"
    line = (
        f"{short(x1 + out[0] * reach)} {short(y1 + out[1] * reach)}"
        f" {short(x2 + back[0] * reach)} {short(y2 + back[1] * reach)} "
        if turn
        else ""
    )
    path = f"M{short(x1)} {short(y1)}{turn or 'L'}{line}{short(x2)} {short(y2)}"
    width, opacity = (1.5, 1.0) if arrow.weight is None else (1 + 9 * arrow.weight, 0.25 + 0.5 * arrow.weight)
    dashes = ' stroke-dasharray="2 4"' if arrow.dashed else ""
    marks = (
        f'<path d="{path}" fill="none" stroke="{paint(arrow.colour)}" stroke-width="{short(width)}"'
        f' stroke-opacity="{short(opacity)}"{dashes}/>'
    )
    if head:
        marks += arrowhead(x2, y2, (-back[0], -back[1]), head, arrow.colour)
    if arrow.words:
        middle = (x1 + x2) / 2, (y1 + y2) / 2
        level = sides[0] in ("left", "right")
        where = (middle[0], middle[1] - 6) if level else (middle[0] + 8, middle[1] + 4)
        marks += label(*where, arrow.words, size=SMALL, colour="grey", anchor="middle" if level else "start")
    return marks


def _facing(start: Place, end: Place) -> tuple[Side, Side]:
    """The sides across the wider gap between the two."""
    right, left = end.left - start.right, start.left - end.right
    below, above = end.top - start.bottom, start.top - end.bottom
    if max(right, left) > max(below, above):
        return ("right", "left") if right > left else ("left", "right")
    return ("bottom", "top") if below > above else ("top", "bottom")


def _away(side: Side) -> tuple[float, float]:
    return {"left": (-1.0, 0.0), "right": (1.0, 0.0), "top": (0.0, -1.0), "bottom": (0.0, 1.0)}[side]


def _part(piece: Piece) -> Part:
    return text(piece) if isinstance(piece, str) else piece


# ---- the whole drawing ----


def draw(arrange: Callable[[bool], Part], *, alt: str) -> None:
    """`draw(lambda narrow: across(narrow, "Q", "K"), alt="Q beside K.")` shows a drawing in both widths.

    `arrange(True)` is asked for what suits a phone. `alt` says in words what is drawn.
    """
    stored = for_notebooks(arrange(False), arrange(True), alt)
    if get_ipython() is not None:
        display(stored, raw=True)


def for_notebooks(wide: Part, narrow: Part, alt: str) -> dict[str, Any]:
    """`for_notebooks(part, part, "Q beside K.")` is what a cell stores: the site's pictures, and an image."""
    if not alt.strip():
        raise ValueError("alt must describe the drawing in words, got an empty text")
    parts = {"wide": wide, "narrow": narrow}
    for screen, part in parts.items():
        if part.width > WIDEST[screen]:
            where = "on a phone" if screen == "narrow" else "on a wide screen"
            raise ValueError(
                f"the drawing is {part.width:.0f} wide {where}, where {WIDEST[screen]} fit: stack its parts"
            )
    pictures = {screen: svg(part) for screen, part in parts.items()}
    large, small = (as_image(by_itself(pictures[screen])) for screen in ("wide", "narrow"))
    return {
        DRAWING: {"description": alt, **pictures},
        "text/html": f'<picture><source media="(max-width: {WIDEST["wide"]}px)" srcset="{small}">'
        f'<img alt="{escape(alt)}" src="{large}"></picture>',
        "text/plain": alt,
    }


def svg(part: Part) -> str:
    """`svg(part)` is a picture in colours by name, with a margin for the width of its lines."""
    width, height = part.width + 4, part.height + 4
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-2 -2 {short(width)} {short(height)}"'
        f' width="{short(width)}" height="{short(height)}">{part.marks}</svg>'
    )


def by_itself(picture: str) -> str:
    """`by_itself(svg(part))` knows its colours and its font, for viewers that know neither."""
    light, dark = (
        "".join(f"--{name}:{values[mode]};" for name, values in COLOURS.items()) for mode in (0, 1)
    )
    style = (
        f"<style>:root{{{light}background:var(--paper);font-family:{FONT}}}"
        f"@media(prefers-color-scheme:dark){{:root{{{dark}}}}}</style>"
    )
    return picture.replace(">", f">{style}", 1)
