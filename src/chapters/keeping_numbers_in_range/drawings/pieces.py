"""What several of the drawings are made of."""

from bookkit.pictures.drawings import (
    Part,
    box,
    text,
)
from bookkit.pictures.svg import SMALL, circle, label


def _plus(x: float, y: float) -> str:
    return circle(x, y, 9, colour="blue", fill="paper") + label(x, y + 5, "+")


def _step(words: str, learned: bool, name: str = "") -> Part:
    return box(
        text(words, size=SMALL), name=name, colour="purple" if learned else "grey", learned=learned, padding=7
    )
