"""The drawings of the chapter's idea and “A recurrence: hand it on”."""

import itertools
import math
from collections.abc import Sequence

from bookkit.pictures.drawings import (
    Arrow,
    Part,
    across,
    box,
    column,
    draw,
    joined,
    note,
    operator,
    over,
    row,
    text,
)
from bookkit.pictures.svg import SMALL, label, vector
from chapters.three_ways_to_read_a_sequence.drawings.pieces import DOT, _dot, _joined_dots


def _chain(xs: Sequence[float]) -> tuple[str, float]:
    marks = "".join(
        vector(a + DOT + 1, 10, b - DOT - 1, 10, colour="purple", width=2) for a, b in itertools.pairwise(xs)
    )
    return marks + "".join(_dot(x, 10, on=True) for x in xs), 20


def _tree(xs: Sequence[float], level: float) -> tuple[str, float]:
    """Windows of two, whose spans double: what the last dot at the top hears, and its way to the first."""
    last, layers = len(xs) - 1, math.ceil(math.log2(len(xs)))
    height = 20 + level * layers
    grey, path, dots = "", "", ""
    heard, way = {last}, last
    for layer in reversed(range(layers)):
        top, foot, span = 10 + level * (layers - 1 - layer), 10 + level * (layers - layer), 2**layer
        dots += "".join(_dot(xs[place], top, on=place == way) for place in heard)
        after = way - span if way >= span else way
        for place in heard:
            for below in (place, place - span):
                if below >= 0:
                    on = (place, below) == (way, after)
                    drawn = _joined_dots(xs[place], top, xs[below], foot, on=on)
                    grey, path = (grey, path + drawn) if on else (grey + drawn, path)
        heard = {below for place in heard for below in (place, place - span) if below >= 0}
        way = after
    dots += "".join(_dot(x, height - 10, on=place == way) for place, x in enumerate(xs))
    return grey + path + dots, height


def _fan(xs: Sequence[float], height: float) -> tuple[str, float]:
    marks = "".join(
        _joined_dots(x, height - 10, xs[-1], 10, on=place == 0) for place, x in enumerate(xs)
    ) + _dot(xs[-1], 10, on=True)
    return marks + "".join(_dot(x, height - 10, on=x == xs[0]) for x in xs), height


def idea(words: Sequence[str]) -> None:
    """`idea(["the", "dog"])` has three ways from the first of these words to the last."""
    count = len(words)
    steps = (count - 1, math.ceil(math.log2(count)), 1)

    def arrange(narrow: bool) -> Part:
        apart = 30.0 if narrow else 66.0
        xs = [apart * (place + 0.5) for place in range(count)]
        width = apart * count
        ways = (
            ("recurrence: a chain", _chain(xs)),
            ("convolution: a tree", _tree(xs, 30)),
            ("attention: a fan", _fan(xs, 66)),
        )
        parts = []
        for (title, (marks, height)), taken in zip(ways, steps, strict=True):
            said = f"from the first word to the last in {taken} step{'s' if taken > 1 else ''}"
            # On a phone, the first word and the last.
            shown = {place: word for place, word in enumerate(words) if not narrow or place in (0, count - 1)}
            letters = "".join(
                label(xs[place], height + SMALL, word, size=SMALL) for place, word in shown.items()
            )
            heading = across(narrow, text(title, bold=True), note(said), gap=2 if narrow else 12)
            parts.append(column(heading, over(width, height + SMALL + 6, marks, letters), gap=6))
        return column(*parts, gap=14)

    draw(
        arrange,
        alt=f"The words “{' '.join(words)}”, read in three ways. A recurrence is a chain: from the first "
        f"word to the last in {steps[0]} steps. A convolution is a tree of windows, {steps[1]} layers deep: "
        f"{steps[1]} steps. Attention is a fan: the last word is joined to every word directly, 1 step.",
    )


# ---- one step of a GRU ----
def gru_step() -> None:
    """`gru_step()` is the mix of an old state and a new one, and the gate that shares out."""

    def arrange(narrow: bool) -> Part:
        old = box("h_{t−1}", name="old", colour="query")
        keep, add = operator("× z", name="keep"), operator("+", name="add")
        after = box("h_t", name="after", colour="query")
        road = row(old, keep, add, after, gap=26 if narrow else 54)
        share = operator("× (1 − z)", name="share")
        gate = box(column("z", note("keep? 0 … 1"), gap=0), name="gate", colour="purple", learned=True)
        new = box(column("n", note("a new state"), gap=0), name="new", colour="purple", learned=True)
        low = row(gate, new, gap=26 if narrow else 70)
        reads = note("both read the word x_t and the old state h_{t−1}")
        width = max(road.width, low.width, reads.width)
        whole = over(
            width,
            220,
            (road, (width - road.width) / 2, 0),
            (
                share,
                (width - road.width) / 2 + road.places["add"].left + add.width / 2 - share.width / 2,
                70,
            ),
            (low, (width - low.width) / 2, 130),
            (reads, (width - reads.width) / 2, 198),
        )
        return joined(
            whole,
            Arrow("old", "keep"),
            Arrow("keep", "add"),
            Arrow("add", "after"),
            Arrow("share", "add", sides=("top", "bottom")),
            Arrow("gate", "keep", sides=("top", "bottom")),
            Arrow("new", "share", sides=("top", "bottom")),
        )

    draw(
        arrange,
        alt="The old state goes along a road: times z, plus something, and it is the new state. What is "
        "added is a candidate n, times one minus z. The gate z, from 0 to 1, says how much of the old state "
        "is kept. Gate and candidate both read the word and the old state.",
    )
