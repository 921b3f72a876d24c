"""What several of the drawings are made of."""

import math

from bookkit.pictures.svg import circle, line

DOT = 5.0


FACT = 3.0  # the width of the path that a drawing is about


# ---- three ways from the first word to the last ----
def _dot(x: float, y: float, *, on: bool = False) -> str:
    return circle(x, y, DOT, colour="purple" if on else "grey", fill="purple" if on else "paper")


def _joined_dots(x1: float, y1: float, x2: float, y2: float, *, on: bool) -> str:
    """A line between two dots that does not run into them."""
    length = math.hypot(x2 - x1, y2 - y1)
    dx, dy = (x2 - x1) / length * (DOT + 1), (y2 - y1) / length * (DOT + 1)
    colour, width = ("purple", FACT) if on else ("faint", 1.5)
    return line(x1 + dx, y1 + dy, x2 - dx, y2 - dy, colour=colour, width=width)
