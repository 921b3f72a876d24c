"""The drawings of the exercises: a state that goes on, what is missing in it, chunks, and features."""

from fractions import Fraction
from typing import NamedTuple

import torch

from bookkit.pictures.drawings import TINT, Part, column, draw, grid, note, over, panel, row
from bookkit.pictures.svg import SMALL, Place, label, line, rectangle, vector, width_of
from chapters.no_table_at_all.exercises import check_linear_recurrence
from chapters.no_table_at_all.exercises.wider_features import MOST, WIDTH

DECAY = Fraction(1, 2)
STRONG = 0.45


class Word(NamedTuple):
    """`Word((1, 2), (4, 4), 2)` has a query, a key, and a value of one number."""

    query: tuple[int, int]
    key: tuple[int, int]
    value: int


READ = (Word((2, 1), (4, 4), 2), Word((1, 2), (2, 4), 6), Word((1, 1), (2, 1), 2))


def carried() -> None:
    """`carried()` has three words: what each writes into a state, what is left of it, and what it finds."""
    query, key, value = (
        torch.tensor([getattr(word, name) for word in READ]).float() for name in Word._fields
    )
    found = check_linear_recurrence.reference(query, key, value[:, None], float(DECAY)).flatten()
    states, over_what = [], []
    for t, word in enumerate(READ):
        faded = [DECAY ** (t - s) for s in range(t + 1)]
        states.append([
            sum(left * past.key[i] * past.value for left, past in zip(faded, READ, strict=False))
            for i in range(2)
        ])  # fmt: skip
        asked = sum(each * number for each, number in zip(states[t], word.query, strict=True))
        over_what.append(f"{asked}/{round(float(asked) / found[t].item())} = {found[t].item():.3g}")

    def arrange(narrow: bool) -> Part:
        across, cell, high, marks = 108.0 if narrow else 224.0, 34.0, 21.0, ""
        for t, word in enumerate(READ):
            x = across * (t + 0.5)
            said = (
                [(f"k ({word.key[0]}, {word.key[1]})", "key"), (f"v {word.value}", "value")],
                [(f"q ({word.query[0]}, {word.query[1]})", "query")],
                [(f"o {over_what[t]}", "output")],
            )
            for top, each in zip((0.0, 112.0, 160.0), said, strict=True):
                widths = [width_of(words, SMALL) + 8 for words, _ in each]
                left = x - (sum(widths) + 6 * (len(each) - 1)) / 2
                for (words, colour), width in zip(each, widths, strict=True):
                    place = Place(left, top, width, 24)
                    marks += rectangle(place, colour, fill=colour, opacity=TINT, corner=4)
                    marks += label(left + width / 2, top + 16.5, words, size=SMALL)
                    left += width + 6
            marks += vector(x, 25, x, 46, colour="grey", width=1.5)
            for i, number in enumerate(states[t]):
                place = Place(x - cell / 2, 48 + high * i, cell, high)
                marks += rectangle(place, "ink", fill="grey", opacity=TINT)
                marks += label(x, place.top + 15, f"{number}", size=SMALL)
            marks += line(x, 48 + 2 * high, x, 112) + vector(x, 137, x, 158, colour="grey", width=1.5)
            if t < len(READ) - 1:
                level, end = 48 + high, x + across - cell / 2 - 3
                marks += vector(x + cell / 2 + 2, level, end, level, colour="grey", width=1.5)
                middle = (x + cell / 2 + end) / 2
                marks += label(middle, level - 7, f"× {DECAY}", size=SMALL, bold=True)
                marks += label(middle, level + 17, "decay", size=SMALL, colour="grey")
        marks += label(across / 2 - cell / 2 - 8, 48 + high + 4.5, "S", bold=True, anchor="end")
        return over(across * len(READ), 184, marks)

    told_of = "; then ".join(
        f"key {word.key} and value {word.value} make the state {states[t][0]}, {states[t][1]}, in which the "
        f"query {word.query} finds {over_what[t]}"
        for t, word in enumerate(READ)
    )
    draw(
        arrange,
        alt=f"Three words, and a state of two numbers, which goes on to the next times {DECAY}, the decay. "
        f"Here {told_of}.",
    )


def missing() -> None:
    """`missing()` has one step of the gated delta rule: a state that fades, is written to, and is asked."""
    before, key, query, value = torch.tensor([4.0, 2]), torch.tensor([1.0, 0]), torch.tensor([1.0, 1]), 6.0
    faded = before / 2
    brings = float(key @ faded)
    lacks = value - brings
    added = key * lacks / 2
    after, found = faded + added, float(query @ (faded + added))

    def arrange(narrow: bool) -> Part:
        def upright(numbers: torch.Tensor, title: str, colour: str = "grey") -> Part:
            return grid(numbers[:, None], digits=0, cell=(34, 28), title=title, colour=colour)

        gone, now = upright(faded, "faded"), upright(after, "S")
        fades = panel(row(upright(before, "S"), "× ½ =", gone, gap=8), "1. fade: kept ½")
        writes = panel(
            column(
                row(gone, "+", upright(added, "written", "key"), "=", now, gap=8),
                note(f"k (1, 0) brings {brings:g}, v is {value:g}: {lacks:g} is missing"),
                gap=8,
            ),
            "2. write: share ½",
        )
        asks = panel(row(now, "·", upright(query, "q", "query"), f"= {found:g}", gap=8), "3. ask")
        return column(fades, writes, asks, gap=10) if narrow else row(fades, writes, asks, gap=10)

    draw(
        arrange,
        alt=f"One step of the gated delta rule. A state of {before.tolist()} fades by a half to "
        f"{faded.tolist()}. The key {key.tolist()} brings {brings:g} there, and its value is {value:g}: of "
        f"the {lacks:g} that are missing a half is written, which makes {after.tolist()}. The query "
        f"{query.tolist()} finds {found:g}.",
    )


def in_twos() -> None:
    """`in_twos()` has what counts for each of six words, at a decay of a half, in chunks of two."""
    words, chunk = 6, 2
    counts = [[str(DECAY ** (t - s)) if s <= t else "" for s in range(words)] for t in range(words)]

    def arrange(narrow: bool) -> Part:
        wide, high = (44.0, 26.0) if narrow else (56.0, 28.0)
        marks = ""
        for t in range(words):
            for s in range(words):
                inside = Place(wide * s, high * t, wide, high)
                here = s // chunk == t // chunk
                colour = ("ink" if here else "value") if s <= t else None
                marks += rectangle(inside, "faint", fill=colour, opacity=TINT)
                marks += label(wide * (s + 0.5), high * (t + 0.7), counts[t][s], size=SMALL)
        for edge in range(0, words, chunk):
            marks += rectangle(Place(wide * edge, high * edge, wide * chunk, high * chunk), "ink")
        said = "framed: inside a chunk · green: by the state"
        return column(over(wide * words, high * words, marks), note(said), gap=6)

    rows = "; ".join(f"for word {t}: {', '.join(filter(None, each))}" for t, each in enumerate(counts))
    draw(
        arrange,
        alt=f"How much each of {words} words counts, at a decay of {DECAY}, a row for each word that asks. "
        f"{rows}. Three blocks of {chunk} by {chunk} on the diagonal are the chunks. What is below them "
        "comes by the state, and what is above is empty.",
    )


def widened() -> None:
    """`widened()` has two states, of keys as they are and of their features, in proportion."""
    sizes = {"plain": WIDTH, "with features": MOST}

    def state(name: str) -> Part:
        wide, high = 2.2 * WIDTH, 2.2 * sizes[name]
        marks = rectangle(Place(0, 0, wide, high), "value", fill="value", opacity=STRONG)
        return column(over(wide, high, marks), note(f"{name}: {sizes[name]} × {WIDTH}"), gap=8)

    def arrange(narrow: bool) -> Part:
        return row(*map(state, sizes), gap=40 if narrow else 90, align="bottom")

    listed = "; ".join(f"{name}: {rows} by {WIDTH} numbers" for name, rows in sizes.items())
    draw(arrange, alt=f"Two states in proportion, as upright rectangles. {listed}.")
