"""The drawings from “Longer than anything in training” to “What we measured”."""

import math
from collections.abc import Sequence

from torch import Tensor

from bookkit.pictures.drawings import (
    Part,
    across,
    column,
    draw,
    grid,
    note,
    over,
    text,
)
from bookkit.pictures.svg import Place, circle, curve, label, line, rectangle


# ---- longer than in training ----
def half_a_turn(waves: dict[str, float], trained: int, longest: int) -> None:
    """`half_a_turn({"63 positions": 63.0}, 24, 192)` draws what distance does to a score in each scheme."""

    def fallen(distance: float, wave: float) -> float:
        """How far a score has come down: a straight line where the hand never turns back."""
        return distance / longest if wave == math.inf else (1 - math.cos(math.tau * distance / wave)) / 2

    def arrange(narrow: bool) -> Part:
        wide, high = (210.0 if narrow else 420.0), 44.0
        seen = rectangle(Place(0, 0, wide * trained / longest, high), None, fill="grey", opacity=0.16)
        rows = []
        for name, wave in waves.items():
            steps = 1 if wave == math.inf else 48
            falls = [fallen(longest * step / steps, wave) for step in range(steps + 1)]
            points = [(wide * step / steps, 3 + (high - 6) * fall) for step, fall in enumerate(falls)]
            marks = seen + line(0, high, wide, high, colour="faint") + curve(points, colour="blue")
            rows.append(across(narrow, over(wide, high, marks), text(name, size=13), gap=4 if narrow else 14))
        axis = over(
            wide,
            18,
            label(0, 14, "0", size=13, colour="grey", anchor="start"),
            label(wide * trained / longest, 14, str(trained), size=13, colour="grey"),
            label(wide, 14, str(longest), size=13, colour="grey", anchor="end"),
        )
        told = note("distance between query and key; grey: seen in training", width=wide)
        return column(*rows, axis, told, gap=7, align="left")

    draw(
        arrange,
        alt=f"What distance, from 0 to {longest}, takes off a score; training has shown distances below "
        f"{trained}. "
        + " ".join(
            f"{name}: it falls all the way."
            if wave >= 2 * longest
            else f"{name}: it falls to {wave / 2:.0f}, then rises again."
            for name, wave in waves.items()
        ),
    )


VERDICTS = {
    "sinusoidal, learned": ("no", "no"),
    "rotary": ("to half a turn", "16 wide: 0.9"),
    "ALiBi": ("no", "yes"),
}


def verdicts() -> None:
    """`verdicts()` says of each scheme which job it still does at eight times the training length."""

    def arrange(narrow: bool) -> Part:
        return grid(
            [*VERDICTS.values()],
            rows=list(VERDICTS),
            columns=["copying", "latest value"],
            cell=(96 if narrow else 130, 30),
        )

    words = "; ".join(f"{scheme}: {copies}, {finds}" for scheme, (copies, finds) in VERDICTS.items())
    draw(
        arrange,
        alt="Which scheme still copies, and which still finds the latest value, at eight times the training "
        f"length. {words}.",
    )


# ---- mistakes and exercises ----
def tips(right: Tensor, broken: Tensor) -> None:
    """`tips(right, broken)` draws where the tip of the first hand is, at each position, in both tables."""

    def dial(rows: Tensor, title: str, told: str) -> Part:
        radius, middle = 62.0, 72.0
        marks = circle(middle, middle, radius, colour="faint")
        for sine, cosine in rows[:, :2].tolist():
            marks += circle(middle + radius * sine, middle - radius * cosine, 4, colour="blue", fill="blue")
        return column(text(title, bold=True), over(2 * middle, 2 * middle, marks), note(told), gap=4)

    draw(
        lambda narrow: across(
            narrow,
            dial(right, "right", "always on the rim"),
            dial(broken, "broken", "in the middle, on the rim, outside"),
            gap=60,
        ),
        alt=f"The first two columns of {len(right)} rows as points. In the right table all lie on a circle, "
        "where the tip of a hand goes round. In the broken one they are scattered over a square, and row 0 "
        "is in the middle.",
    )


def pairings(width: int = 8) -> None:
    """`pairings()` shows which columns turn together: neighbours, or columns half the width apart."""

    def ties(pairs: Sequence[tuple[int, int]], title: str) -> Part:
        cell = 34.0
        cells = grid([[str(place) for place in range(width)]], colour="query", cell=(cell, cell))
        marks = ""
        for first, second in pairs:
            start, end = cell * (first + 0.5), cell * (second + 0.5)
            middle, reach = (start + end) / 2, (end - start) / 2
            points = [
                (middle - reach * math.cos(turn * math.pi / 16), 40 - 36 * math.sin(turn * math.pi / 16))
                for turn in range(17)
            ]
            marks += curve(points, colour="blue")
        return column(
            text(title, size=13, bold=True),
            over(cells.width, cells.height + 42, marks, (cells, 0, 42)),
            gap=4,
        )

    half = width // 2
    draw(
        lambda narrow: across(
            narrow,
            ties([(place, place + 1) for place in range(0, width, 2)], "the paper: neighbours"),
            ties([(place, place + half) for place in range(half)], "many libraries: halves"),
            gap=36,
        ),
        alt=f"{width} columns, and which of them turn together. In the paper 0 with 1, 2 with 3 and so on; "
        f"in many libraries 0 with {half}, 1 with {half + 1} and so on.",
    )
