"""The drawings of “What each can say” and “What each costs”."""

import math
from collections.abc import Sequence

from torch import Tensor

from bookkit.pictures.drawings import (
    Part,
    across,
    column,
    draw,
    note,
    over,
    text,
)
from bookkit.pictures.svg import Place, circle, curve, label, line, rectangle, vector


def next_day(days: Tensor, names: Sequence[str], turned: Tensor) -> None:
    """`next_day(days, ["Mon", …], days @ turn)` is the week on a circle; the first day asks."""

    def arrange(narrow: bool) -> Part:
        def circle_of(asked: Tensor, words: str) -> Part:
            radius, middle = 70, 100

            def at(x: float, y: float, stretch: float = 1) -> tuple[float, float]:
                return middle + radius * stretch * x, middle - radius * stretch * y

            marks = [circle(middle, middle, radius, colour="faint")]
            for name, (x, y) in zip(names, days.tolist(), strict=True):
                left, top = at(x, y, 1.27)
                marks += [circle(*at(x, y), 4, colour="key", fill="key"), label(left, top + 5, name, size=13)]
            x, y = asked.tolist()
            marks += [vector(middle, middle, *at(x, y, 0.9), colour="query")]
            return column(over(200, 200, *marks), note(words), gap=0)

        one = circle_of(days[0], f"{names[0]} asks: it finds itself")
        other = circle_of(turned[0], f"{names[0]} asks, turned by W: the next day")
        return across(narrow, one, other, gap=24)

    draw(
        arrange,
        alt=f"The seven days on a circle, twice. The query of {names[0]} points at {names[0]} itself; "
        f"turned by the matrix W it points at {names[1]}.",
    )


def the_middle() -> None:
    """`the_middle()` has three keys in a row: scores on a ramp, and scores that bend."""

    def arrange(narrow: bool) -> Part:
        def scored(height: Sequence[float], words: str) -> Part:
            wide, high = 190, 96
            last = len(height) - 1
            points = [(8 + wide * step / last, 8 + high * (1 - value)) for step, value in enumerate(height)]
            marks = [curve(points, colour="grey")]
            for place in (0, last // 2, last):
                x, y = points[place]
                best = height[place] == max(height)
                marks += [
                    line(x, y, x, high + 22, colour="faint"),
                    circle(x, y, 6, colour="key", fill="key" if best else "paper"),
                    circle(x, high + 22, 3, colour="key", fill="key"),
                ]
            return column(over(wide + 16, high + 28, *marks), note(words, width=200), gap=6)

        steps = range(41)
        ramp = [0.1 + 0.8 * step / 40 for step in steps]
        hump = [math.exp(-(((step - 20) / 13) ** 2)) * 0.9 for step in steps]
        one = scored(ramp, "a product is a ramp: one of the ends wins")
        other = scored(hump, "a hidden layer can bend: the middle may win")
        return across(narrow, one, other, gap=50)

    draw(
        arrange,
        alt="Three keys in a row and their scores, twice. On the left the scores lie on a straight ramp, "
        "and the last key has the highest. On the right they lie on a hump, and the key in the middle has "
        "the highest.",
    )


def what_is_written(n: int, m: int, hidden: int) -> None:
    """`what_is_written(256, 256, 64)` has the table of the dot product beside the block that tanh needs."""

    def arrange(narrow: bool) -> Part:
        def sheets(count: int, colour: str) -> Part:
            wide, high, step = 84, 64, 5
            places = [Place(step * (count - 1 - i), step * i, wide, high) for i in range(count)]
            marks = [
                rectangle(place, None, fill="paper") + rectangle(place, colour, fill=colour, opacity=0.16)
                for place in places
            ]
            return over(wide + step * (count - 1), high + step * (count - 1), *marks)

        def told(part: Part, title: str, shape: str, words: str) -> Part:
            return column(text(title, bold=True), part, text(shape, size=13), note(words, width=170), gap=5)

        each = "every hidden number is written, squashed, and read again"
        one = told(sheets(1, "output"), "dot product", f"{n} × {m}", "added up before anything is written")
        block = told(sheets(10, "key"), "additive", f"{n} × {m} × {hidden}", each)
        arrow = text("→  summed with v  →") if not narrow else text("↓ summed with v")
        table = told(sheets(1, "output"), "its scores", f"{n} × {m}", "")
        return across(narrow, one, across(narrow, block, arrow, table, gap=10), gap=36)

    draw(
        arrange,
        alt=f"The dot product writes one sheet of {n} by {m} numbers. The additive score first writes a "
        f"stack of {hidden} such sheets, one for each hidden number, and then sums them up to one.",
    )
