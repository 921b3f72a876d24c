"""Tiles of a table that are skipped, texts that share a row, and scores that go through a rule."""

import math
from itertools import product

import torch

from attnlab import masks
from bookkit.pictures.drawings import TINT, Part, across, as_text, column, draw, left_note, note, over, text
from bookkit.pictures.svg import SMALL, Place, circle, label, line, rectangle

TEXTS = (("the", "cat", "sat", "end"), ("yes", "!", "end"), ("it", "ran", "end"))
SCORES, SLOPE, CAP = (6.0, 2.0, -1.0, 3.0, 1.0), 0.5, 3.0


def tiles() -> None:
    """`tiles()` cuts a causal window of five, on twelve places, into tiles of two by two pairs."""
    places, width, side, count = 12, 5, 2, 6
    seen = masks.window(places, width)[0]  # (12, 12)
    cut = seen.view(count, side, count, side).transpose(1, 2).flatten(2)  # (6, 6, 4): the pairs of a tile
    some, every = cut.any(-1), cut.all(-1)

    def arrange(narrow: bool) -> Part:
        cell, left, top = (22.0, 52.0, 22.0) if narrow else (26.0, 60.0, 22.0)
        tile, right, bottom = cell * side, left + cell * places, top + cell * places
        marks = label((left + right) / 2, 13, "key: looked at", size=SMALL, colour="key")
        for words, level in (("query:", 0), ("looks", 17)):
            marks += label(left - 10, top + 26 + level, words, size=SMALL, colour="query", anchor="end")
        for i, j in product(range(places), repeat=2):
            at, pair = (i // side, j // side), Place(left + cell * j, top + cell * i, cell, cell)
            if some[at]:  # a tile that is skipped isn't even parted into pairs
                strong = 0.8 if every[at] else 0.45 if seen[i, j] else TINT
                marks += rectangle(pair, "faint", fill="key", opacity=strong)
        for i, j in product(range(count), repeat=2):
            marks += rectangle(Place(left + tile * j, top + tile * i, tile, tile), "grey")
        # On a phone the names stand below the last row of tiles, which has all three kinds.
        pointed = {
            "empty: skipped": ((54, bottom + 34), (5, 0)) if narrow else ((right + 46, top + 78), (1, 5)),
            "part: masked": ((167, bottom + 34), (5, 3)) if narrow else ((right + 46, bottom - 78), (4, 4)),
            "whole: no mask": ((270, bottom + 34), (5, 4)) if narrow else ((right + 46, bottom + 22), (5, 4)),
        }
        for words, ((x, y), (i, j)) in pointed.items():
            end = left + tile * (j + 0.6), top + tile * (i + 0.5)
            start = (x, y - 10) if narrow else (x - 6, y)
            marks += line(*start, *end, colour="ink") + circle(*end, 2, colour="ink", fill="ink")
            marks += label(x, y + 4.5, words, size=SMALL, anchor="middle" if narrow else "start", bold=True)
        return over(right + (4 if narrow else 150), bottom + 38, marks)

    computed, whole = int(some.sum()), int(every.sum())
    draw(
        arrange,
        alt=f"A table of {places} queries, its rows, and {places} keys, its columns, in {count**2} tiles "
        f"of {side} by {side}. A query may look at the last {width} keys, a band along the diagonal. Empty: "
        f"{count**2 - computed} tiles, skipped. Part: {computed - whole}, masked. Whole: {whole}, no mask.",
    )


def documents() -> None:
    """`documents()` has three texts in one row, and what each of their pieces may look at."""
    pieces = [piece for each in TEXTS for piece in each]
    numbers = torch.tensor([number for number, each in enumerate(TEXTS) for _ in each])
    before = masks.causal(len(pieces))[0]
    own = before & (numbers[:, None] == numbers)

    def table(wide: float, high: float, left: float) -> Part:
        top, start, marks = 48.0, 0, ""
        for i, piece in enumerate(pieces):
            middle, level, ends = left + wide * (i + 0.5), top + high * (i + 0.5) + 4.5, piece == "end"
            colour = "grey" if ends else "ink"
            marks += rectangle(Place(middle - wide / 2 + 1, 20, wide - 2, 24), "key", corner=4)
            marks += label(middle, 37, piece, size=SMALL, colour=colour, bold=ends)
            marks += label(left - 8, level, piece, size=SMALL, colour=colour, bold=ends, anchor="end")
            for j in range(len(pieces)):
                inside, role = (
                    Place(left + wide * j, top + high * i, wide, high),
                    "key" if own[i, j] else "grey",
                )
                fill = role if before[i, j] else None
                marks += rectangle(inside, "faint", fill=fill, opacity=0.55 if own[i, j] else 0.25)
        for number, each in enumerate(TEXTS):
            x, size = left + wide * start, len(each)
            marks += label(x + wide * size / 2, 13, f"text {number}", size=SMALL, bold=True)
            marks += rectangle(Place(x, top + high * start, wide * size, high * size), "key")
            start += size
        return Part(left + wide * len(pieces), top + high * len(pieces), marks)

    def arrange(narrow: bool) -> Part:
        words = (
            "Orange: what comes before in its own text.",
            "Grey: other texts, at which a causal rule alone would let it look.",
        )
        lines = [left_note(each, 310 if narrow else 190) for each in words]
        drawn = table(28, 20, 34) if narrow else table(40, 25, 44)
        return across(narrow, drawn, column(*lines, align="left"), gap=12 if narrow else 30)

    listed = "; ".join(f"text {number}: {' '.join(each)}" for number, each in enumerate(TEXTS))
    draw(
        arrange,
        alt=f"A row of {len(pieces)} pieces of three texts, each with its end sign: {listed}. Below, a table "
        f"with a row for each as a query. Three triangles along the diagonal: {int(own.sum())} looks within "
        f"a text. Grey, below them: {int(before.sum() - own.sum())} more, by a causal rule alone.",
    )


def changed_scores() -> None:
    """`changed_scores()` has five scores of one query, before and after ALiBi and a soft cap."""
    last = len(SCORES) - 1
    penalised = [score - SLOPE * (last - key) for key, score in enumerate(SCORES)]
    capped = [CAP * math.tanh(score / CAP) for score in SCORES]
    alibi, cap = f"score − {SLOPE:g} · places back", f"{CAP:g} · tanh(score / {CAP:g})"

    def bars(after: list[float], limits: tuple[float, ...]) -> Part:
        left, cell, unit, thick = 54.0, 46.0, 13.0, 15.0
        zero, right = unit * max(SCORES) + 4, left + cell * len(SCORES)
        below = zero + unit * CAP + 24  # the lower limit stands above it
        marks = line(left, zero, right, zero, width=1)
        for each in limits:
            level = zero - unit * each
            marks += line(left, level, right, level, dashed=True)
            marks += label(left - 6, level + 5, as_text(each, 0), size=SMALL, anchor="end")
        for key, (old, new) in enumerate(zip(SCORES, after, strict=True)):
            middle = left + cell * (key + 0.5)
            for value, x, role, opacity in ((old, middle - thick, "grey", 0.2), (new, middle, "ink", 0.7)):
                bar = Place(x, zero - max(0.0, unit * value), thick, unit * abs(value))
                marks += rectangle(bar, role, fill=role, opacity=opacity)
            marks += label(middle, below, str(key), size=SMALL, colour="key", bold=True)
            marks += label(middle, below + 20, as_text(old, 0), size=SMALL, colour="grey")
            marks += label(middle, below + 40, as_text(new, 1), size=SMALL, bold=True)
        for down, name, colour in ((0, "key", "key"), (20, "before", "grey"), (40, "after", "ink")):
            marks += label(left - 6, below + down, name, size=SMALL, colour=colour, anchor="end")
        return Part(right, below + 44, marks)

    def arrange(narrow: bool) -> Part:
        left = column(text("ALiBi", bold=True), note(alibi), bars(penalised, ()), gap=4)
        right = column(text("a soft cap", bold=True), note(cap), bars(capped, (CAP, -CAP)), gap=4)
        return across(narrow, left, right, gap=26 if narrow else 50)

    before, first, second = (
        ", ".join(as_text(each, digits) for each in scores)
        for scores, digits in ((SCORES, 0), (penalised, 1), (capped, 1))
    )
    draw(
        arrange,
        alt=f"Scores of the query at place {last} for keys 0 to {last}, as pale bars: {before}. Strong: "
        f"after ALiBi, {alibi}: {first}; after a soft cap, {cap}: {second}. The cap is {CAP:g}.",
    )
