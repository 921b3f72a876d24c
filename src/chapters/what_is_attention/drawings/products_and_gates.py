"""The drawings from “Where the dot product comes from” to “Does it select?”."""

from collections.abc import Sequence

from torch import Tensor

from bookkit.pictures.drawings import (
    Part,
    box,
    column,
    draw,
    faded,
    grid,
    note,
    over,
    panel,
    row,
    text,
)
from bookkit.pictures.svg import circle, line


def what_softmax_sees() -> None:
    """`what_softmax_sees()` is the squared distance multiplied out, with what cancels faded."""

    def arrange(narrow: bool) -> Part:
        def gone(formula: str, words: str) -> Part:
            return box(column(faded(text(formula, size=18)), note(words, width=150), gap=4), colour="faint")

        whole = box(column(text("−½ ‖q − k‖^2", size=18), note("near is high"), gap=4))
        kept = box(
            column(
                text("q · k", size=18, bold=True), note("how well they match: this stays", width=150), gap=4
            ),
            colour="output",
            learned=True,
        )
        asked = gone("½ ‖q‖^2", "the same for every key: the softmax does not see it")
        stored = gone("½ ‖k‖^2", "the same for every key, if all keys are equally long")
        if narrow:
            return column(whole, text("="), kept, text("−"), asked, text("−"), stored, gap=6)
        return row(whole, "=", kept, "−", asked, "−", stored, gap=10)

    draw(
        arrange,
        alt="Minus half the squared distance of q and k is a sum of three terms. The product q · k stays. "
        "Half the square of q is the same for every key, so the softmax does not see it. Half the square "
        "of k is the same for every key if all keys are equally long.",
    )


def gate_and_sum(features: Tensor, attention: Tensor, weights: Tensor, value: Tensor) -> None:
    """`gate_and_sum(features, attention, weights, value)` has a gate beside a weighted sum."""
    glimpse, mixed = attention * features, weights @ value

    def arrange(narrow: bool) -> Part:
        cell = (44, 30)

        def stack(numbers: Tensor, title: str, colour: str, digits: int = 1, shaded: bool = False) -> Part:
            numbers = numbers[:, None] if numbers.dim() == 1 else numbers
            return grid(numbers, title=title, colour=colour, digits=digits, shaded=shaded, cell=cell)

        gated = row(
            stack(attention, "shares", "query", shaded=True),
            "⊙",
            stack(features, "features", "value", digits=0),
            "=",
            stack(glimpse, "glimpse", "output"),
            gap=9,
        )
        summed = row(
            stack(weights, "weights", "query", digits=2, shaded=True),
            "×",
            stack(value, "values", "value", digits=0),
            "=",
            grid(mixed[None], title="output", colour="output", cell=cell),
            gap=9,
        )
        left = panel(
            column(gated, note("each number keeps its place; nothing is added up", width=260)), "a gate"
        )
        right = panel(
            column(summed, note("each row has one share; then the rows are added up", width=260)),
            "a weighted sum",
        )
        return column(left, right, gap=12) if narrow else row(left, right, gap=12)

    draw(
        arrange,
        alt="Left, a gate: three shares multiply three features, number by number, and three numbers come "
        "out. Right, a weighted sum: three weights that sum to 1 multiply three rows of values, the rows "
        "are added up, and one row comes out.",
    )


def two_rows_one_centre(corners: Tensor, rows: Sequence[Tensor]) -> None:
    """`two_rows_one_centre(corners, [one, other])` has a square for each row of weights, and its output."""

    def square(weights: Tensor, side: float) -> Part:
        marks = []
        places = [(28 + side * x, 28 + side * (1 - y)) for x, y in corners.tolist()]
        marks += [
            line(*one, *other, colour="faint")
            for one, other in zip(places, places[1:] + places[:1], strict=True)
        ]
        centre = (28 + side / 2, 28 + side / 2)
        for place, weight in zip(places, weights.tolist(), strict=True):
            marks += [line(*place, *centre, colour="query", width=0.5 + 12 * weight)]
        for place, weight in zip(places, weights.tolist(), strict=True):
            marks += [circle(*place, 5 + 24 * weight, colour="value", fill="paper")]
        marks += [circle(*centre, 8, colour="output", fill="output")]
        part = over(side + 56, side + 56, *marks)
        listed = ", ".join(f"{weight:.2f}" for weight in weights.tolist())
        return column(part, note(listed), gap=2)

    def arrange(narrow: bool) -> Part:
        squares = [square(weights, 72 if narrow else 110) for weights in rows]
        words = note("two rows of weights, one output: the centre", width=300)
        return column(row(*squares, gap=20 if narrow else 70), words, gap=8)

    draw(
        arrange,
        alt="Two squares whose corners are the values. In one, thick lines lead from the output in the "
        "centre to two opposite corners; in the other, to the other two. The output is the same.",
    )
