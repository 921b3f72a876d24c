"""The drawings of “Mistakes people make here” and “Exercises”."""

from torch import Tensor

from bookkit.pictures.drawings import (
    Part,
    across,
    column,
    draw,
    grid,
    note,
    over,
    row,
    text,
)
from bookkit.pictures.svg import Place, circle, line, rectangle


def turned_or_cut(key: Tensor, turned: Tensor, cut: Tensor) -> None:
    """`turned_or_cut(key, key.mT, key.view(2, 3))` has the same six numbers in two tables of one shape."""

    def arrange(narrow: bool) -> Part:
        cell = (34, 28)

        def table(numbers: Tensor, title: str, shape: str, colour: str) -> Part:
            return grid(numbers, title=title, shape=shape, colour=colour, digits=0, cell=cell)

        given = table(key, "three keys", "(3, 2)", "key")
        right = column(table(turned, "key.mT", "(2, 3)", "key"), note("a key in each column"), gap=2)
        wrong = column(table(cut, "key.view(2, 3)", "(2, 3)", "grey"), note("no column is a key"), gap=2)
        both = row(right, wrong, gap=24)
        return column(given, both, gap=12) if narrow else row(given, both, gap=44)

    draw(
        arrange,
        alt="Three keys, 1 2, 3 4 and 5 6, one a row. key.mT has them as columns. key.view(2, 3) has the "
        "rows 1 2 3 and 4 5 6: no column is a key.",
    )


def shapes_of_a_score() -> None:
    """`shapes_of_a_score()` has the tensors of the additive score, with the axes that are stretched."""

    def arrange(narrow: bool) -> Part:
        def block(words: str, colour: str, wide: float, high: float, shape: str) -> Part:
            frame = rectangle(Place(0, 0, wide, high), colour, fill=colour, opacity=0.16)
            return column(text(words, bold=True, colour=colour), over(wide, high, frame), note(shape), gap=3)

        asked = block("asked", "query", 12, 50, "(…, n, 1, h)")
        offered = block("offered", "key", 80, 12, "(…, 1, m, h)")
        hidden = block("hidden", "grey", 80, 50, "(…, n, m, h)")
        table = block("scores", "output", 80, 50, "(…, n, m)")
        added = row(asked, "+", offered, gap=10)
        summed = row(hidden, "→", table, gap=14)
        if narrow:
            return column(row(added, "→", gap=10), summed, gap=14)
        return row(added, "→", summed, gap=18)

    draw(
        arrange,
        alt="What is asked is n high and 1 wide, what is offered 1 high and m wide, both with h numbers "
        "for each cell. Their sum is stretched to n by m, with h numbers for each pair; summed up, one "
        "number is left of each.",
    )


def one_example(query: Tensor, key: Tensor, right: int) -> None:
    """`one_example(query, key, right)` is a query and its keys in the plane, the right one filled."""

    def arrange(narrow: bool) -> Part:
        def at(x: float, y: float) -> tuple[float, float]:
            return 100 + 45 * x, 100 - 45 * y

        marks = [rectangle(Place(4, 4, 192, 192), "faint")]
        marks += [line(100, 96, 100, 104), line(96, 100, 104, 100)]
        for place, (x, y) in enumerate(key.tolist()):
            marks += [circle(*at(x, y), 7, colour="key", fill="key" if place == right else "paper")]
        x, y = query.tolist()
        marks += [circle(*at(x, y), 7, colour="query", fill="query")]
        words = column(
            text("the query", colour="query"),
            text("its eight keys", colour="key"),
            note("filled: the one that the wish calls right. Why it is right, nobody says", width=170),
            align="left",
        )
        return across(narrow, over(200, 200, *marks), words, gap=24)

    draw(
        arrange,
        alt="A square with a query and eight keys as points. One of the keys is filled: the right one.",
    )
