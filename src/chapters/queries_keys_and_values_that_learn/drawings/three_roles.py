"""The drawings of “One vector can't play three roles”, “A game of tag” and “Training, in ten lines”."""

import math
from collections.abc import Sequence
from itertools import pairwise

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
    row,
    text,
)
from bookkit.pictures.svg import arrowhead, curve, label, vector
from chapters.queries_keys_and_values_that_learn.drawings.pieces import ROLES


def three_products(words: Sequence[str], vectors: Tensor, *matrices: Tensor) -> None:
    """`three_products(words, X, W_Q, W_K, W_V)` has the three products with their shapes and numbers."""
    results = [vectors @ matrix for matrix in matrices]

    def arrange(narrow: bool) -> Part:
        cell = (34, 26) if narrow else (36, 28)

        def table(numbers: Tensor, title: str, colour: str, rows: Sequence[str] = ()) -> Part:
            shape = f"({len(numbers)}, {numbers.shape[-1]})"
            return grid(numbers, title=title, colour=colour, rows=rows, digits=0, cell=cell, shape=shape)

        given = table(vectors, "X", "grey", words)
        lanes = [
            column(
                row(
                    *((given, "×") if narrow else ()),
                    table(matrix, title, colour),
                    "=",
                    table(result, letter, colour),
                    gap=7,
                ),
                note(words_of),
                gap=2,
            )
            for (colour, title, _, words_of), letter, matrix, result in zip(
                ROLES, "QKV", matrices, results, strict=True
            )
        ]
        return column(*lanes, gap=16) if narrow else row(given, text("×"), row(*lanes, gap=18), gap=9)

    def told(numbers: Tensor) -> str:
        return "; ".join(
            f"{word} {', '.join(f'{number:g}' for number in own)}"
            for word, own in zip(words, numbers.tolist(), strict=True)
        )

    draw(
        arrange,
        alt="X, a row of numbers for each word, is multiplied by three matrices. The queries are "
        f"{told(results[0])}. The keys are {told(results[1])}. The values are {told(results[2])}.",
    )


def game_of_tag(names: Sequence[str], chased: Sequence[int], scarves: Sequence[str]) -> None:
    """`game_of_tag(["fox", "owl"], [1, 0], ["red", "blue"])` has the animals in their ring."""
    order = [0]
    while len(order) < len(names):
        order.append(chased[order[-1]])

    def arrange(narrow: bool) -> Part:
        radius, middle = 110, 165

        def at(place: int, stretch: float = 1) -> tuple[float, float]:
            angle = 2 * math.pi * place / len(order) - math.pi / 2
            return middle + 1.1 * radius * stretch * math.cos(angle), 140 + radius * stretch * math.sin(angle)

        marks = []
        for place, animal in enumerate(order):
            (x1, y1), (x2, y2) = at(place), at(place + 1)
            (from_x, to_x), (from_y, to_y) = (
                (one + 0.3 * (other - one), one + 0.7 * (other - one)) for one, other in ((x1, x2), (y1, y2))
            )
            marks.append(vector(from_x, from_y, to_x, to_y, colour="query", width=1.5))
            marks += [
                label(x1, y1 + 1, names[animal], bold=True, colour="key"),
                label(x1, y1 + 18, scarves[animal], size=13, colour="value"),
            ]
        ring = over(2 * middle, 285, *marks)
        asks, found = names[order[0]], names[order[1]]
        words = column(
            text(f"{asks} asks:", bold=True, colour="query"),
            note("which colour is the scarf of the one I chase?"),
            text(f"found by its name: {found}", bold=True, colour="key"),
            text(f"handed over: {scarves[order[1]]}", bold=True, colour="value"),
            gap=6,
        )
        return across(narrow, ring, words, gap=20)

    told = ", ".join(
        f"the {names[animal]} in {scarves[animal]} chases the {names[chased[animal]]}" for animal in order
    )
    draw(arrange, alt=f"Six animals in a ring: {told}. The {names[order[0]]} asks for the scarf of the "
         f"{names[order[1]]}.")  # fmt: skip


def training_loop() -> None:
    """`training_loop()` is the circle of training: examples, answers, loss, gradient, step."""

    def arrange(narrow: bool) -> Part:
        stops = {
            "examples": ("grey", "games, and the right answers"),
            "attention": ("query", "with its numbers W_Q, W_K, W_V"),
            "loss": ("grey", "how wrong: −log of what the right answer got"),
            "gradient": ("grey", "which way each number makes it worse"),
            "step": ("grey", "each a little the other way"),
        }
        boxes = {
            name: box(name, name=name, colour=colour, learned=name == "attention", width=92)
            for name, (colour, _) in stops.items()
        }
        notes = {name: note(words, width=140) for name, (_, words) in stops.items()}
        ring = [*stops]
        arrows = [Arrow(*pair) for pair in pairwise(ring)]
        if narrow:
            lines = column(*(row(boxes[name], notes[name], gap=12) for name in ring), gap=24, align="left")
            (y, end) = (lines.places[name].point("left")[1] for name in ("step", "attention"))
            back = curve([(30, y), (8, y), (8, end), (22, end)], colour="query", width=1.5)
            back += arrowhead(22, end, (1, 0), 8, "query")
            return joined(over(lines.width + 30, lines.height, (lines, 30, 0), back), *arrows)
        above = [column(notes[name], boxes[name], gap=6) for name in ring[:3]]
        below = [column(boxes[name], notes[name], gap=6) for name in ("step", "gradient")]
        whole = column(
            row(*above, gap=50, align="bottom"), row(*below, gap=50, align="top"), gap=30, align="right"
        )
        return joined(whole, *arrows, Arrow("step", "attention", colour="query"))

    draw(
        arrange,
        alt="A circle. Examples go into the attention, whose learned numbers are W_Q, W_K and W_V. What "
        "comes out gives the loss, the loss gives the gradient, the gradient a small step, and the step "
        "changes the attention.",
    )
