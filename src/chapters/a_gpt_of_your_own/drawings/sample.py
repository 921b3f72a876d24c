"""A few lines of text, its pieces, and the marks that show them: what all these drawings are made of."""

from collections.abc import Sequence
from functools import cache

from attnlab.corpora.pieces import Pieces, learn
from bookkit.pictures.drawings import TINT
from bookkit.pictures.svg import SMALLEST, Place, label, rectangle

READ = "Return the degree of the node. Return the sum of the nodes. Return the degree of the sum."
TEXTS = ("Return the sum of the degrees.", "Return the degree.", "A set of nodes.")


@cache
def pieces() -> Pieces:
    """`pieces()` were learned from three sentences, up to where no two of them stand together twice."""
    return Pieces(learn(READ, vocabulary=320))


def seen(number: int) -> str:
    """`seen(258)` is "␣the": a piece with the space that belongs to it, or the mark of the end."""
    made = pieces()
    return "end" if number == made.end else made.decode([number]).replace(" ", "␣")


def cell(
    place: Place,
    words: str,
    colour: str = "grey",
    *,
    opacity: float = TINT,
    dashed: bool = False,
    code: bool = False,
) -> str:
    """`cell(Place(0, 0, 40, 26), "258", "key")` is one cell of a row, and dashed what is not there yet."""
    frame = rectangle(place, colour, fill=None if dashed else colour, opacity=opacity, dashed=dashed)
    said = label(
        place.left + place.width / 2, place.top + place.height / 2 + 4.5, words, size=SMALLEST, code=code
    )
    return frame + said


def cells(
    lefts: Sequence[float], widths: Sequence[float], top: float, height: float, words: Sequence[str],
    colours: Sequence[str], *, code: bool = False,
) -> str:  # fmt: skip
    """`cells([0, 40], [40, 30], 10, 26, ["267", "258"], ["key", "key"])` is a row of cells."""
    return "".join(
        cell(Place(left, top, width, height), said, colour, code=code)
        for left, width, said, colour in zip(lefts, widths, words, colours, strict=True)
    )
