"""The drawings from “Whose gradient vanishes?” to “Exercises”."""

import math
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from bookkit.pictures.drawings import (
    Arrow,
    Part,
    column,
    draw,
    faded,
    grid,
    joined,
    note,
    over,
    padded,
    row,
    text,
)
from bookkit.pictures.svg import SMALL, Place, label, line, rectangle


# ---- the softmax's derivative ----
def derivatives(soft: Tensor, frozen: Tensor) -> None:
    """`derivatives(soft, frozen)` is diag(p) - p pᵀ for two sets of weights, beside each other."""

    def one(weights: Tensor, title: str, words: str) -> Part:
        size = (48.0, 32.0)
        p = grid(weights[:, None], title="p", colour="query", shaded=True, cell=size)
        jacobian = torch.diag(weights) - torch.outer(weights, weights)
        each = grid(jacobian, title="diag(p) − p pᵀ", colour="grey", cell=size)
        return column(text(title, bold=True), row(p, "→", each, gap=10), note(words), gap=6)

    def arrange(narrow: bool) -> Part:
        both = (
            one(soft, "a soft query", "its scores are heard"),
            one(frozen, "a frozen query", "hardly anything gets through"),
        )
        return column(*both, gap=24) if narrow else row(*both, gap=70)

    draw(
        arrange,
        alt="The softmax's derivative as a grid of three by three numbers, for two queries. With weights of "
        f"{_listed(soft)} its entries reach {soft[0] * (1 - soft[0]):.2f}; with weights of "
        f"{_listed(frozen)} all are "
        f"{frozen[0] * (1 - frozen[0]):.2f} or less.",
    )


def _listed(weights: Tensor) -> str:
    return ", ".join(f"{weight:.2f}" for weight in weights.tolist())


# ---- who hears the gradient ----
def gradients(table: Mapping[str, Sequence[float]]) -> None:
    """`gradients({"all of W_Q": [8.1, 12, 1, 0.03]})` is a row for each. Its columns are raw at two widths,
    ÷ √d_k, and ÷ d_k at the larger."""
    names = list(table)
    columns = ["raw, 64", "raw, 512", "÷ √d_k", "÷ d_k, 512"]
    cells = [
        [f"{float(f'{number:.2g}'):g} ×" if number != 1 else "1" for number in each]
        for each in table.values()
    ]

    def arrange(narrow: bool) -> Part:
        cell = (56.0, 36.0) if narrow else (110.0, 40.0)
        whole = grid(cells, name="gradient", rows=names, columns=columns, colour="grey", cell=cell)
        typical = whole.places["gradient.1.1"]
        framed = over(
            whole.width, whole.height, (whole, 0, 0), rectangle(typical, "orange", fill="orange", opacity=0.2)
        )
        words = note("at 512 only the typical query shows the damage", width=None if not narrow else 300)
        return column(framed, words, gap=8)

    rows = "; ".join(f"{name}: {', '.join(each)}" for name, each in zip(names, cells, strict=True))
    draw(
        arrange,
        alt="The first gradient, as a multiple of the one with √d_k. Raw at d_k = 64, raw at 512, ÷ √d_k, "
        f"÷ d_k at 512. {rows}.",
    )


# ---- the task ----
def look_up(focus: str = "") -> None:
    """`look_up()` draws the task: query i fetches the value of key i. With a focus all else steps back."""

    def seen(name: str, part: Part) -> Part:
        return part if focus in ("", name) else faded(part)

    def arrange(narrow: bool) -> Part:
        size = (54.0 if narrow else 76.0, 30.0)
        indices = ("1", "2", "…", "16")
        cells = {
            letter: [["…"] if index == "…" else [f"{letter}_{{{index}}}"] for index in indices]
            for letter in ("q", "k", "v")
        }
        queries = grid(cells["q"], name="q", title="queries", colour="query", cell=size, shape="learned")
        keys = grid(cells["k"], name="k", title="keys", colour="key", cell=size, shape="learned")
        values = grid(cells["v"], name="v", title="values", colour="value", cell=size, shape="new each time")
        queries, keys, values = seen("start", queries), seen("start", keys), seen("values", values)
        whole = row(queries, keys, values, gap=42 if narrow else 110)
        arrows = [Arrow(f"q.{i}.0", f"k.{i}.0", colour="query") for i in (0, 1, 3)] if focus == "" else []
        doubts = (
            [Arrow("q.1.0", f"k.{j}.0", weight=0.12, colour="grey") for j in (0, 2, 3)] if focus == "" else []
        )
        fetched = [Arrow(f"k.{i}.0", f"v.{i}.0", colour="value") for i in (0, 1, 3)] if focus == "" else []
        drawn = joined(whole, *doubts, *arrows, *fetched)
        words = (
            "you make these: (16, d_k) each, components of size 1"
            if focus
            else "right when query i finds key i, and hands out its value"
        )
        return column(drawn, note(words, width=310 if narrow else None), gap=8)

    draw(
        arrange,
        alt="The look-up again, its queries and keys drawn strongly and its values pale: the start that "
        "you make."
        if focus
        else "Three columns of cells: sixteen queries, sixteen keys, sixteen values. An arrow leads from "
        "each query to the key of its own number, and on to that key's value; faint lines show other keys "
        "that a query may choose.",
    )


# ---- the shapes of an exercise ----
def shapes() -> None:
    """`shapes()` draws the tensors of the exercise as stacks of rectangles, with their sides."""

    def stack(name: str, colour: str, wide: float, high: float, across: str, down: str) -> Part:
        behind = "".join(
            rectangle(Place(34 + 5 * i, 20 - 5 * i + 8, wide, high), colour, fill="paper") for i in (2, 1)
        )
        front = rectangle(Place(34, 28, wide, high), colour, fill="paper")
        front += rectangle(Place(34, 28, wide, high), colour, fill=colour, opacity=0.15)
        marks = behind + front
        marks += label(34 + wide / 2, 28 + high / 2 + 5, name, colour=colour, bold=True)
        marks += label(34 + wide / 2, 28 + high + 17, across, size=SMALL, colour="grey")
        marks += label(28, 28 + high / 2 + 5, down, size=SMALL, colour="grey", anchor="end")
        return over(34 + wide + 14, 28 + high + 22, marks)

    def arrange(narrow: bool) -> Part:
        parts = [
            stack("query", "query", 70, 48, "64", "50"),
            stack("key", "key", 70, 100, "64", "200"),
            stack("value", "value", 44, 100, "32", "200"),
        ]
        whole = row(*parts, gap=-8 if narrow else 50, align="bottom")
        return column(
            whole,
            note("in each of 8 examples 4 such sheets, one a head", width=300 if narrow else None),
            gap=6,
        )

    draw(
        arrange,
        alt="Three stacks of sheets: query, 50 by 64; key, 200 by 64; value, 200 by 32. There are 4 "
        "sheets, one for each head, in each of 8 examples.",
    )


# ---- divisors that are wrong ----
def spreads(measured: Mapping[str, float]) -> None:
    """`spreads({"forgotten": 8.0})` draws the spread of the scores with each divisor as a bar."""

    def arrange(narrow: bool) -> Part:
        left, unit = (140.0, 1.55) if narrow else (230.0, 4.6)
        high, marks, top = 26.0, "", 0.0
        for name, spread in measured.items():
            marks += label(left - 10, top + 16, name, size=SMALL, anchor="end")
            # Doublings: 1 stands at the middle, 1/8 left of it, 64 right of it.
            where = left + unit * 10 * (math.log2(spread) + 3)
            one = left + unit * 10 * 3
            colour = "green" if abs(spread - 1) < 0.1 else "orange"
            wide = max(abs(where - one), 3)
            marks += rectangle(Place(min(where, one), top + 3, wide, 16), colour, fill=colour, opacity=0.35)
            marks += label(
                max(where, one) + 8,
                top + 16,
                f"{spread:.1f}" if spread > 0.5 else f"{spread:.2f}",
                size=SMALL,
                anchor="start",
            )
            top += high
        one = left + unit * 30
        marks += line(one, 0, one, top, colour="ink")
        return padded(over(left + unit * 90 + 40, top, marks), 0, 2)

    rows = "; ".join(f"{name}: {spread:.2g}" for name, spread in measured.items())
    draw(
        arrange,
        alt=f"The spread of the scores with each divisor, as a bar that begins at 1, on a scale of "
        f"doublings. {rows}.",
    )
