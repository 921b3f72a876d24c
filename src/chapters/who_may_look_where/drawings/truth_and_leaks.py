"""The drawings of “Two meanings of True” and “The model that read its answers”."""

import math
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
from bookkit.pictures.svg import SMALL, Place, circle, curve, label, polygon, rectangle


# ---- one mask, two readers ----
def two_readers(mask: Tensor, keeps: Tensor, blocks: Tensor) -> None:
    """`two_readers(mask, keeps, blocks)` shows one boolean mask, and both functions' weights by it."""

    def weights(table: Tensor, reader: str, words: str) -> Part:
        told = grid(table, colour="query", shaded=True, cell=(40, 28), digits=1)
        return column(text(reader, size=SMALL, code=True), told, note(words), gap=5)

    def arrange(narrow: bool) -> Part:
        letters = [["T" if each else "F" for each in one] for one in mask.tolist()]
        given = column(
            text("ones.triu(1)", size=SMALL, code=True),
            grid(letters, cell=(30, 28)),
            note("T: lies in the future"),
            gap=5,
        )
        right = weights(blocks, "nn.MultiheadAttention", "True = blocked: the past is read")
        wrong = weights(keeps, "scaled_dot_product_attention", "True = may look: the future is read")
        return column(given, right, wrong, gap=18) if narrow else row(given, "→", right, wrong, gap=24)

    draw(
        arrange,
        alt="A boolean table, True above its diagonal, goes to two functions. nn.MultiheadAttention takes "
        "True for blocked: its weights are below the diagonal and on it. scaled_dot_product_attention takes "
        "True for may look: its weights are above the diagonal alone, and the last row has none.",
    )


# ---- whose length hides what ----
def whose_length(lengths: Sequence[int]) -> None:
    """`whose_length([8, 6, 4, 2])` has a cell for each example and head, with the length that masks it."""

    def one(axis: int, title: str, words: str, narrow: bool) -> Part:
        cells = [[str(lengths[(i, j)[axis]]) for j in range(len(lengths))] for i in range(len(lengths))]
        return grid(
            cells,
            title=title,
            colour=("value", "orange")[axis],
            rows=[f"text of {each}" for each in lengths],
            columns=[f"head {j + 1}" for j in range(len(lengths))],
            cell=(56, 28),
            shape=words,
        )

    def arrange(narrow: bool) -> Part:
        right = one(0, "(B, 1, 1, m)", "each text its own length", narrow)
        wrong = one(1, "(B, 1, m)", "each head another text’s", narrow)
        return across(narrow, right, wrong, gap=30)

    listed = ", ".join(map(str, lengths))
    draw(
        arrange,
        alt=f"Two tables with a row for each of four texts, of lengths {listed}, and a column for each of "
        "four heads: how many keys may be seen. With a mask of batch, 1, 1, m each row repeats its text's "
        "own length. With batch, 1, m each row holds all four lengths, one for each head.",
    )


# ---- a language with a limit ----

# Where each word of the small language stands in the drawing, as shares of its width and height.
_AT = {
    "the": (0.1, 0.2), "cat": (0.5, 0.12), "sat": (0.9, 0.2),
    "on": (0.9, 0.85), "mat": (0.5, 0.92), "and": (0.1, 0.85),
}  # fmt: skip


def language(words: Sequence[str], likely: Sequence[int], rare: Sequence[int]) -> None:
    """`language(words, likely, rare)` joins each word to the two that may follow it."""

    def arrow(start: tuple[float, float], end: tuple[float, float], usual: bool) -> str:
        """A bow from the edge of one circle to that of another, in short steps."""
        (x1, y1), (x2, y2) = start, end
        length = math.hypot(x2 - x1, y2 - y1)
        dx, dy = (x2 - x1) / length, (y2 - y1) / length
        bend = 18.0 if usual else -12.0
        share = [place / 32 for place in range(33)]
        bow = [(x1 + t * length * dx, y1 + t * length * dy, 4 * bend * t * (1 - t)) for t in share]
        points = [(x - away * dy, y + away * dx) for x, y, away in bow]
        outside = [
            (x, y) for x, y in points if math.hypot(x - x1, y - y1) > 26 and math.hypot(x - x2, y - y2) > 38
        ]
        (bx, by), wide = outside[-1], 6.0 if usual else 4.0
        ux, uy = (x2 - bx) / math.hypot(x2 - bx, y2 - by), (y2 - by) / math.hypot(x2 - bx, y2 - by)
        reach = math.hypot(x2 - bx, y2 - by) - 27
        head = [
            (bx + reach * ux, by + reach * uy),
            (bx - wide * uy, by + wide * ux),
            (bx + wide * uy, by - wide * ux),
        ]
        colour = "blue" if usual else "grey"
        return curve(outside, colour=colour, width=4 if usual else 1.5) + polygon(head, colour)

    def arrange(narrow: bool) -> Part:
        wide, high = (320.0, 280.0) if narrow else (560.0, 220.0)
        at = {word: (x * wide, y * high) for word, (x, y) in _AT.items()}
        marks = ""
        for place, word in enumerate(words):
            for follows, usual in ((rare, False), (likely, True)):
                marks += arrow(at[word], at[words[follows[place]]], usual)
        for word, (x, y) in at.items():
            marks += circle(x, y, 24, colour="ink", fill="paper") + label(x, y + 5, word, bold=True)
        graph = over(wide, high + 18, marks)
        return column(graph, note("thick: three times in four · thin: once in four"), gap=6)

    told = "; ".join(
        f"{word}: {words[likely[place]]}, more rarely {words[rare[place]]}"
        for place, word in enumerate(words)
    )
    draw(arrange, alt=f"Six words, each with a thick and a thin arrow to what may follow it. {told}.")


# ---- who sees the answer ----
def peeking(words: Sequence[str]) -> None:
    """`peeking(["the", "cat", "sat", "on"])` draws what a word reads and what it should say, in four ways."""
    inputs, targets = words[:-1], words[1:]
    asks = 0  # the word whose answer is looked for

    def one(name: str, seen: int, answers: Sequence[str], says: str) -> Part:
        cell = (48.0, 28.0)
        above = grid([list(answers)], name=f"{name} t", colour="output", cell=cell)
        below = grid([list(inputs)], name=f"{name} x", colour="key", cell=cell)
        whole = column(above, below, gap=44)
        arrows = [
            Arrow(
                f"{name} x.0.{j}",
                f"{name} t.0.{asks}",
                colour="orange" if inputs[j] == answers[asks] else "grey",
                sides=("top", "bottom"),
            )
            for j in range(seen)
        ]
        return column(text(name, bold=True), joined(whole, *arrows), note(says, width=145), gap=6)

    def arrange(narrow: bool) -> Part:
        parts = [
            one("right", asks + 1, targets, "reads “the”, to say “cat”"),
            one("no mask", len(inputs), targets, "reads everything, to say “cat”"),
            one("off by one", asks + 2, targets, "reads “cat”, to say “cat”"),
            one("not shifted", asks + 1, inputs, "reads “the”, to say “the”"),
        ]
        if narrow:
            return column(row(*parts[:2], gap=14, align="top"), row(*parts[2:], gap=14, align="top"), gap=24)
        return row(*parts, gap=26, align="top")

    draw(
        arrange,
        alt="Four small pictures: words below, what should be said above, and arrows from what the first "
        "place reads. Right: the first word, to say the second. No mask: all words; off by one: two, the "
        "answer among them. Not shifted: what is to be said is the first word itself.",
    )


# ---- the leak test ----
def leak_test(before: Sequence[str], after: Sequence[str], place: int) -> None:
    """`leak_test(["the", "cat"], ["the", "mat"], 1)`: two texts, equal up to a place."""

    def arrange(narrow: bool) -> Part:
        cell = (46.0, 28.0) if narrow else (70.0, 30.0)
        cells = [list(before), list(after)]
        top = grid(cells, colour="key", cell=cell, rows=["text", "changed"])
        left = top.width - cell[0] * len(before)
        must = rectangle(Place(left, -4, cell[0] * place, 2 * cell[1] + 8), "value", corner=6)
        words = label(left + cell[0] * place / 2, 2 * cell[1] + 22, "same output", size=SMALL, colour="value")
        words += label(
            left + cell[0] * (place + len(before)) / 2, 2 * cell[1] + 22, "changed", size=SMALL, colour="grey"
        )
        return over(top.width, top.height + 30, (top, 0, 0), must, words)

    draw(
        arrange,
        alt=f"Two texts above each other, equal in their first {place} words and different in all others. A "
        f"frame round the first {place}: there the outputs must be the same.",
    )


def verdicts(table: Mapping[str, tuple[bool, bool]]) -> None:
    """`verdicts({"no mask": (True, True)})` says of each fault which test finds it."""
    names = list(table)
    cells = [["found" if found else "—" for found in each] for each in table.values()]

    def arrange(narrow: bool) -> Part:
        cell = (88.0, 28.0) if narrow else (150.0, 27.0)
        return grid(
            cells,
            rows=names,
            columns=["loss below limit", "leak test"],
            colour="value",
            cell=cell,
            absent="—",
        )

    told = "; ".join(f"{name}: {', '.join(each)}" for name, each in zip(names, cells, strict=True))
    draw(arrange, alt=f"Whether a loss below the limit, and the leak test, find each fault. {told}.")
