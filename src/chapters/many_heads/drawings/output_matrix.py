"""The drawings from “What the output matrix is for” to “Which head does what?”."""

import math
from collections.abc import Sequence

from torch import Tensor

from bookkit.pictures.drawings import (
    Part,
    column,
    draw,
    grid,
    note,
    over,
    row,
)
from bookkit.pictures.svg import circle, label, vector


# ---- the output matrix ----
def written_by_heads() -> None:
    """`written_by_heads()` is the product with W_O, as a sum over the heads."""

    def arrange(narrow: bool) -> Part:
        size = (20.0, 18.0)

        def blank(high: int, wide: int, colour: str, **more: str) -> Part:
            return grid([[""] * wide for _ in range(high)], colour=colour, cell=size, **more)  # type: ignore[arg-type]

        terms = [
            row(
                blank(3, 2, "output", title=f"head {head}", shape="(T, d_k)"),
                "×",
                blank(2, 4, "grey", title="its part of W_O", shape="(d_k, d_{model})"),
                gap=8,
            )
            for head in (1, 2)
        ]
        out = blank(3, 4, "output", title="output", shape="(T, d_{model})")
        if narrow:
            return column(terms[0], "+", terms[1], "=", out, gap=6)
        return row(terms[0], "+", terms[1], "=", out, gap=14)

    draw(
        arrange,
        alt="The answer of head 1, T by d_k, times its own rows of W_O, d_k by d_model, plus the answer of "
        "head 2 times its rows, is the output, T by d_model.",
    )


# ---- the round table ----
def table(names: Sequence[str], asks: int, asked: Sequence[int]) -> None:
    """`table(names, asks=2, asked=[-1, 1])` seats the guests; from one of them arrows lead to those asked."""
    count = len(names)

    def arrange(narrow: bool) -> Part:
        radius, side = (82.0, 270.0) if narrow else (88.0, 300.0)
        middle = side / 2, radius + 34

        def seat(place: int, far: float) -> tuple[float, float]:
            # Anticlockwise, as seen from above: who faces the table has the next seat on the right.
            angle = -2 * math.pi * place / count - math.pi / 2
            return middle[0] + far * math.cos(angle), middle[1] + far * math.sin(angle)

        marks = circle(*middle, radius - 36, colour="faint")
        for place, name in enumerate(names):
            colour = "query" if place == asks else "key" if (place - asks) % count in wanted else "ink"
            x, y = seat(place, radius + 8)
            marks += label(x, y + 5, name, colour=colour, bold=place == asks)
        for offset in asked:
            start, end = seat(asks, radius - 12), seat((asks + offset) % count, radius - 14)
            marks += vector(*start, *end, colour="query")
        drawn = over(side, 2 * radius + 68, marks)
        who = " and ".join(names[(asks + offset) % count] for offset in asked)
        words = note(
            f"{names[asks]} says who sits on the left and who on the right: {who}. So does everybody else.",
            width=250,
        )
        return column(drawn, words, gap=4) if narrow else row(drawn, words, gap=30)

    wanted = {offset % count for offset in asked}
    draw(
        arrange,
        alt=f"{count} guests around a table: {', '.join(names)}. Arrows lead from one of them, "
        f"{names[asks]}, to both neighbours.",
    )


# ---- heads taken away ----
def removed(shares: Sequence[Tensor], asked: Sequence[str]) -> None:
    """`removed([four, eight], asked)` has, for each layer, what is right without each of its heads.

    Each is (heads, asked), a share of right answers.
    """

    def arrange(narrow: bool) -> Part:
        cell = (56.0, 28.0) if narrow else (62.0, 28.0)
        parts = [
            grid(
                each,
                title=f"{len(each)} heads",
                rows=[f"no head {head}" for head in range(1, len(each) + 1)],
                columns=asked,
                colour="query",
                shaded=True,
                cell=cell,
                shape=words,
            )
            for each, words in zip(
                shares, ("a head for each neighbour", "work shared out, and some to spare"), strict=True
            )
        ]
        return column(*parts, gap=22) if narrow else row(*parts, gap=34, align="top")

    told = ". ".join(
        f"{len(each)} heads, without one after the other: "
        + "; ".join(", ".join(f"{share:.2f}" for share in line) for line in each.tolist())
        for each in shares
    )
    draw(arrange, alt=f"The share of names that is right, for the neighbours {', '.join(asked)}. {told}.")
