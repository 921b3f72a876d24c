"""What several of the drawings are made of."""

from collections.abc import Sequence

from bookkit.pictures.drawings import (
    Part,
    over,
)
from bookkit.pictures.svg import SMALL, Side, label

Words = Sequence[str]


BELOW: tuple[Side, Side] = ("bottom", "top")


def _beginning(words: str, width: float) -> Part:
    """Words that begin at the left of so much room, so that lines of them stand flush."""
    return over(width, 26, label(0, 18, words, size=SMALL, colour="grey", anchor="start"))
