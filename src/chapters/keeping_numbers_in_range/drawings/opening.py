"""The drawings of the chapter's idea, “One vector, by hand” and “Which numbers share a mean?”."""

import itertools

from torch import Tensor

from bookkit.pictures.drawings import (
    Part,
    column,
    draw,
    grid,
    note,
    over,
    row,
    text,
)
from bookkit.pictures.svg import SMALL, Place, label, line, rectangle
from chapters.keeping_numbers_in_range.drawings.pieces import _plus, _step


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
            note("every layer only adds to what passes: the first hears no less than the last", width=width),
            gap=4,
        )
        return column(first, second, gap=26)

    draw(
        arrange,
        alt="Above, a chain of layers, each of which replaces what comes in: the line that joins them gets "
        "thinner from layer to layer until nothing is left. Below, a broad road on which the signal passes; "
        "each layer stands beside it, reads from it and adds its answer, and the road stays broad.",
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
