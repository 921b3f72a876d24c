"""The drawings of “Three places to put a position”."""

import math
from collections.abc import Sequence

from torch import Tensor

from bookkit.pictures.drawings import (
    Part,
    across,
    as_text,
    box,
    column,
    draw,
    faded,
    grid,
    note,
    operator,
    over,
    panel,
    row,
    text,
)
from bookkit.pictures.svg import circle, curve, label, vector

# ---- the three places ----
PLACES = {
    "table": ("sinusoidal, learned", "at the words"),
    "turn": ("rotary", "at queries and keys"),
    "bias": ("ALiBi", "at the scores"),
}


def _attention(place: str) -> Part:
    """Attention from bottom to top in the order of its steps, all faded but where a position goes in."""

    def step(piece: Part, own: bool) -> Part:
        return piece if own else faded(piece)

    table, turn, bias = (place == name for name in PLACES)
    words = row(
        step(box("words", width=60), False),
        step(row("+", box("table", colour="blue", learned=True), gap=6), table),
        gap=6,
    )
    asked = [
        step(column(box(name, colour=role, width=38), operator("turn"), gap=8), turn)
        for name, role in (("q", "query"), ("k", "key"))
    ]
    parts = row(*asked, step(box("v", colour="value", width=38), False), gap=14, align="top")
    scores = row(
        step(operator("q · k"), False),
        step(row("+", box("penalty", colour="blue", learned=True), gap=6), bias),
        gap=6,
    )
    rest = row(step(operator("softmax"), False), step(box("output", colour="output"), False), gap=10)
    steps = column(words, parts, scores, rest, gap=12)
    title, where = PLACES[place]
    return panel(column(note(where), steps, gap=8), title)


def three_places() -> None:
    """`three_places()` draws attention three times, each with a place where positions go in."""
    draw(
        lambda narrow: across(narrow, *(_attention(place) for place in PLACES), gap=14),
        alt="Attention drawn three times: words, then query, key and value, then scores, softmax and output. "
        "Sinusoidal and learned tables are added to the words. Rotary turns query and key, and not the "
        "value. ALiBi adds a penalty to the scores.",
    )


def turned(pairs: Sequence[tuple[int, int]]) -> None:
    """`turned([(3, 1), (13, 11)])` turns a query and a key, of two numbers each, to their positions."""

    def dial(query: int, key: int) -> Part:
        radius, middle = 74.0, 92.0

        def tip(angle: float, reach: float) -> tuple[float, float]:
            return middle + reach * math.cos(angle), middle - reach * math.sin(angle)

        steps = [key + (query - key) * part / 20 for part in range(21)]
        between = curve([tip(angle, 0.45 * radius) for angle in steps])
        marks = circle(middle, middle, radius, colour="faint") + between
        for name, angle in (("query", query), ("key", key)):
            x, y = tip(angle, radius + 11)
            marks += vector(middle, middle, *tip(angle, radius), colour=name)
            marks += label(x, y + 5, name[0], colour=name, bold=True)
        score = f"score cos {query - key} = {as_text(math.cos(query - key), 2)}"
        face = over(2 * middle, 2 * middle, marks)
        return column(text(f"query at {query}, key at {key}", bold=True, size=13), face, note(score), gap=4)

    apart = pairs[0][0] - pairs[0][1]
    places = " and ".join(f"{query} and {key}" for query, key in pairs)
    draw(
        lambda narrow: across(narrow, *(dial(query, key) for query, key in pairs), gap=24),
        alt=f"A query and a key of two numbers, turned by one radian a position to {places}. They point "
        f"elsewhere each time, but the angle between them is always {apart} radians, and so the score is "
        f"always {math.cos(apart):.2f}.",
    )


def penalties(words: Sequence[str], bias: Tensor, slopes: Sequence[str]) -> None:
    """`penalties(["the", "dog"], bias, ["1/2", "1/4"])` shows the penalties of the first heads."""

    def arrange(narrow: bool) -> Part:
        heads = [
            grid(
                # A key that comes later is hidden, and a distance of 0 has no sign.
                [
                    [abs(number) and number if key <= query else "later" for key, number in enumerate(each)]
                    for query, each in enumerate(bias[head].tolist())
                ],
                title=f"head {head + 1}, slope {slope}",
                rows=words,
                columns=words,
                colour="query",
                shaded=True,
                cell=(48, 28),
                absent="later",
            )
            for head, slope in enumerate(slopes)
        ]
        return across(narrow, *heads, gap=36)

    draw(
        arrange,
        alt=f"The penalties for {len(words)} words in {len(slopes)} heads, as grids: a row for each query, a "
        "column for each key. On the diagonal they are 0; with each step away they fall by the head's "
        f"slope, {' or '.join(slopes)}. Keys that come later are hidden.",
    )
