"""The drawings of the exercises: texts in a row, and a table that is read by tiles."""

from itertools import product

import torch
from torch import Tensor

from attnlab import masks
from bookkit.pictures.drawings import TINT, Part, across, column, draw, note, over, row, text
from bookkit.pictures.svg import SMALL, Place, label, rectangle

END = 0
IDS = (5, 8, END, 7, 3, 9, END, 4)


def two_texts() -> None:
    """`two_texts()` has a row of ids with two end signs, and beneath each id the number of its text."""
    ends = (torch.tensor(IDS) == END).int()
    numbers = (ends.cumsum(0) - ends).tolist()  # an end counts for those after it

    def arrange(narrow: bool) -> Part:
        cell, left, marks = (31.0 if narrow else 52.0), 64.0, ""
        for name, level in (("id", 20), ("its text", 62)):
            marks += label(left - 10, level, name, size=SMALL, colour="grey", anchor="end")
        for place, (each, number) in enumerate(zip(IDS, numbers, strict=True)):
            x, ended = left + cell * place, each == END
            colour, strong = ("grey", 2 * TINT) if ended else ("query", TINT)
            marks += rectangle(Place(x + 2, 0, cell - 4, 30), colour, fill=colour, opacity=strong, corner=4)
            marks += label(x + cell / 2, 20, str(each), bold=ended)
            marks += label(x + cell / 2, 62, str(number), bold=True)
        for number in set(numbers):
            # A bar from the first to the last of a text, its end among them.
            start, size = numbers.index(number), numbers.count(number)
            marks += rectangle(Place(left + cell * start + 2, 38, cell * size - 4, 4), None, fill="grey")
        said = note(f"{END} is the end sign, and part of its own text.", width=310)
        return column(over(left + cell * len(IDS), 68, marks), said, gap=8)

    draw(
        arrange,
        alt=f"A row of ids: {', '.join(map(str, IDS))}, where {END} is the end sign. Beneath, the numbers of "
        f"their texts: {', '.join(map(str, numbers))}. An end sign has the number of the text that it ends.",
    )


def _table(values: Tensor, tile: int = 1, cell: float = 30) -> Part:
    count, marks = len(values) // tile, ""
    for i, j in product(range(len(values)), repeat=2):
        may, inside = bool(values[i, j]), Place(cell * j, cell * i, cell, cell)
        words, colour = ("T", "ink") if may else ("F", "grey")
        marks += rectangle(inside, "faint", fill="key" if may else None, opacity=0.4)
        middle = cell * (i + 0.5) + 5
        marks += label(cell * (j + 0.5), middle, words, size=SMALL, colour=colour, bold=may)
    for i, j in product(range(count), repeat=2):
        marks += rectangle(Place(cell * tile * j, cell * tile * i, cell * tile, cell * tile), "ink")
    return Part(cell * len(values), cell * len(values), marks)


def _told(values: Tensor) -> str:
    return "; ".join(" ".join("T" if each else "F" for each in line) for line in values.tolist())


def three_rules() -> None:
    """`three_rules()` has the table of each rule that is to come out, for six places."""
    places = torch.arange(6)
    query, key = places[:, None], places
    before = key <= query
    wanted = {
        "prefix 3": before | (key < 3),
        "width 2, sinks 1": before & ((query - key < 2) | (key < 1)),
        "width 2, strided": before & ((query - key) % 2 == 0),
    }

    def arrange(narrow: bool) -> Part:
        tables = [
            column(text(name, bold=True), _table(seen, cell=24), gap=6) for name, seen in wanted.items()
        ]
        return across(narrow, *tables, gap=18 if narrow else 36)

    told = ". ".join(f"{name}: {_told(seen)}" for name, seen in wanted.items())
    draw(arrange, alt=f"Three tables of six places, T where a query, a row, may look. {told}.")


def any_and_all() -> None:
    """`any_and_all()` reads a table of six by six by tiles of two: which have a True, and which no False."""
    places, side, count = 6, 2, 3
    numbers = torch.tensor([0, 0, 0, 0, 1, 1])
    seen = masks.causal(places)[0] & (numbers[:, None] == numbers)
    cut = seen.view(count, side, count, side).transpose(1, 2).flatten(2)  # (3, 3, 4): the pairs of a tile
    some, every = cut.any(-1), cut.all(-1)

    def arrange(narrow: bool) -> Part:
        pairs = column(text("pairs", bold=True), _table(seen, side), note("in tiles of 2 × 2"), gap=5)
        one = column(text("any", code=True), _table(some), note("a True in the tile"), gap=5)
        other = column(text("all", code=True), _table(every), note("no False in it"), gap=5)
        return across(narrow, pairs, row(one, other, gap=30), gap=18 if narrow else 60)

    draw(
        arrange,
        alt=f"A table of {places} by {places} pairs in tiles of {side} by {side}, T where a query may look, "
        f"row by row: {_told(seen)}. Two tables have an entry for each tile. `any`: {_told(some)}. `all`: "
        f"{_told(every)}.",
    )
