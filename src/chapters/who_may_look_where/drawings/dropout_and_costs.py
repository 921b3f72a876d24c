"""The drawings of “Dropout: hiding at random”, “What a mask costs” and “Exercises”."""

import math
from collections.abc import Mapping, Sequence

from torch import Tensor

from bookkit.pictures.drawings import (
    Part,
    across,
    box,
    column,
    draw,
    grid,
    note,
    over,
    panel,
    row,
    text,
)
from bookkit.pictures.svg import Place, rectangle


# ---- dropout ----
def dropped(weights: Tensor, draws: Tensor) -> None:
    """`dropped(weights, draws)` shows one row of weights, and what dropout makes of it several times."""

    def arrange(narrow: bool) -> Part:
        cell = (52.0, 30.0) if narrow else (64.0, 32.0)
        whole = grid(weights[None], title="weights", colour="query", shaded=True, cell=cell)
        after = grid(draws, title="after dropout of one half", colour="query", shaded=True, cell=cell)
        sums = grid(draws.sum(-1, keepdim=True), columns=["sum"], cell=(56, cell[1]))
        right = row(after, sums, gap=12, align="bottom")
        return column(whole, right, gap=16) if narrow else row(whole, "→", right, gap=24)

    told = ", ".join(f"{each:.1f}" for each in draws.sum(-1).tolist())
    draw(
        arrange,
        alt="One row of four weights, and the same row after dropout, several times: some weights are 0, "
        f"the others twice as large. The sums are {told}.",
    )


# ---- what a mask costs ----
def areas(sizes: Mapping[str, int]) -> None:
    """`areas({"(B, heads, n, m)": 67108864})` is a square for each mask, as large as its bytes."""
    largest = max(sizes.values())

    def arrange(narrow: bool) -> Part:
        full = 120.0 if narrow else 130.0
        parts = []
        for name, size in sizes.items():
            side = max(1.5, full * math.sqrt(size / largest))
            amount = f"{size / 2**20:g} MiB" if size >= 2**20 else f"{size // 2**10} KiB"
            square = over(
                side, side, rectangle(Place(0, 0, side, side), "orange", fill="orange", opacity=0.3)
            )
            parts.append(column(square, text(amount, bold=True), note(name), gap=6))
        if narrow:
            return column(*parts, gap=14)
        return row(*parts, gap=44, align="bottom")

    told = "; ".join(f"{name}: {size:,} bytes" for name, size in sizes.items())
    draw(arrange, alt=f"Squares whose areas are the bytes of a mask. {told}.")


# ---- the exercises ----
def batch(lengths: Sequence[int]) -> None:
    """`batch([4, 2, 3])` draws the texts of an exercise, with filler up to the longest."""

    def arrange(narrow: bool) -> Part:
        longest = max(lengths)
        cells = [["word"] * each + ["filler"] * (longest - each) for each in lengths]
        table = grid(cells, rows=[f"length {each}" for each in lengths], cell=(60, 28), absent="filler")
        return column(table, note("who may look where, in each of these?"), gap=6)

    draw(arrange, alt="Three rows of places, of which some at the end are filler.")


def proof(place: int = 3) -> None:
    """`proof()` draws what an exercise wants: a model as a closed box, and two texts that convict it."""

    def arrange(narrow: bool) -> Part:
        one = grid([["a", "b", "c", "x", "y"]], name="one", colour="key", cell=(34, 28))
        other = grid([["a", "b", "c", "z", "w"]], name="other", colour="key", cell=(34, 28))
        model = panel(box("a model", name="model", learned=True), "six of these")
        verdict = column(
            text("different outputs", colour="output", bold=True), note("in the first three places"), gap=3
        )
        texts = column(one, other, gap=14)
        return across(narrow, texts, "→", model, "→", verdict, gap=16 if narrow else 26)

    draw(
        arrange,
        alt="Two texts that agree in their first three words go into a model that nobody has looked into. "
        "What comes out for those three differs.",
    )
