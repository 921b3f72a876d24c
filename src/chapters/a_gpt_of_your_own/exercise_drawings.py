"""The drawings of the exercises: what is cut into pieces, what may be trained on, what adds up."""

from collections.abc import Sequence

from bookkit.pictures.drawings import TINT, Part, across, column, draw, note, over
from bookkit.pictures.svg import SMALL, Place, circle, label, line, rectangle, vector


def _cells(
    x: float, y: float, words: Sequence[str], widths: Sequence[float], *, colour: str, height: float = 28
) -> str:
    """Cells side by side from there on, each with its word."""
    marks = ""
    for word, width in zip(words, widths, strict=True):
        marks += rectangle(Place(x, y, width, height), colour, fill=colour, opacity=TINT, corner=3)
        marks += label(x + width / 2, y + height / 2 + 5, word, size=SMALL)
        x += width
    return marks


def two_letters_and_a_half() -> None:
    """`two_letters_and_a_half()` has a chunk as letters, as bytes and as pieces; one ends inside a letter."""
    rows = (
        ("letters", ("t", "h", "é"), (1, 1, 2), "grey"),
        ("bytes", ("116", "104", "195", "169"), (1, 1, 1, 1), "query"),
        ("merge 0: 256", ("116", "256", "169"), (1, 2, 1), "key"),
        ("merge 1: 257", ("257", "169"), (3, 1), "value"),
    )

    def arrange(narrow: bool) -> Part:
        left, cell, step = (96, 54, 40) if narrow else (110, 74, 42)
        marks = ""
        for place, (name, words, widths, colour) in enumerate(rows):
            marks += label(left - 10, step * place + 19, name, size=SMALL, colour="grey", anchor="end")
            marks += _cells(left, step * place, words, [cell * width for width in widths], colour=colour)
        border = left + 3 * cell
        marks += line(border, step - 8, border, step * len(rows) - 6, dashed=True)
        drawn = over(left + 4 * cell, step * len(rows) - 12, marks)
        merges = note("merges = [(104, 195), (116, 256)]")
        return column(merges, drawn, gap=18)

    draw(
        arrange,
        alt="The chunk “thé” with the merges (104, 195) and (116, 256). It has three letters and four bytes, "
        "116, 104, 195, 169: the last two are é. Merge 0 makes 256 of 104 and 195, merge 1 makes 257 of 116 "
        "and 256. What is left is 257 and 169, and the border between them runs through the é.",
    )


def one_crop() -> None:
    """`one_crop()` has texts, one held out and one its copy, the row of the others, and a crop of it."""
    texts = (("5", "6", "7"), ("8", "9"), ("4", "3"), ("8", "9"))
    train = (True, False, True, False)
    row = [word for text, kept in zip(texts, train, strict=True) if kept for word in (*text, "0")]
    start, length = 2, 3

    def arrange(narrow: bool) -> Part:
        left, cell, gap = (56, 25, 12) if narrow else (70, 40, 26)
        marks, x = "", float(left)
        for place, (text, kept) in enumerate(zip(texts, train, strict=True)):
            width = cell * len(text)
            if kept:
                marks += _cells(x, 22, text, [cell] * len(text), colour="query")
            else:
                marks += rectangle(Place(x, 22, width, 28), "grey", corner=3, dashed=True)
                for number, word in enumerate(text):
                    marks += label(x + cell * (number + 0.5), 41, word, size=SMALL, colour="grey")
                words = "a copy" if place == 1 else "held out"
                marks += label(x + width / 2, 13, words, size=SMALL, colour="grey")
            x += width + gap
        shown = {"texts": 22, "row": 76, "inputs": 118, "targets": 152}
        for name, y in shown.items():
            marks += label(left - 10, y + 19, name, size=SMALL, colour="grey", anchor="end")
        for number, word in enumerate(row):
            colour = "grey" if word == "0" else "query"
            marks += _cells(left + cell * number, 76, [word], [cell], colour=colour)
        for name, later, colour in (("inputs", 0, "key"), ("targets", 1, "value")):
            at = left + cell * (start + later)
            crop = row[start + later :][:length]
            marks += _cells(at, shown[name], crop, [cell] * length, colour=colour)
        return over(x - gap, 182, marks)

    draw(
        arrange,
        alt="Four texts: 5 6 7, then 8 9, then 4 3, and last 8 9, which is held out; the second, its copy, "
        "is left out as well. The row is 5 6 7 0 4 3 0, each text with its end, 0. A crop of length 3 "
        "from place 2 has the inputs 7 0 4 and the targets 0 4 3, each one place further.",
    )


def what_adds_up() -> None:
    """`what_adds_up()` has the stream of one layer, the matrices that read it and those that write to it."""
    arcs = (("project", "write"), ("widen", "narrow"))

    def arrange(narrow: bool) -> Part:
        wide, box, between = (144, 63, 10) if narrow else (230, 84, 24)
        marks = vector(0, 118, 2 * wide + 34, 118, width=2)
        for number, names in enumerate(arcs):
            x = number * wide + 8
            reads, writes = x + box / 2, x + box * 1.5 + between
            marks += vector(reads, 118, reads, 62, width=1.5, colour="grey")
            marks += vector(x + box, 46, x + box + between, 46, width=1.5, colour="grey")
            marks += vector(writes, 60, writes, 108, width=1.5, colour="output")
            for left, name, colour in ((x, names[0], "grey"), (x + box + between, names[1], "output")):
                marks += rectangle(Place(left, 32, box, 28), colour, fill=colour, opacity=TINT, corner=5)
                marks += label(left + box / 2, 51, name, size=SMALL)
            marks += circle(writes, 118, 9, colour="output", fill="paper")
            marks += label(writes, 123, "+", size=SMALL, colour="output")
            words = ("attention", "network")[number]
            marks += label(x + box + between / 2, 16, words, size=SMALL, colour="grey")
        marks += label(0, 148, "the stream, through one of the layers", size=SMALL, anchor="start")
        stream = over(2 * wide + 34, 154, marks)
        return across(True, stream, _spreads(), gap=12)

    draw(
        arrange,
        alt="The stream runs through one layer. Attention reads it with its matrix project, and what write "
        "gives is added to it; the network reads it with widen, and what narrow gives is added. Project and "
        "widen are drawn with a spread of 0.02, write and narrow with 0.02/√(2 · layers).",
    )


def _spreads() -> Part:
    marks = ""
    for number, (colour, words) in enumerate(
        (("grey", "reads the stream: 0.02"), ("output", "is added to it: 0.02/√(2 · layers)"))
    ):
        y = 24 * number
        marks += rectangle(Place(0, y, 20, 15), colour, fill=colour, opacity=TINT, corner=4)
        marks += label(28, y + 12, words, size=SMALL, anchor="start")
    return over(290, 42, marks)
