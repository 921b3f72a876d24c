"""The drawings of the chapter's idea, “Does attention know the order?” and “A table of waves”."""

import math
from collections.abc import Sequence

from torch import Tensor

from bookkit.pictures.drawings import (
    Arrow,
    Part,
    across,
    as_text,
    box,
    column,
    draw,
    grid,
    joined,
    note,
    over,
    panel,
    row,
)
from bookkit.pictures.svg import circle, curve, line, vector


# ---- the first screen, and the bag ----
def _clock(angle: float, radius: float = 27) -> Part:
    """A hand that stood at twelve and has turned by `angle`: its tip is at (sin, cos)."""
    middle = radius + 2
    hand = vector(
        middle, middle, middle + radius * math.sin(angle), middle - radius * math.cos(angle), colour="blue"
    )
    return over(2 * middle, 2 * middle, circle(middle, middle, radius), hand)


def clocks(words: Sequence[str], *, slower: float = 4, hands: int = 3) -> None:
    """`clocks(["dog", "bites", "man"])` gives each word a clock with hands that turn ever more slowly."""

    def arrange(narrow: bool) -> Part:
        panels = []
        for position, word in enumerate(words):
            faces = row(*(_clock(position / slower**hand) for hand in range(hands)), gap=6)
            carried = row(box(word, width=58), "+", faces, gap=8)
            panels.append(
                panel(carried if narrow else column(box(word), "+", faces, gap=4), f"position {position}")
            )
        told = "the first hand turns by one radian a word, the next ones ever more slowly"
        return column(across(narrow, *panels, gap=12), note(told, width=300 if narrow else None))

    draw(
        arrange,
        alt=f"The words {', '.join(words)} at positions 0 to {len(words) - 1}. To each, {hands} clock hands "
        "are added. At position 0 all of them point straight up. From word to word the first turns by one "
        f"radian, and each further one by {slower:g} times less.",
    )


def same_bag(sentence: Sequence[str], weights: Tensor, output: Tensor) -> None:
    """`same_bag(["dog", "bites", "man"], weights, output)` shows what the middle word reads."""
    asks = sentence[1]
    share = dict(zip(sentence, weights.tolist(), strict=True))
    mix = " ".join(as_text(number, 2) for number in output.tolist())

    def order(words: Sequence[str], gap: float) -> Part:
        told = {word: column(word, note(f"× {as_text(share[word], 2)}"), gap=0) for word in words}
        values = row(*(box(told[word], name=word, colour="value") for word in words), gap=gap)
        answer = box(f"{asks} reads {mix}", name="output", colour="output", learned=True)
        bands = [
            Arrow(word, "output", colour="query", weight=share[word], sides=("bottom", "top"))
            for word in words
        ]
        whole = joined(column(values, answer, gap=40), *bands)
        # Both orders have places of the same names, and no arrow leads from one to the other.
        return panel(Part(whole.width, whole.height, whole.marks), f"“{' '.join(words)}”")

    def arrange(narrow: bool) -> Part:
        gap = 12 if narrow else 24
        both = across(narrow, order(sentence, gap), order(sentence[::-1], gap))
        return column(
            both, note("the same weights on the same values: the same sum", width=300 if narrow else None)
        )

    terms = ", ".join(f"{word} {share[word]:.2f}" for word in sentence)
    draw(
        arrange,
        alt=f"What “{asks}” reads in “{' '.join(sentence)}” and in “{' '.join(sentence[::-1])}”. The weights "
        f"are the same, {terms}, on the same values in another order, and so is the output, {mix}.",
    )


# ---- the table ----
def counting(bits: Sequence[Sequence[int]]) -> None:
    """`counting(bits)` sets numbers in binary beside waves, the fastest row first."""
    names, cell = ("ones", "twos", "fours"), 30.0

    def waves() -> Part:
        marks, high, wide = "", cell, cell * len(bits[0])
        for place in range(len(bits)):
            middle = high * (place + 0.5)
            points = [
                (x, middle + 0.4 * high * math.sin(2 * math.pi * x / cell / 2 ** (place + 1)))
                for x in range(0, int(wide) + 1, 3)
            ]
            marks += line(0, middle, wide, middle, colour="faint", width=1) + curve(points, colour="blue")
        return over(wide, high * len(bits), marks)

    def arrange(narrow: bool) -> Part:
        cells = grid(
            bits,
            rows=names[: len(bits)],
            columns=[str(number) for number in range(len(bits[0]))],
            colour="blue",
            digits=0,
            shaded=True,
            cell=(cell, cell),
        )
        smooth = column(note("the same, with waves for bits"), waves(), gap=4)
        return column(cells, smooth) if narrow else row(cells, smooth, gap=40, align="bottom")

    draw(
        arrange,
        alt="The numbers 0 to 7 in binary, a column for each. The row of the ones changes at every number, "
        "that of the twos at every second, that of the fours once. Beside them three waves that swing as "
        "fast as the rows change.",
    )


def added(words: Sequence[str], vectors: Tensor, table: Tensor) -> None:
    """`added(["dog", "bites", "man"], x, table)` adds a row of the table to each word."""
    shape = f"({len(words)}, {vectors.shape[-1]})"

    def arrange(narrow: bool) -> Part:
        cell = (50.0, 30.0)
        x = grid(vectors, title="words", rows=words, shape=shape, cell=cell)
        rows = grid(
            table,
            title="positions",
            rows=["0", "1", "2"][: len(words)],
            shape=shape,
            colour="blue",
            cell=cell,
        )
        total = grid(vectors + table, title="sum", rows=words, shape=shape, colour="purple", cell=cell)
        return across(narrow, x, "+", rows, "=", total, gap=14)

    draw(
        arrange,
        alt=f"A matrix of words, {shape}, plus a matrix of positions of the same shape: each word gets the "
        "row of the place where it stands, added number by number.",
    )
