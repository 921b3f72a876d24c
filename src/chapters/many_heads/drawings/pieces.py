"""What several of the drawings are made of."""

from collections.abc import Sequence

from torch import Tensor

from bookkit.pictures.drawings import (
    Part,
    column,
    draw,
    grid,
    panel,
    row,
)

WORDS = ("Ann", "thanked", "Bob")


# ---- a view without a transpose ----
def pieces(right: Tensor, wrong: Tensor) -> None:
    """`pieces(right, wrong)` shows whose numbers each head holds; both are (heads, T, d_k), of places."""
    names = [f"{word[0]}_{number}" for word in WORDS for number in range(1, 5)]

    def arrange(narrow: bool) -> Part:
        cell = (35.0, 28.0)

        def heads(places: Tensor, rows: Sequence[str]) -> Part:
            return row(
                *(
                    grid(
                        [[names[int(place)] for place in line] for line in head.tolist()],
                        title=f"head {number}",
                        rows=rows if number == 1 else (),
                        colour="value",
                        cell=cell,
                    )
                    for number, head in enumerate(places, start=1)
                ),
                gap=18,
            )

        given = panel(
            grid(
                [[names[4 * i + j] for j in range(4)] for i in range(len(WORDS))],
                rows=WORDS,
                colour="value",
                cell=cell,
            ),
            "the words",
        )
        good = panel(heads(right, WORDS), "cut, then transposed")
        bad = panel(heads(wrong, ("row 1", "row 2", "row 3")), "view straight away")
        return column(given, good, bad, gap=12) if narrow else row(given, good, bad, gap=8)

    def listed(places: Tensor) -> str:
        return "; ".join(
            ", ".join(" ".join(names[int(place)] for place in line) for line in head.tolist())
            for head in places
        )

    draw(
        arrange,
        alt="Three words of four numbers each: Ann has A1 to A4, thanked t1 to t4, Bob B1 to B4. Cut and "
        f"then transposed, the rows of the two heads are {listed(right)}. With view straight away they are "
        f"{listed(wrong)}: a word's numbers stand in two rows, and head 1 never sees Bob.",
    )
