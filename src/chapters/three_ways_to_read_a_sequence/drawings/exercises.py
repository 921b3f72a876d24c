"""The drawings of “Exercises”."""

from collections.abc import Sequence

from bookkit.pictures.drawings import (
    Part,
    across,
    column,
    draw,
    note,
    over,
)
from bookkit.pictures.svg import SMALL, Place, label, rectangle
from chapters.three_ways_to_read_a_sequence.drawings.pieces import _dot, _joined_dots


# ---- the exercises ----
def window(kernel: int, dilation: int) -> None:
    """`window(3, 2)` is one output of a dilated convolution, and the words that it reads."""
    words = (kernel - 1) * dilation + 2

    def arrange(narrow: bool) -> Part:
        apart = 34.0 if narrow else 46.0
        xs = [apart * (place + 0.5) for place in range(words)]
        read = {words - 1 - step * dilation for step in range(kernel)}
        marks = "".join(_joined_dots(xs[place], 70, xs[-1], 12, on=True) for place in sorted(read))
        marks += _dot(xs[-1], 12, on=True)
        marks += "".join(_dot(x, 70, on=place in read) for place, x in enumerate(xs))
        part = over(apart * words, 80, marks)
        said = f"kernel {kernel}: it reads {kernel} words\ndilation {dilation}: each {dilation} apart"
        return across(narrow, part, note(said), gap=16)

    draw(
        arrange,
        alt=f"One output and a row of words. It reads {kernel} of them, each {dilation} apart, the last at "
        "its own place.",
    )


def budget(distances: Sequence[int]) -> None:
    """`budget([5, 9, 3])` has texts as bars, each as long as its distance, that share one sum."""
    total = sum(distances)

    def arrange(narrow: bool) -> Part:
        unit = (300 if narrow else 560) / total
        marks, left = "", 0.0
        for distance in distances:
            place = Place(left, 24, unit * distance - 3, 24)
            marks += rectangle(place, "key", fill="key", opacity=0.16)
            marks += rectangle(Place(left, 24, 6, 24), "orange", fill="orange")
            marks += label(left + place.width / 2 + 3, 41, str(distance), size=SMALL)
            left += unit * distance
        marks += label(left / 2, 14, "2,400 letters, in texts of your lengths", size=SMALL, colour="grey")
        trained = over(left, 50, marks)
        tested = over(
            200,
            36,
            rectangle(Place(0, 4, 198, 24), "output", fill="output", opacity=0.16)
            + rectangle(Place(0, 4, 6, 24), "orange", fill="orange")
            + label(100, 21, "then asked at 48", size=SMALL),
        )
        return column(trained, tested, gap=10)

    listed = ", ".join(map(str, distances))
    draw(
        arrange,
        alt=f"Bars of different lengths, {listed}, side by side: texts that share a sum of letters. Below "
        "one longer bar: what the reader is asked afterwards.",
    )
