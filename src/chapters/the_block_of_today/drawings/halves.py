"""Which columns turn together: neighbours, as in the paper, or the halves of a vector."""

from collections.abc import Sequence

from bookkit.pictures.drawings import Part, column, draw, left_note, row
from bookkit.pictures.svg import SMALL, Place, curve, label, rectangle

COLUMNS = 8
SHADES = (0.07, 0.18, 0.32, 0.48)  # one for each pair


def _paired(pairs: Sequence[tuple[int, int]], title: str, top: float) -> Part:
    """A vector of eight columns; each pair has a shade, and an arc above it."""
    wide = 36.0
    marks = label(0, 14, title, anchor="start", bold=True)
    for number, (first, second) in enumerate(pairs):
        left, right = ((each + 0.5) * wide for each in (first, second))
        high = 12.0 if second - first == 1 else 40.0 - 7 * number
        marks += curve([(left, top), (left, top - high), (right, top - high), (right, top)], width=1.5)
        for each in (first, second):
            cell = Place(each * wide, top, wide, 30)
            marks += rectangle(cell, "grey", fill="grey", opacity=SHADES[number])
            marks += label(cell.left + wide / 2, top + 20, f"{'xy'[each == second]}_{number}", size=SMALL)
    return Part(COLUMNS * wide, top + 30, marks)


def pairs_of_columns() -> None:
    """`pairs_of_columns()` has both ways, with the same four pairs."""
    half = COLUMNS // 2
    neighbours = [(2 * pair, 2 * pair + 1) for pair in range(half)]
    halves = [(pair, pair + half) for pair in range(half)]

    def arrange(narrow: bool) -> Part:
        gap = 28 if narrow else 60
        first, second = _paired(neighbours, "neighbours", 42), _paired(halves, "halves", 74)
        both = column(first, second, gap=gap) if narrow else row(first, second, gap=gap, align="bottom")
        below = left_note(
            "At place p, x_i and y_i turn by the angle p · base^{−2i/d}; d columns are a head’s.", both.width
        )
        return column(both, below, gap=10, align="left")

    draw(
        arrange,
        alt=f"A head’s vector of {COLUMNS} columns, twice. With neighbours, columns 0 and 1, 2 and 3, 4 and "
        "5, 6 and 7 are pairs. In halves, columns 0 and 4, 1 and 5, 2 and 6, 3 and 7 are. The pairs and "
        "their angles are the same four, in another order.",
    )
