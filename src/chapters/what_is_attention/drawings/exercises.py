"""The drawings of “Exercises” and “Where you will meet this”."""

from bookkit.pictures.drawings import (
    Arrow,
    Part,
    column,
    draw,
    grid,
    joined,
    note,
    operator,
    over,
    row,
    text,
)
from bookkit.pictures.svg import Place, rectangle


def not_oneself(points: int = 4) -> None:
    """`not_oneself()` is a table of weights whose diagonal is empty: no point answers for itself."""

    def arrange(narrow: bool) -> Part:
        cell = (50, 30) if narrow else (64, 32)
        names = [f"point {place + 1}" for place in range(points)]
        rows = [["no" if i == j else "yes" for j in range(points)] for i in range(points)]
        columns = [str(place + 1) for place in range(points)]
        table = grid(rows, rows=names, columns=columns, colour="query", cell=cell, absent="no")
        words = note("each point is asked for, and all the others answer", width=150)
        return column(table, words) if narrow else row(table, words, gap=24)

    draw(
        arrange,
        alt=f"A table of {points} points as queries and the same {points} as keys. Its diagonal is empty: "
        "each point is predicted by all the others and not by itself.",
    )


def gated_half() -> None:
    """`gated_half()` shows PyTorch's gated linear unit: one half of the input says how much of the other."""

    def arrange(narrow: bool) -> Part:
        cell = (22, 24) if narrow else (28, 26)
        halves = row(
            grid([[""] * 4], name="features", title="features", colour="value", cell=cell),
            grid([[""] * 4], name="scores", title="scores", colour="query", cell=cell),
            gap=0,
        )
        squash = operator("sigmoid", name="sigmoid")
        passed = operator("⊙", name="gate")
        out = column(grid([[""] * 4], name="out", colour="output", cell=cell), note("half as long"), gap=4)
        whole = column(halves, row(passed, squash, gap=60), out, gap=26)
        return joined(
            whole,
            Arrow("features", "gate", colour="value", sides=("bottom", "top")),
            Arrow("scores", "sigmoid", colour="query", sides=("bottom", "top")),
            Arrow("sigmoid", "gate", colour="query"),
            Arrow("gate", "out", sides=("bottom", "top")),
        )

    draw(
        arrange,
        alt="The first half of a vector goes to a product, number by number. The second half goes through "
        "a sigmoid to the same product. What comes out is half as long.",
    )


def shapes_of_a_look_up() -> None:
    """`shapes_of_a_look_up()` has each tensor of a look-up as a block with its sides named."""

    def arrange(narrow: bool) -> Part:
        n, m, d, d_v = 44, 84, 30, 60

        def block(name: str, colour: str, wide: float, high: float, shape: str) -> Part:
            frame = rectangle(Place(0, 0, wide, high), colour, fill=colour, opacity=0.16)
            return column(text(name, bold=True, colour=colour), over(wide, high, frame), note(shape), gap=3)

        asked = block("query", "query", d, n, "(n, d)")
        turned = block("keyᵀ", "key", m, d, "(d, m)")
        shares = block("weights", "query", m, n, "(n, m)")
        stored = block("value", "value", d_v, m, "(m, d_v)")
        mixed = block("output", "output", d_v, n, "(n, d_v)")
        compared = row(asked, "×", turned, gap=10)
        mixing = row(shares, "×", stored, "=", mixed, gap=10)
        if narrow:
            return column(row(compared, "→", gap=12), mixing, gap=14)
        return row(compared, "→", mixing, gap=18)

    draw(
        arrange,
        alt="Blocks with their sides: query, n by d, times the key turned over, d by m, leads to the "
        "weights, n by m. They times the values, m by d_v, are the output, n by d_v.",
    )
