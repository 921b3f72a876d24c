"""The block of 2017 beside that of today: the same two steps, and what has changed in them."""

from collections.abc import Callable

from bookkit.pictures.drawings import TINT, Part, column, draw, left_note, over, row
from bookkit.pictures.svg import (
    SMALL,
    Place,
    arrowhead,
    circle,
    curve,
    label,
    line,
    rectangle,
    vector,
)

WIDTH, HEIGHT = 322.0, 440.0
STREAM = 48.0  # where the residual stream runs
CHANGES = (
    "The norm reads beside the stream. It used to stand in it.",
    "RMSNorm: no mean is taken off.",
    "Places turn queries and keys. No table of places is added.",
    "Heads share keys and values in groups.",
    "SwiGLU: a gate times a content, where there was a ReLU.",
    "No biases, in any of the boxes.",
)


def _box(place: Place, colour: str, *lines: str) -> str:
    """What is learned, with its name, and a line on how it works."""
    marks = rectangle(place, None, fill="paper", corner=6)
    marks += rectangle(place, colour, fill=colour, corner=6, opacity=TINT)
    middle, level = place.left + place.width / 2, place.top + place.height / 2 + 4.5 - 8 * (len(lines) - 1)
    for number, words in enumerate(lines):
        marks += label(middle, level + 16 * number, words, size=SMALL, bold=number == 0 and len(lines) > 1)
    return marks


def _changed(x: float, y: float, number: int) -> str:
    return circle(x, y, 9, colour="ink", fill="ink") + label(
        x, y + 4.5, str(number), size=SMALL, colour="paper", bold=True
    )


def _plus(y: float) -> str:
    return circle(STREAM, y, 8, fill="paper") + label(STREAM, y + 5, "+")


def _adds(part: Place) -> str:
    """From below a part back into the stream."""
    middle, y = part.left + part.width / 2, part.bottom + 18
    back = curve([(middle, part.bottom), (middle, y), (STREAM + 17, y)], width=1.5)
    return back + arrowhead(STREAM + 17, y, (-1, 0), 8, "grey") + _plus(y)


def _frame(title: str, *below: str) -> str:
    """What both have: the table at both ends, the stream, and the ground of one block."""
    ground = Place(0, 112, WIDTH, 260)
    marks = rectangle(ground, None, fill="grey", corner=8, opacity=0.09)
    marks += label(0, 14, title, anchor="start", bold=True)
    marks += label(STREAM + 14, 129, "one block", size=12, colour="grey", anchor="start")
    marks += line(STREAM, 54, STREAM, 408, colour="query", width=5)
    marks += _box(Place(0, 26, 130, 28), "query", "table of pieces")
    marks += _box(Place(0, 408, 210, 28), "query", "table of pieces, or another")
    return marks + "".join(below)


def _of_2017() -> Part:
    """The norms stand in the stream, and a table of places is added to it."""
    attention, network = Place(118, 138, 196, 44), Place(118, 260, 196, 44)
    places = Place(118, 72, 196, 28)
    marks = _frame("2017")
    marks += _box(places, "query", "table of sines and cosines")
    marks += vector(places.left, 86, STREAM + 9, 86, colour="grey", width=1.5) + _plus(86)
    for part, name, works in (
        (attention, "attention", "keys for each head"),
        (network, "network", "ReLU, 4 times as wide"),
    ):
        y = part.top + 12
        marks += vector(STREAM + 3, y, part.left, y, colour="grey", width=1.5)
        marks += _adds(part) + _box(part, "key" if part == attention else "value", name, works)
        marks += _box(Place(STREAM - 42, part.bottom + 36, 84, 26), "grey", "LayerNorm")
    return Part(WIDTH, HEIGHT, marks)


def _of_today() -> Part:
    """The norms stand beside the stream, and one more behind the last block."""
    attention, network = Place(162, 138, 152, 44), Place(162, 260, 152, 44)
    marks = _frame("today") + _changed(WIDTH - 18, 354, 6)
    marks += _changed(STREAM, 86, 3)
    for part, name, works, numbers in (
        (attention, "attention", "keys for groups", (3, 4)),
        (network, "network", "gate · content", (5,)),
    ):
        norm, y = Place(66, part.top, 80, 26), part.top + 13
        marks += line(STREAM + 3, y, norm.left, y) + vector(
            norm.right, y, part.left, y, colour="grey", width=1.5
        )
        marks += _adds(part) + _box(part, "key" if part == attention else "value", name, works)
        marks += _box(norm, "grey", "RMSNorm")
        marks += _changed(norm.left + 18, norm.bottom + 6, 1) + _changed(norm.right - 18, norm.bottom + 6, 2)
        for place, number in enumerate(numbers):
            marks += _changed(part.right - 10 - 22 * place, part.top - 2, number)
    marks += _box(Place(STREAM - 42, 376, 84, 26), "grey", "RMSNorm")
    return Part(WIDTH, HEIGHT, marks)


def _told(number: int, width: float) -> Part:
    words = left_note(CHANGES[number - 1], width - 30)
    return over(width, max(words.height, 22), _changed(10, 10, number), (words, 28, 0))


def blocks() -> None:
    """`blocks()` has both, and says in six lines what is not as it was."""

    def arrange(narrow: bool) -> Part:
        beside: Callable[..., Part] = column if narrow else row
        pair = beside(_of_2017(), _of_today(), gap=24 if narrow else 70, align="left" if narrow else "top")
        width = pair.width if narrow else (pair.width - 24) / 2
        lines = [_told(number, width) for number in range(1, len(CHANGES) + 1)]
        columns = [lines] if narrow else [lines[:3], lines[3:]]
        below = row(*(column(*each, gap=6, align="left") for each in columns), gap=24, align="top")
        return column(pair, below, gap=16, align="left")

    draw(
        arrange,
        alt="Two blocks side by side. In that of 2017 a table of sines and cosines is added to the rows of "
        "pieces; attention and a ReLU network read the residual stream and add to it, and a LayerNorm stands "
        "in the stream behind each. In today’s there is no table of places; an RMSNorm beside the stream "
        "comes before attention and before the network, and one more stands behind the last block. Numbers "
        "mark the changes. " + " ".join(f"{number}: {words}" for number, words in enumerate(CHANGES, 1)),
    )
