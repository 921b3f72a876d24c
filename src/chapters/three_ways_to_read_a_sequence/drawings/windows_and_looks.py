"""The drawings from “A convolution: windows of windows” to “How far does it see? Ask the gradient”."""

import itertools
from collections.abc import Mapping, Sequence

from torch import Tensor

from bookkit.pictures.drawings import (
    Arrow,
    Part,
    across,
    column,
    draw,
    grid,
    joined,
    note,
    over,
    row,
    text,
)
from bookkit.pictures.svg import SMALL, Place, rectangle


# ---- a window, and where it is padded ----
def padded_words(words: Sequence[str], kernel: int, *, only: str = "") -> None:
    """`padded_words(["the", "dog", "that"], kernel=3)` pads windows on the left, and on both sides."""

    def panel_of(title: str, left: int, right: int, said: str, narrow: bool) -> Part:
        cells = [["0"] * left + list(words) + ["0"] * right]
        wide = 43.0 if narrow else 48.0
        inputs = grid(cells, name=f"{title} in", colour="key", cell=(wide, 28))
        outputs = grid([["·"] * len(words)], name=f"{title} out", colour="output", cell=(wide, 28))
        place = 2  # the output whose window is shown
        both = over(
            inputs.width,
            94,
            (outputs, wide * left, 0),
            (inputs, 0, 66),
        )
        arrows = [
            Arrow(
                f"{title} in.0.{place + step}",
                f"{title} out.0.{place}",
                weight=0.2,
                colour="purple",
                sides=("top", "bottom"),
            )
            for step in range(kernel)
        ]
        return column(text(title, bold=True), joined(both, *arrows), note(said), gap=4)

    ways = {
        "zeros on the left": (kernel - 1, 0, f"the output at “{words[2]}” ends with “{words[2]}”"),
        "zeros on both sides": (
            kernel // 2,
            kernel // 2,
            f"the output at “{words[2]}” has seen “{words[3]}”: the future",
        ),
    }
    shown = {title: way for title, way in ways.items() if only in ("", title)}

    def arrange(narrow: bool) -> Part:
        parts = [panel_of(title, *way, narrow) for title, way in shown.items()]
        return across(narrow, *parts, gap=20 if narrow else 30)

    told = "; ".join(f"{title}: {said}" for title, (_, _, said) in shown.items())
    draw(arrange, alt=f"{len(words)} words in a row and a window of {kernel} that makes one output. {told}.")


# ---- what each costs ----
def compared(costs: Mapping[str, Sequence[int]], columns: Sequence[str], *, words: int) -> None:
    """`compared({"attention": (1, 1, 65536)}, ["path", "in turn", "kept"], words=1024)` is a table."""
    cells = [[f"{number:,}" for number in each] for each in costs.values()]

    def arrange(narrow: bool) -> Part:
        table = grid(
            cells,
            rows=list(costs),
            columns=list(columns),
            colour="output",
            cell=(70, 32) if narrow else (150, 34),
        )
        return column(text(f"{words:,} words", bold=True), table, gap=6)

    told = "; ".join(
        f"{name}: " + ", ".join(f"{title} {number:,}" for title, number in zip(columns, each, strict=True))
        for name, each in costs.items()
    )
    draw(arrange, alt=f"For {words:,} words. {told}.")


# ---- how far each output sees, as gradients tell ----
def reaches(seen: Mapping[str, Tensor]) -> None:
    """`reaches({"attention": gradients})` has a table for each: outputs down, inputs across, (T, T) each."""
    size = 15.0

    def table(name: str, moves: Tensor) -> Part:
        count = len(moves)
        marks = ""
        for out, into in itertools.product(range(count), repeat=2):
            place = Place(into * size, out * size, size, size)
            if moves[out, into]:
                colour = "orange" if into > out else "purple"
                marks += rectangle(place, colour, fill=colour, opacity=0.5)
            else:
                marks += rectangle(place, "faint")
        words = text(name, size=SMALL, bold=True, width=160)
        title = over(max(count * size, words.width), 38, (words, 0, 38 - words.height))
        return column(title, over(count * size, count * size, marks), gap=4, align="left")

    def arrange(narrow: bool) -> Part:
        tables = [table(name, moves) for name, moves in seen.items()]
        rest = note(
            "down: outputs · across: words, the first at the left · filled: this word moves this output"
        )
        if narrow:
            rest = note("down: outputs · across: words\nfilled: this word moves this output")
            return column(row(*tables[:2], gap=12), row(*tables[2:], gap=12), rest, gap=12)
        return column(row(*tables, gap=26, align="bottom"), rest, gap=10)

    told = []
    for name, moves in seen.items():
        last = int(moves[-1].sum())
        future = int(moves.triu(1).sum())
        told.append(
            f"{name}: the last output hears {last} words"
            + (f", and {future} fields lie above the diagonal, in the future" if future else "")
        )
    draw(
        arrange,
        alt=f"Tables of {len(next(iter(seen.values())))} outputs by as many words; a field is filled where "
        f"the word moves the output. {'; '.join(told)}.",
    )
