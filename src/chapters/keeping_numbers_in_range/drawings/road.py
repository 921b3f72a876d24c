"""The drawings from “A road with side streets” to “Exercises”."""

from collections.abc import Mapping, Sequence

from bookkit.pictures.drawings import (
    Arrow,
    Part,
    across,
    box,
    column,
    draw,
    grid,
    joined,
    note,
    over,
    padded,
    row,
    text,
)
from bookkit.pictures.svg import SMALL, Place, label, line, rectangle, vector
from chapters.keeping_numbers_in_range.drawings.pieces import _plus, _step

ROAD = 7.0  # how wide the road is: what the layers add to


# ---- the road: what comes in goes on, and blocks add to it ----
def _road(x: float, top: float, bottom: float) -> str:
    return line(x, top, x, bottom, colour="blue", width=ROAD)


def _street(*steps: str, after: str = "", lane: bool = True, end: float = 10) -> Part:
    """`_street("norm", "block")` leaves the road, goes through its steps, and joins it again at a plus.

    What comes `after` stands on the road itself; without a lane there is no road beside the steps.
    """
    boxes = [_step(words, words not in ("norm", "dropout")) for words in steps]
    x, level = 14.0, 22.0
    if not lane:
        (only,) = boxes
        marks = line(only.width / 2, 0, only.width / 2, 92 + end, colour="blue", width=ROAD)
        ground = rectangle(Place(0, 32, only.width, only.height), None, fill="paper", corner=6)
        return over(only.width, 92 + end, marks, ground, (only, 0, 32))
    left, placed, marks = x + 22, [], _road(x, 0, 92 + end)
    marks += line(x, level, x + 22, level)
    for one in boxes:
        placed.append((one, left, level - one.height / 2))
        left += one.width + 10
        marks += line(left - 10, level, left, level)
    marks += line(left, level, left, 70) + line(left, 70, x + 17, 70)
    marks += vector(x + 30, 70, x + 10, 70, colour="grey", width=1.5) + _plus(x, 70)
    height = 92 + end
    if after:
        last = _step(after, learned=False)
        top = 92.0
        ground = rectangle(Place(0, top, last.width, last.height), None, fill="paper", corner=6)
        shift = last.width / 2 - x
        inside = over(left + 4, height, marks, *placed)
        height = top + last.height + end
        more = _road(shift + x, 84, height)
        return over(shift + left + 4, height, (inside, shift, 0), more, ground, (last, 0, top))
    return over(left + 4, height, marks, *placed)


def arrangements(formulas: Mapping[str, str], *, only: str = "") -> None:
    """`arrangements({"plain": "block(x)"})` draws the ways to put a block into a stack."""

    def arrange(narrow: bool) -> Part:
        ways = {
            "plain": _street("block", lane=False),
            "residual": _street("block"),
            "post-norm": _street("block", after="norm"),
            "pre-norm": _street("norm", "block"),
        }
        parts = []
        for name, way in ways.items():
            fitted = over(max(way.width, 140), 130, (way, (max(way.width, 140) - way.width) / 2, 0))
            words = column(text(name, bold=True), note(formulas[name]), gap=0)
            parts.append(column(words, fitted, gap=8))
        if narrow:
            return column(row(*parts[:2], gap=12), row(*parts[2:], gap=6), gap=18)
        return row(*parts, gap=26, align="top")

    told = "; ".join(f"{name}, {formula}" for name, formula in formulas.items())
    draw(
        arrange,
        alt=f"Four ways to put a block into a stack: {told}. In the plain one the block stands on the road "
        "itself. In the residual one the road passes, and the block stands in a side street that joins it "
        "again at a plus. Post-norm has a norm on the road, after the plus; pre-norm has it in the side "
        "street, before the block, and nothing stands on the road.",
    )


# ---- clipping ----
def clipped(gradient: Sequence[float], limit: float) -> None:
    """`clipped([6, 1.5], limit=2)` shortens an arrow as a whole, and number by number."""
    x, y = gradient
    length = (x**2 + y**2) ** 0.5
    ways = {
        "by the norm": ((x * limit / length, y * limit / length), "shorter, and the same way down"),
        "number by number": ((min(x, limit), min(y, limit)), "shorter, and turned"),
    }

    def one(name: str, short: tuple[float, float], words: str, unit: float) -> Part:
        left, foot = 12.0, 12 + unit * 2.2
        marks = line(left, foot, left + unit * 6.4, foot, colour="faint")
        marks += line(left, foot, left, 8, colour="faint")
        marks += vector(left, foot, left + unit * x, foot - unit * y, colour="grey", width=2)
        marks += vector(
            left, foot, left + unit * short[0], foot - unit * short[1], colour="orange", width=3.5
        )
        marks += label(
            left + unit * x, foot - unit * y - 8, f"({x:g}, {y:g})", size=SMALL, colour="grey", anchor="end"
        )
        ends = f"({short[0]:.2f}, {short[1]:.2f})"
        marks += label(left + 4, foot + 17, ends, size=SMALL, colour="orange", anchor="start")
        return column(text(name, bold=True), over(left + unit * 6.4, foot + 22, marks), note(words), gap=4)

    def arrange(narrow: bool) -> Part:
        parts = [one(name, short, words, 44.0) for name, (short, words) in ways.items()]
        return across(narrow, *parts, gap=24 if narrow else 60)

    told = "; ".join(f"{name}, ({a:.2f}, {b:.2f}): {words}" for name, ((a, b), words) in ways.items())
    draw(arrange, alt=f"A long gradient, ({x:g}, {y:g}), and what a limit of {limit:g} leaves of it. {told}.")


# ---- a whole layer ----
def encoder_layer() -> None:
    """`encoder_layer()` is a pre-norm layer with its two side streets, and where dropout goes."""

    def arrange(narrow: bool) -> Part:
        first = _street("norm", "attention", "dropout", end=0)
        second = _street("norm", "feed-forward", "dropout", end=14)
        road = column(first, second, gap=0, align="left")
        whole = column(note("the road: (B, T, d_{model})"), road, gap=3, align="left")
        words = (
            "tokens read each other; its weights are dropped, too",
            "each token by itself; its hidden numbers are dropped, too",
        )
        notes = column(*(note(each, width=150) for each in words), gap=44, align="left")
        return whole if narrow else row(whole, notes, gap=30)

    draw(
        arrange,
        alt="A road that two side streets leave and join again at a plus. In the first stand norm, "
        "attention and dropout; in the second norm, feed-forward and dropout. The attention's weights and "
        "the feed-forward network's hidden numbers are dropped, too.",
    )


# ---- mistakes ----
def mistaken(spreads: Mapping[str, Sequence[float]], columns: Sequence[str]) -> None:
    """`mistaken({"right": [1, 0.03]}, ["variance 4", "variance 1e-10"])` has a row for each way to do it."""
    cells = [[f"{float(f'{number:.2g}'):g}" for number in each] for each in spreads.values()]

    def arrange(narrow: bool) -> Part:
        return grid(
            cells,
            rows=list(spreads),
            columns=columns,
            colour="output",
            cell=(84, 30) if narrow else (130, 32),
        )

    told = "; ".join(f"{name}: {', '.join(each)}" for name, each in zip(spreads, cells, strict=True))
    draw(arrange, alt=f"The spread of what comes out, for inputs of {' and of '.join(columns)}. {told}.")


# ---- the experiment ----
def without_norm() -> None:
    """`without_norm()` is the road of the experiment: its junction is yours."""

    def arrange(narrow: bool) -> Part:
        given = box("x", name="x", colour="query", learned=True)
        block = _step("block", learned=True, name="block")
        yours = box(
            column(text("?", size=20, bold=True), note("+ and × only"), gap=0), name="yours", width=110
        )
        after = box("next x", name="after", colour="query", learned=True)
        whole = row(
            given, column(padded(block, 0, 2), text(" "), gap=12), yours, after, gap=20 if narrow else 46
        )
        return joined(
            whole,
            Arrow("x", "block", sides=("top", "left")),
            Arrow("block", "yours", sides=("right", "left")),
            Arrow("x", "yours", colour="blue", sides=("right", "left")),
            Arrow("yours", "after", colour="blue"),
        )

    draw(
        arrange,
        alt="x, and what a block makes of it, arrive at a box with a question mark: plus and times only. "
        "What comes out is the next layer's x. Twelve layers follow each other.",
    )
