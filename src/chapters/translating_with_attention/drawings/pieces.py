"""What several of the drawings are made of."""

from collections.abc import Sequence

from bookkit.pictures.drawings import (
    Part,
    over,
)
from bookkit.pictures.svg import Anchor, label, line

SOURCE, TARGET = ("the", "cat", "sleeps"), ("la", "gata", "dorme")


# ---- which word stands for which ----
def _facing(
    english: Sequence[str], lingo: Sequence[str], links: Sequence[tuple[int, int, str]], narrow: bool
) -> Part:
    """English above Lingo, or on a phone beside it, with a line for each (i, j, colour)."""

    def place(position: int, count: int, length: float) -> float:
        return length * (position + 0.5) / count

    rows = max(len(english), len(lingo))
    width, height = (300.0, 30.0 * rows) if narrow else (min(720.0, 84.0 * rows), 150.0)
    marks = ""
    for i, j, colour in links:
        a, b = (
            place(i, len(english), height if narrow else width),
            place(j, len(lingo), height if narrow else width),
        )
        ends = (92, a, 208, b) if narrow else (a, 28, b, 122)
        marks += line(*ends, colour=colour, width=2.5, dashed=colour == "grey")
    for words, colour, side in ((english, "key", 0), (lingo, "output", 1)):
        for position, word in enumerate(words):
            along = place(position, len(words), height if narrow else width)
            if narrow:
                anchor: Anchor = "start" if side else "end"
                marks += label(214 if side else 86, along + 5, word, colour=colour, anchor=anchor)
            else:
                marks += label(along, 142 if side else 18, word, colour=colour)
    return over(width, height, marks)
