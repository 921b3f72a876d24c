"""Brackets moved, chunks with a state between them, and a layer of a state-space model."""

from collections.abc import Sequence
from functools import partial

import torch

from bookkit.pictures.drawings import (
    TINT,
    Part,
    column,
    draw,
    grid,
    left_note,
    note,
    over,
    padded,
    panel,
    row,
    text,
)
from bookkit.pictures.svg import Place, label, line, rectangle, vector
from chapters.no_table_at_all.models import KINDS as MODELS

KEYS, VALUES, QUERY = ((1, 0), (0, 1), (1, 1)), (2, 4, 1), (2, 1)
CHUNKS, WORDS = 3, 4  # chunks, and words in each
STRONG = 0.45
# What stays, where a word is written, what is read: by the kind of layer.
KINDS = {
    "state-space layer": ("learned", "learned", "learned"),
    "linear attention": ("decay γ", "key", "query"),
    "Mamba": ("by the word", "by the word", "by the word"),
}


def brackets() -> None:
    """`brackets()` has three keys and values that a query finds in two ways: asked one by one, and summed."""
    keys, values, query = (torch.tensor(each) for each in (KEYS, VALUES, QUERY))
    weights, parts = keys @ query, keys * values[:, None]
    state, found = parts.sum(0), int(weights @ values)

    def arrange(narrow: bool) -> Part:
        numbers = partial(grid, digits=0, cell=(28, 26) if narrow else (36, 28))
        side_by_side = partial(row, gap=7)
        k, q = numbers(keys, title="k", colour="key"), numbers(query[None], title="q", colour="query")
        v, o = (
            numbers(values[:, None], title="v", colour="value"),
            numbers([[found]], title="o", colour="output"),
        )
        asked = side_by_side(k, "·", q, "=", numbers(weights[:, None], title="q · k"), "×", v, "→", o)
        summed = column(
            side_by_side(k, "×", v, "=", numbers(parts, title="v k")),
            side_by_side("→", numbers(state[None], title="sum", colour="value"), "·", q, "→", o),
            gap=10,
        )
        cards = (
            column(asked, note("a weight for each word, then a mix"), gap=8),
            column(summed, note("one sum, whatever it will be asked"), gap=8),
        )
        tall = 0.0 if narrow else max(card.height for card in cards)  # side by side they are alike
        panels = [
            panel(padded(card, 0, max(0, tall - card.height) / 2), title)
            for card, title in zip(cards, ("(q Kᵀ) V", "q (Kᵀ V)"), strict=True)
        ]
        return column(*panels, gap=12) if narrow else row(*panels, gap=12)

    one_by_one = ", ".join(map(str, weights.tolist()))
    draw(
        arrange,
        alt=f"Keys {', '.join(map(_row, KEYS))} with the values {', '.join(map(str, VALUES))}, and the query "
        f"{_row(QUERY)}. Asked one by one, the keys give the weights {one_by_one}, and the values mix to "
        f"{found}. Each value times its key, summed up, is {_row(state.tolist())}; the query finds {found} "
        "in that, too.",
    )


def chunks() -> None:
    """`chunks()` is a table of weights of which only the blocks on the diagonal are made."""

    def stairs(cell: float) -> Part:
        side, states = cell * WORDS, 3
        small = 0.62 * side / states
        marks = ""
        for number in range(CHUNKS):
            left = top = side * number
            for i in range(WORDS):
                for j in range(WORDS):
                    place = Place(left + cell * j, top + cell * i, cell, cell)
                    there = j <= i
                    marks += rectangle(
                        place, "grey" if there else "faint", fill="ink" if there else None, opacity=0.3
                    )
            if number == CHUNKS - 1:
                break
            # The state stands where the weights between this chunk and the next would be.
            room = (side - small * states) / 2
            for i in range(states):
                for j in range(states):
                    place = Place(left + room + small * j, top + side + room + small * i, small, small)
                    marks += rectangle(place, "value", fill="value", opacity=STRONG)
            middle = left + side / 2
            marks += vector(middle, top + side - 2, middle, top + side + room - 2, colour="key", width=1.5)
            marks += vector(
                left + side - room + 2, top + 1.5 * side, left + side + 8, top + 1.5 * side,
                colour="query", width=1.5,
            )  # fmt: skip
            if number:
                before = left - side / 2  # the middle of the state before, which goes into this one
                marks += line(before, top + side - room + 2, before, top + 1.5 * side)
                marks += vector(
                    before, top + 1.5 * side, left + room - 2, top + 1.5 * side, colour="grey", width=1.5
                )
        return over(side * CHUNKS, side * CHUNKS, marks)

    def arrange(narrow: bool) -> Part:
        width = 320 if narrow else 360
        words = column(
            left_note(f"Filled: the weights within a chunk, here of {WORDS} words, as a table.", width),
            left_note(
                "Green: the state. Keys and values of a chunk go into it, and queries of the next ask it.",
                width,
            ),
            left_note("Nothing else of the table is made.", width),
            gap=10,
            align="left",
        )
        picture = stairs(20 if narrow else 18)
        return column(picture, words, gap=14) if narrow else row(picture, words, gap=40)

    total = CHUNKS * WORDS
    draw(
        arrange,
        alt=f"A table of {total} by {total} weights. Only {CHUNKS} blocks of {WORDS} by {WORDS} on its "
        "diagonal are made, and of these what lies on or below the diagonal. From each block an arrow leads "
        "down to a small matrix, the state, and from there one to the next block.",
    )


def state_space() -> None:
    """`state_space()` has a state that goes from word to word, what is written, what is read, and by whom."""

    def steps() -> Part:
        across, wide, high = 104.0, 62.0, 34.0
        tops, marks = (0.0, 66.0, 132.0), ""
        names = ("t − 1", "t", "t + 1")
        for place, name in enumerate(names):
            left = across * place
            middle = left + wide / 2
            for top, letter, colour in zip(tops, ("y", "h", "x"), ("output", "value", "value"), strict=True):
                inside = Place(left, top, wide, high)
                marks += rectangle(inside, colour, fill=colour, opacity=TINT, corner=6)
                marks += label(middle, top + high / 2 + 5, f"{letter}_{{{name}}}")
            marks += vector(middle, tops[2] - 1, middle, tops[1] + high + 2, colour="grey", width=1.5)
            marks += vector(middle, tops[1] - 1, middle, tops[0] + high + 2, colour="grey", width=1.5)
            marks += label(middle + 10, tops[2] - 10, "B", colour="key", anchor="start", bold=True)
            marks += label(middle + 10, tops[1] - 10, "C", colour="query", anchor="start", bold=True)
            if place < len(names) - 1:
                level = tops[1] + high / 2
                marks += vector(left + wide + 2, level, left + across - 2, level, colour="grey", width=1.5)
                marks += label(left + (wide + across) / 2 - 2, level - 8, "A", bold=True)
        return over(across * 2 + wide, tops[2] + high, marks)

    def arrange(narrow: bool) -> Part:
        heads = ("A: what stays", "B: where to", "C: what is read")
        if narrow:
            names = ("state space", "linear att.", "Mamba")
            cells = [[name, *told_of] for name, told_of in zip(names, KINDS.values(), strict=True)]
            table = grid(cells, columns=("", "A", "B", "C"), cell=(81, 28), colour="grey")
            return column(padded(steps(), 8, 0), table, gap=22)
        table = grid(list(KINDS.values()), rows=list(KINDS), columns=heads, cell=(104, 34), colour="grey")
        return row(steps(), table, gap=28)

    said = "; ".join(
        f"in {name}, A is {stays}, B {written} and C {read}" for name, (stays, written, read) in KINDS.items()
    )
    draw(
        arrange,
        alt="Three words side by side. Each x goes through B into a state h, the state goes through A on to "
        f"the next word, and through C comes y. What these are: {said}.",
    )


def stacks() -> None:
    """`stacks()` has the three models that are trained, layer by layer: what each of them keeps of a text."""
    kinds = {
        kind: ["state" if i in layers else "attention" for i in range(3)] for kind, layers in MODELS.items()
    }

    def stack(kind: str) -> Part:
        wide, high, marks = 92.0, 30.0, ""
        for level, layer in enumerate(reversed(kinds[kind])):
            inside = Place(0, (high + 6) * level, wide, high)
            colour = "value" if layer == "state" else "key"
            marks += rectangle(inside, colour, fill=colour, opacity=TINT, corner=6)
            marks += label(wide / 2, inside.top + 20, layer)
        caches = kinds[kind].count("attention")
        kept = f"caches: {caches}" if caches else "no cache"
        return column(text(kind, bold=True), over(wide, 3 * high + 12, marks), note(kept), gap=7)

    def arrange(narrow: bool) -> Part:
        return row(*map(stack, kinds), gap=14 if narrow else 50)

    listed = "; ".join(f"{kind}: {', '.join(layers)}" for kind, layers in kinds.items())
    draw(arrange, alt=f"Three models of three layers, the lowest first. {listed}. Attention keeps a cache.")


def _row(numbers: Sequence[float]) -> str:
    return f"({', '.join(f'{number:g}' for number in numbers)})"
