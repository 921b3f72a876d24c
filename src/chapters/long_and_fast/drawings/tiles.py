"""A softmax of four scores that are seen two at a time, and the way back, tile by tile."""

import math
from typing import NamedTuple

from bookkit.pictures.drawings import (
    TINT,
    Arrow,
    Part,
    column,
    draw,
    grid,
    joined,
    left_note,
    note,
    operator,
    over,
    panel,
    row,
)
from bookkit.pictures.svg import SMALL, Place, label, rectangle, vector

SCORES, VALUES = ((1.0, 2.0), (4.0, 3.0)), ((10.0, 0.0), (20.0, 40.0))
QUERIES, KEYS, TILE, NOW = 6, 8, 2, 2  # of the way back; NOW is the tile that is there, counted from 0
CELL, STRIP, STRONG = 14.0, 13.0, 0.5


class State(NamedTuple):
    """`State(highest, total, mixed)` is what is known after some of the scores."""

    highest: float
    total: float
    mixed: float


def states() -> tuple[State, float, State]:
    """`first, kept, both = states()`: after two scores, the factor that then rescales, after all four."""
    (first, second), (of_first, of_second) = SCORES, VALUES
    highest = max(first)
    weights = [math.exp(score - highest) for score in first]
    before = State(highest, sum(weights), sum(w * v for w, v in zip(weights, of_first, strict=True)))
    highest = max(before.highest, *second)
    kept, weights = (
        math.exp(before.highest - highest),
        [math.exp(score - highest) for score in second],
    )
    total = kept * before.total + sum(weights)
    mixed = kept * before.mixed + sum(w * v for w, v in zip(weights, of_second, strict=True))
    return before, kept, State(highest, total, mixed)


def two_at_a_time() -> None:
    """`two_at_a_time()` has both pairs of scores, and what is known after each."""
    before, kept, after = states()

    def seen(place: int, highest: float) -> Part:
        scores, values = SCORES[place], VALUES[place]
        weights = [math.exp(score - highest) for score in scores]
        return panel(
            column(
                grid([list(scores)], rows=["scores"], colour="grey", digits=0),
                grid([weights], rows=[f"exp(score − {highest:.0f})"], colour="query", digits=2, shaded=True),
                grid([list(values)], rows=["values"], colour="value", digits=0),
                gap=8,
                align="right",
            ),
            f"keys {2 * place + 1} and {2 * place + 2}",
            name=f"seen {place}",
        )

    def known(state: State, name: str) -> Part:
        return grid(
            [[f"{state.highest:.0f}", f"{state.total:.2f}", f"{state.mixed:.1f}"]],
            columns=["highest", "sum", "mixed"],
            colour="output",
            name=name,
            cell=(62, 30),
        )

    def arrange(narrow: bool) -> Part:
        factor = operator(f"× exp({before.highest:.0f} − {after.highest:.0f}) = {kept:.2f}", name="kept")
        words = left_note(
            f"The highest rises from {before.highest:.0f} to {after.highest:.0f}: sum and mix shrink, and "
            "what is new is added.",
            310 if narrow else 190,
        )
        end = note(f"{after.mixed:.1f} / {after.total:.2f} = {after.mixed / after.total:.1f}")
        if narrow:
            end_of_all = column(known(after, "after"), end, gap=6)
            parts = seen(0, before.highest), known(before, "before"), factor, words
            whole = column(*parts, seen(1, after.highest), end_of_all, gap=18)
            return joined(
                whole, Arrow("seen 0", "before"), Arrow("before", "kept"), Arrow("seen 1", "after"),
            )  # fmt: skip
        not_yet = column(known(before, "before"), note("not divided yet"), gap=6)
        left = column(seen(0, before.highest), not_yet, gap=30)
        right = column(seen(1, after.highest), column(known(after, "after"), end, gap=6), gap=30)
        whole = row(left, column(factor, words, gap=8), right, gap=34, align="bottom")
        return joined(
            whole,
            Arrow("seen 0", "before"),
            Arrow("before", "kept", sides=("right", "left")),
            Arrow("kept", "after", sides=("right", "left")),
            Arrow("seen 1", "after"),
        )

    draw(
        arrange,
        alt="Scores 1, 2, 4, 3 and values 10, 0, 20, 40, seen two at a time. After the first two the highest "
        f"is {before.highest:.0f}, the sum of exponentials {before.total:.2f}, and the values mixed by them "
        f"{before.mixed:.1f}. Then the highest rises to {after.highest:.0f}: sum and mix are multiplied by "
        f"{kept:.2f}, and what the other two give is added: {after.total:.2f} and {after.mixed:.1f}. "
        f"Divided: {after.mixed / after.total:.1f}.",
    )


def way_back() -> None:
    """`way_back()` has what was kept, one tile of weights made anew, and the gradients that it adds to."""
    tile = range(TILE * NOW, TILE * (NOW + 1))
    left, top = 96.0, 36.0  # of the table
    right, bottom = left + CELL * KEYS, top + CELL * QUERIES

    def down(x: float, width: float, colour: str, opacity: float, dashed: bool = False) -> str:
        """A number or a row of them for each query."""
        return "".join(
            rectangle(
                Place(x, top + CELL * i, width, CELL), colour, fill=colour, opacity=opacity, dashed=dashed
            )
            for i in range(QUERIES)
        )

    def along(y: float, colour: str, there: range) -> str:
        """A column for each key; those that are not there yet are empty."""
        marks = ""
        for j in range(KEYS):
            frame, opacity = Place(left + CELL * j, y, CELL, STRIP), STRONG if j in tile else TINT
            if j in there:
                marks += rectangle(frame, colour, fill=colour, opacity=opacity)
            else:
                marks += rectangle(frame, "faint", dashed=True)
        return marks

    def table() -> Part:
        marks = ""
        kept = (("Q", 0.0, STRIP, "query"), ("ℓ", 24.0, 7.0, "grey"), ("O", 42.0, STRIP, "output"))
        for name, x, width, colour in kept:
            marks += down(x, width, colour, STRONG) + label(x + width / 2, top - 7, name, size=SMALL)
        marks += down(66, STRIP, "output", TINT, dashed=True) + label(
            66 + STRIP / 2, top - 7, "G", size=SMALL
        )
        for y, name, colour in ((0.0, "K", "key"), (STRIP + 3, "V", "value")):
            marks += along(y, colour, range(KEYS)) + label(
                right + 7, y + 12, name, size=SMALL, anchor="start"
            )
        for i in range(QUERIES):
            for j in range(KEYS):
                frame = Place(left + CELL * j, top + CELL * i, CELL, CELL)
                now = j in tile
                marks += rectangle(
                    frame, "grey" if now else "faint", fill="ink" if now else None, opacity=0.3
                )
        middle, x = left + CELL * (tile.start + TILE / 2), right + 34
        marks += vector(right + 4, top + CELL * QUERIES / 2, x - 4, top + CELL * QUERIES / 2, width=1.5)
        marks += down(x, STRIP, "query", STRONG)
        at = top + CELL * QUERIES / 2 + 5
        marks += label(x + STRIP + 7, at, "of_query", size=SMALL, anchor="start", code=True)
        marks += vector(middle, bottom + 3, middle, bottom + 24, width=1.5)
        for y, name, colour in ((27.0, "of_keys", "key"), (30 + STRIP, "of_values", "value")):
            marks += along(bottom + y, colour, range(tile.stop))
            marks += label(right + 7, bottom + y + 12, name, size=SMALL, anchor="start", code=True)
        return over(x + STRIP + 72, bottom + 30 + 2 * STRIP, marks)

    def arrange(narrow: bool) -> Part:
        words = (
            "Kept: Q, K, V, O, and ℓ, one number for each query. G, the gradient of O, comes in.",
            f"Made anew: the weights of all queries for {TILE} keys. Then they are forgotten.",
            "Each tile adds to the gradients of all queries. Those of its own keys and values are done.",
        )
        beside = column(*(left_note(each, 320) for each in words), gap=6, align="left")
        return column(table(), beside, gap=14) if narrow else row(table(), beside, gap=44)

    draw(
        arrange,
        alt=f"A table of {QUERIES} queries and {KEYS} keys in tiles of {TILE} keys. Kept are Q, K, V, the "
        f"output O and a number ℓ for each query; G, the gradient of the output, comes in. Tile {NOW + 1} of "
        f"{KEYS // TILE} is made anew, and no other is there. From it one arrow leads to of_query, to all "
        f"{QUERIES} rows, and one to of_keys and of_values, where {tile.stop} of {KEYS} columns are filled: "
        "those of this tile and of the tiles before.",
    )
