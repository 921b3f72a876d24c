"""The drawings, made from the chapter's own numbers."""

import itertools
from collections.abc import Mapping, Sequence

from torch import Tensor

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
from bookkit.pictures.svg import SMALL, Place, circle, label, line, rectangle, vector

ROAD = 7.0  # how wide the road is: what the layers add to


# ---- the road: what comes in goes on, and blocks add to it ----


def _road(x: float, top: float, bottom: float) -> str:
    return line(x, top, x, bottom, colour="blue", width=ROAD)


def _plus(x: float, y: float) -> str:
    return circle(x, y, 9, colour="blue", fill="paper") + label(x, y + 5, "+")


def _step(words: str, learned: bool, name: str = "") -> Part:
    return box(
        text(words, size=SMALL), name=name, colour="purple" if learned else "grey", learned=learned, padding=7
    )


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


def idea() -> None:
    """`idea()` has a chain of layers that replace what comes, above a road to which they add."""

    def replaced(count: int, step: float) -> Part:
        marks = ""
        for place in range(count + 1):
            width = 14 * 0.5**place
            marks += line(step * place, 20, step * (place + 1), 20, colour="blue", width=max(width, 0.7))
        boxes = [_step("layer", learned=True) for _ in range(count)]
        placed: list[tuple[Part, float, float] | str] = [marks]
        for place, one in enumerate(boxes, start=1):
            left = step * place - one.width / 2
            ground = Place(left, 20 - one.height / 2, one.width, one.height)
            placed += [
                rectangle(ground, None, fill="paper", corner=6),
                (one, left, 20 - one.height / 2),
            ]
        return over(step * (count + 1), 40, *placed)

    def added(count: int, step: float) -> Part:
        marks = line(0, 20, step * (count + 1), 20, colour="blue", width=14)
        placed: list[tuple[Part, float, float] | str] = []
        for place in range(1, count + 1):
            one = _step("layer", learned=True)
            middle = step * place
            left = middle - one.width / 2
            marks += line(left - 9, 20, left - 9, 66) + line(left - 9, 66, left, 66)
            right = left + one.width
            marks += line(right, 66, right + 9, 66)
            marks += line(right + 9, 66, right + 9, 30) + _plus(right + 9, 20)
            placed.append((one, left, 66 - one.height / 2))
        return over(step * (count + 1), 84, marks, *placed)

    def arrange(narrow: bool) -> Part:
        count, step = (3, 82.0) if narrow else (6, 100.0)
        width = 320 if narrow else None
        first = column(
            text("replace: each layer hands on its own answer", bold=True, width=width),
            replaced(count, step),
            note("every layer makes the signal smaller, and its way back, too: nothing learns", width=width),
            gap=4,
        )
        second = column(
            text("add: the signal stays on its road", bold=True, width=width),
            added(count, step),
            note("every layer only adds to what passes: the first hears as much as the last", width=width),
            gap=4,
        )
        return column(first, second, gap=26)

    draw(
        arrange,
        alt="Above, a chain of layers, each of which replaces what comes in: the line that joins them gets "
        "thinner from layer to layer until nothing is left. Below, a broad road on which the signal passes; "
        "each layer stands beside it, reads from it and adds its answer, and the road stays broad.",
    )


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


# ---- one vector by hand ----


def by_hand(vector_of_five: Tensor) -> None:
    """`by_hand(tensor([1, 3, 4, 5, 7]))` takes the mean away and divides by the root of the variance."""
    mean = vector_of_five.mean()
    centred = vector_of_five - mean
    variance = centred.square().mean()
    steps = (
        ("x", vector_of_five, 0, f"mean {mean:g}"),
        ("− mean", centred, 0, f"mean 0, variance {variance:g}"),
        ("÷ √variance", centred / variance.sqrt(), 1, "mean 0, variance 1"),
    )

    def arrange(narrow: bool) -> Part:
        cell = (44.0, 30.0) if narrow else (56.0, 32.0)
        grids = []
        for place, (name, numbers, digits, words) in enumerate(steps):
            numbers_of = grid(
                numbers[None],
                name=f"step {place}",
                digits=digits,
                cell=cell,
                colour="output" if place == 2 else "grey",
            )
            title, said = text(name, bold=True), note(words)
            if narrow:
                grids.append(column(row(title, said, gap=10), numbers_of, gap=4))
            else:
                left = over(110, title.height, (title, 110 - title.width, 0))
                right = over(160, said.height, (said, 0, 0))
                grids.append(row(left, numbers_of, right, gap=16))
        return column(*grids, gap=12 if narrow else 10)

    def listed(numbers: Tensor) -> str:
        return ", ".join(f"{number:g}" for number in numbers.tolist())

    told = "; ".join(f"{name}: {listed(numbers)} ({words})" for name, numbers, _, words in steps)
    draw(arrange, alt=f"Five numbers in three steps. {told}.")


# ---- which numbers share a mean ----


def shared(examples: int, tokens: int, width: int, *, blank: bool = False) -> None:
    """`shared(2, 10, 5)` marks in a box of numbers which of them share a mean; a blank one marks none."""
    size = 14.0

    def sheets(marked: str) -> Part:
        marks = ""
        for example in range(examples):
            left = example * (width * size + 18)
            for token, feature in itertools.product(range(tokens), range(width)):
                place = Place(left + feature * size, 20 + token * size, size, size)
                layer = marked == "layer" and example == 0 and token == 3
                batch = marked == "batch" and feature == 1
                colour = "output" if layer else "key" if batch else "grey"
                marks += rectangle(place, colour, fill=colour, opacity=0.55 if layer or batch else 0.06)
            marks += label(left + width * size / 2, 13, f"example {example + 1}", size=SMALL, colour="grey")
        return over(examples * (width * size + 18) - 18, 20 + tokens * size, marks)

    def arrange(narrow: bool) -> Part:
        if blank:
            return row(
                sheets(""), note(f"({examples}, {tokens}, {width}): a row for each token", width=110), gap=14
            )
        first = column(
            text("layer norm", bold=True, colour="output"),
            sheets("layer"),
            note(f"one token: {width} numbers", width=None),
            gap=5,
        )
        second = column(
            text("batch norm", bold=True, colour="key"),
            sheets("batch"),
            note(f"one feature: {examples * tokens} numbers", width=None),
            gap=5,
        )
        return column(first, second, gap=20) if narrow else row(first, second, gap=90)

    if blank:
        alt = f"{examples} sheets of numbers, one for each example: {tokens} rows of {width}."
    else:
        alt = (
            f"Twice the same box of numbers: {examples} examples with {tokens} tokens of {width} numbers. "
            "For layer norm one row of one example is marked, the numbers of a single token. For batch norm "
            "one column is marked in every example: one feature of all tokens of all examples."
        )
    draw(arrange, alt=alt)


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
