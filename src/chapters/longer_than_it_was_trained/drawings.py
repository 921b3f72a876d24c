"""Why longer texts go wrong: how far each pair turned within the training length, and where it gets to."""

import math
from collections.abc import Mapping

from torch import Tensor

from bookkit.pictures.drawings import Part, column, draw, left_note, over, row
from bookkit.pictures.svg import SMALL, SMALLEST, Place, circle, label, line, polygon, rectangle, vector


def _point(angle: float, radius: float) -> tuple[float, float]:
    """On a clock: 0 is at the top, and angles go on to the right."""
    return radius * math.sin(angle), -radius * math.cos(angle)


def _swept(x: float, y: float, radius: float, angle: float) -> str:
    """What a hand has gone over, from the top."""
    steps = [angle * step / 48 for step in range(49)]
    corners = [(x, y), *((x + dx, y + dy) for dx, dy in (_point(each, radius) for each in steps))]
    return polygon(corners, "blue", opacity=0.25)


def _turns(frequency: float, longest: int) -> str:
    turns = longest * frequency / (2 * math.pi)
    return f"{turns:.2g} turns" if turns >= 0.1 else f"{turns:.1g} turns"


def turned(frequencies: Tensor, longest: int, distance: int, again: bool = False) -> None:
    """`turned(model.frequencies, 128, 512)` has a clock for each pair: what it went over, and where it is.

    `again` is for the second on a page, whose words are known.
    """
    each = frequencies.tolist()
    reached = [min(2 * math.pi, (longest - 1) * frequency) for frequency in each]
    stands = [distance * frequency % (2 * math.pi) for frequency in each]
    never = [angle > seen for angle, seen in zip(stands, reached, strict=True)]

    def clock(pair: int, radius: float) -> Part:
        width, top = 2 * radius + 10, 40.0
        x, y = width / 2, top + radius
        marks = label(x, 14, f"{each[pair]:.2g}", size=SMALL)
        marks += label(x, 31, _turns(each[pair], longest), size=SMALLEST, colour="grey")
        if reached[pair] < 2 * math.pi:
            marks += _swept(x, y, radius, reached[pair])
            marks += circle(x, y, radius)
        else:
            marks += rectangle(
                Place(x - radius, y - radius, 2 * radius, 2 * radius), None,
                fill="blue", opacity=0.25, corner=radius,
            )  # fmt: skip
            marks += circle(x, y, radius)
        dx, dy = _point(stands[pair], radius)
        marks += vector(x, y, x + dx, y + dy, colour="orange" if never[pair] else "ink", width=2)
        if never[pair]:
            marks += label(x, y + radius + 17, "never", size=SMALLEST, colour="orange", bold=True)
        return over(width, y + radius + 22, marks)

    def arrange(narrow: bool) -> Part:
        clocks = [clock(pair, 32 if narrow else 37) for pair in range(len(each))]
        half = len(clocks) // 2
        shown = (
            column(row(*clocks[:half], gap=4), row(*clocks[half:], gap=4), gap=12)
            if narrow
            else row(*clocks, gap=6)
        )
        known = (
            f"Above: radians a place, and turns within {longest} places. Shaded: what the hand went over in "
            "training. "
        )
        key = left_note(
            ("The same clocks. " if again else known)
            + f"The hand: where it stands {distance} places on."
            + (" Never: at an angle that it had not reached." if any(never) else ""),
            310 if narrow else 700,
        )
        return column(shown, key, gap=12, align="left")

    words = "; ".join(
        f"{frequency:.2g} radians a place, {_turns(frequency, longest)}, " + ("never seen" if out else "seen")
        for frequency, out in zip(each, never, strict=True)
    )
    draw(
        arrange,
        alt=f"Eight clocks, one for each pair: how much of the circle its hand went over within {longest} "
        f"places, and where it stands {distance} places on. {words}.",
    )


def slowed(ways: Mapping[str, Tensor], frequencies: Tensor) -> None:
    """`slowed({"interpolated": slower}, frequencies)` has what each remedy leaves of each pair's turns."""
    shares = {name: (made / frequencies).tolist() for name, made in ways.items()}

    def panel(name: str, wide: float) -> Part:
        step, high, top = wide / len(shares[name]), 66.0, 26.0
        marks = label(0, 14, name, size=SMALL, anchor="start", bold=True)
        for pair, share in enumerate(shares[name]):
            x, tall = step * pair, high * share
            frame = Place(x + 2, top, step - 4, high)
            marks += rectangle(frame, "faint")
            bar = Place(x + 2, top + high - tall, step - 4, tall)
            marks += rectangle(bar, None, fill="blue", opacity=0.4)
        marks += line(0, top + high, wide, top + high, width=1)
        marks += label(0, top + high + 17, "fast pairs", size=SMALLEST, colour="grey", anchor="start")
        marks += label(wide, top + high + 17, "slow pairs", size=SMALLEST, colour="grey", anchor="end")
        return over(wide, top + high + 22, marks)

    def arrange(narrow: bool) -> Part:
        panels = [panel(name, 240 if narrow else 200) for name in shares]
        return column(*panels, gap=12, align="left") if narrow else row(*panels, gap=36)

    words = "; ".join(
        f"{name}: {', '.join(f'{share:.2f}' for share in each)}" for name, each in shares.items()
    )
    draw(arrange, alt=f"What is left of each pair's turns, from the fastest to the slowest. {words}.")


def read_before(length: int, back: int, last: int) -> None:
    """`read_before(512, 300, 32)` is a text whose last 32 pieces have stood 300 places before, too."""

    def arrange(narrow: bool) -> Part:
        scale = (306 if narrow else 660) / length
        starts = length - last - back, length - last
        marks = rectangle(Place(0, 46, scale * length, 28), "grey")
        for start in starts:
            where = Place(scale * start, 46, scale * last, 28)
            marks += rectangle(where, "value", fill="value", opacity=0.55)
        first, again = (scale * (start + last / 2) for start in starts)
        marks += line(again, 43, again, 24, colour="query") + line(again, 24, first, 24, colour="query")
        marks += vector(first, 24, first, 43, colour="query", width=1.5)
        marks += label((first + again) / 2, 16, f"{back} places", size=SMALL)
        marks += label(first, 92, "a passage", size=SMALL) + label(
            scale * length, 92, "again", size=SMALL, anchor="end"
        )
        return over(scale * length + 14, 98, marks)

    draw(
        arrange,
        alt=f"A text of {length} pieces as a bar. A passage of {last} stands in it, and again at its end, "
        f"{back} places behind. An arrow leads from there back to the first.",
    )
