"""The drawings: the whole model, who looks at whom, what can be known of the next word, and the cache."""

import math
from collections.abc import Sequence
from dataclasses import replace

from attnlab.corpora import agreement
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
    panel,
    row,
    text,
)
from bookkit.pictures.svg import SMALL, Place, circle, curve, label, line, rectangle, vector

SOURCE, TARGET = ("the", "cat", "hides"), ("la", "gata", "se", "cele")
READ, GIVEN, WRITTEN = (*SOURCE, "(end)"), ("(start)", *TARGET), (*TARGET, "(end)")
ROAD = 6.0  # how wide the road is: what the layers add to
GAP = 14.0  # between the steps along the road

# ---- the whole ----


def _stop(words: str, width: float, name: str, colour: str) -> Part:
    """On the road itself: all that passes goes through it."""
    said = text(words, size=SMALL, width=width - 12)
    one = box(said, name=name, colour=colour, learned=True, width=width, padding=6)
    ground = rectangle(Place(0, 0, one.width, one.height), None, fill="paper", corner=6)
    return over(one.width, one.height, ground, (one, 0, 0))


def _words(words: Sequence[str], colour: str) -> Part:
    said = text(" ".join(words), size=SMALL, colour=colour, bold=True)
    return over(said.width + 8, said.height, (said, 8, 0))


def _adds(words: str, width: float, name: str, colour: str) -> Part:
    """Beside the road: it reads what passes, and adds to it."""
    one = _stop(words, width - 34, name, colour)
    middle = one.height / 2
    marks = line(12, middle - 8, 34, middle - 8) + vector(
        34, middle + 8, 22, middle + 8, colour="grey", width=1.5
    )
    plus = circle(12, middle + 8, 8, fill="paper") + label(12, middle + 13, "+")
    return over(width, one.height, marks, plus, (one, 34, 0))


def _tower(width: float, *pieces: Part, layer: tuple[int, int], times: str) -> Part:
    """Pieces along a road, one below the other; those of a layer stand on a ground of their own."""
    tops, top = [], 0.0
    for place, piece in enumerate(pieces):
        top += 22 if place == layer[0] else 10 if place == layer[1] else 0
        tops.append(top)
        top += piece.height + GAP
    first, last = layer
    ground = Place(0, tops[first] - 24, width, tops[last] - 10 - GAP - tops[first] + 34)
    marks = rectangle(ground, None, fill="grey", corner=8, opacity=0.09)
    title = label(width - 6, ground.top + 15, times, size=12, colour="grey", anchor="end")
    start, end = pieces[0].height, tops[-1]
    road = line(12, start, 12, end, colour="blue", width=ROAD)
    placed = [(piece, 0.0, top) for piece, top in zip(pieces, tops, strict=True)]
    return over(width, top - GAP, marks, road, title, *placed)


def whole(read: int, written: int, d_model: int, layers: int) -> None:
    """`whole(85, 148, d_model=64, layers=2)` follows one sentence through the model, with every shape."""
    many = len(READ), len(GIVEN)

    def shape(*sizes: int) -> Part:
        return over(200, 16, label(24, 13, str(sizes), size=SMALL, colour="grey", anchor="start"))

    def arrange(narrow: bool) -> Part:
        width = 152.0 if narrow else 300.0
        itself = "① looks at itself" if narrow else "① self-attention: every word looks at every word"
        so_far = "② looks at itself, backwards" if narrow else "② self-attention, causal: at the words so far"
        looks_over = (
            "③ looks at what was read" if narrow else "③ cross-attention: at every word that was read"
        )
        table = "embedding · √d\n+ positions" if narrow else f"embedding · √{d_model} + positions"
        encoder = _tower(
            width,
            _words(READ, "key"),
            _stop(table, width, "read", "key"),
            shape(many[0], d_model),
            _adds(itself, width, "①", "key"),
            _adds("feed-forward: each word by itself", width, "encoder thinks", "key"),
            shape(many[0], d_model),
            _stop("norm", width, "memory", "key"),
            layer=(3, 5),
            times=f"{layers} layers",
        )
        decoder = _tower(
            width,
            _words(GIVEN, "output"),
            _stop(table, width, "written", "output"),
            shape(many[1], d_model),
            _adds(so_far, width, "②", "output"),
            _adds(looks_over, width, "③", "output"),
            _adds("feed-forward: each word by itself", width, "decoder thinks", "output"),
            shape(many[1], d_model),
            _stop("norm, then a score for every word", width, "scores", "output"),
            shape(many[1], written),
            _words(WRITTEN, "output"),
            layer=(3, 6),
            times=f"{layers} layers",
        )
        gap = 22.0 if narrow else 90.0
        both = row(encoder, decoder, gap=gap, align="top")
        led = joined(both, Arrow("memory", "③", colour="key", sides=("right", "left")))
        x, y = both.places["memory"].point("right")
        words = (
            "" if narrow else label(x + 8, y + 18, "keys, values", size=SMALL, colour="grey", anchor="start")
        )
        return replace(led, marks=led.marks + words)

    draw(
        arrange,
        alt=f"Two towers. The left one reads “{' '.join(SOURCE)}” and an end mark: embedding times the root "
        f"of {d_model}, plus positions, {(many[0], d_model)}; then {layers} layers, in each of which "
        "self-attention ① and a feed-forward network add to a road; then a norm. The right one is given a "
        f"start mark and “{' '.join(TARGET)}”, {(many[1], d_model)}; each of its {layers} layers has a "
        "causal self-attention ②, a cross-attention ③, whose keys and values come from the left tower, and a "
        f"feed-forward network. A norm and a score for each of {written} words follow, "
        f"{(many[1], written)}: the word after each.",
    )


# ---- what can be known of the next word ----


def chances(words: Sequence[str]) -> None:
    """`chances("the dogs near the king see .".split())` has what the grammar gives each word."""
    nats = agreement.surprises(words)
    verb, subject = agreement.verb_and_subject(words)
    chance = [math.exp(-surprise) for surprise in nats]

    def arrange(narrow: bool) -> Part:
        if narrow:
            rows_of = [[a, b] for a, b in zip(chance, nats, strict=True)]
            return grid(rows_of, rows=words, columns=["chance", "nats"], colour="output", cell=(80, 27))
        step, left = 78.0, 70.0
        middles = [left + step * (place + 0.5) for place in range(len(words))]
        a, b = middles[subject], middles[verb]
        arc = curve(
            [(a + (b - a) * t / 20, 34 - 30 * math.sin(math.pi * t / 20)) for t in range(21)],
            colour="blue",
            width=2.5,
        )
        said = "".join(
            label(x, 52, word, colour="blue" if place in (subject, verb) else "ink", bold=True)
            for place, (x, word) in enumerate(zip(middles, words, strict=True))
        )
        names = label(left - 8, 81, "chance", size=SMALL, anchor="end")
        names += label(left - 8, 111, "nats", size=SMALL, anchor="end")
        numbers = grid([chance, nats], colour="output", cell=(step, 30))
        return over(left + step * len(words), 124, arc, said, names, (numbers, left, 62))

    told = ", ".join(f"{word} {share:.2f}" for word, share in zip(words, chance, strict=True))
    draw(
        arrange,
        alt=f"“{' '.join(words)}”: the chance that the grammar gives each word: {told}. An arc joins the "
        f"subject, {words[subject]}, with its verb, {words[verb]}.",
    )


# ---- the cache ----


def cache(words: Sequence[str]) -> None:
    """`cache(["the", "dogs", "near", "the"])` writes on behind them, with a cache and without."""
    count = len(words)

    def looked(kept: bool) -> Part:
        rows = [
            ["" if j > i or (kept and i < count - 1) else " " for j in range(count)] for i in range(count)
        ]
        return grid(rows, name=f"looks {kept}", rows=words, colour="query", cell=(50, 26), absent="")

    def vectors(kept: bool) -> Part:
        """A key and a value for each word: what is kept has no colour."""
        pairs = []
        for place in range(count):
            old = kept and place < count - 1
            pairs.append(
                column(
                    box(text("k", size=SMALL), colour="grey" if old else "key", learned=not old, padding=5),
                    box(text("v", size=SMALL), colour="grey" if old else "value", learned=not old, padding=5),
                    gap=3,
                )
            )
        return over(
            50 * count, 56, *((pair, 50 * i + 25 - pair.width / 2, 0) for i, pair in enumerate(pairs))
        )

    def arrange(narrow: bool) -> Part:
        panels = []
        for kept, title, words_below in (
            (False, "without a cache", "for one more word, all is computed anew"),
            (True, "with a cache", "grey is kept: one new key, value and query"),
        ):
            pair, cells = vectors(kept), looked(kept)
            left = cells.width - pair.width
            whole_part = over(cells.width, 66 + cells.height, (pair, left, 0), (cells, 0, 66))
            panels.append(panel(column(whole_part, note(words_below), gap=8), title))
        return across(narrow, *panels, gap=18)

    draw(
        arrange,
        alt=f"The words “{' '.join(words)}”, and the next is to be written. Without a cache all {count} "
        f"keys, {count} values and {count * (count + 1) // 2} weights are computed anew. With a cache the "
        f"{count - 1} old keys and values are kept: one key, one value and a row of {count} weights are new.",
    )


# ---- what to ask a run ----


def questions() -> None:
    """`questions()` has a row for each test of a run: what a healthy one shows, and what a broken one."""
    answers = {
        "the first loss": ("log 37: 37 words alike", "more: logits that are too large"),
        "one batch, by heart": ("as low as can be, dropout off", "higher: unconnected; lower: a leak"),
        "the last word changed": ("nothing moves before it", "something does: a leak"),
        "each layer's gradient": ("of one size, within a few times", "0, or a hundred times the others"),
    }

    def arrange(narrow: bool) -> Part:
        rows = [("", "healthy", "broken"), *((name, *said) for name, said in answers.items())]
        lefts, high = ((0, 12, 12), 66.0) if narrow else ((0, 190, 430), 30.0)
        marks = ""
        for place, cells in enumerate(rows[1:] if narrow else rows):
            for column_of, (cell, left) in enumerate(zip(cells, lefts, strict=True)):
                sign = ("", "✓ ", "✗ ")[column_of] if place or narrow else ""
                down = high * place + 16 + (20.0 * column_of if narrow else 0)
                bold = column_of == 0 or sign == ""
                colour = "ink" if bold else ("green", "orange")[column_of - 1]
                marks += label(left, down, sign + cell, size=14, colour=colour, anchor="start", bold=bold)
            if place and not narrow:
                marks += line(0, high * place - 4, 700, high * place - 4, colour="faint", width=1)
        return over(320 if narrow else 700, high * len(rows[1:] if narrow else rows), marks)

    told = "; ".join(f"{name}: {good}, or broken: {bad}" for name, (good, bad) in answers.items())
    draw(arrange, alt=f"Tests of a run, what a healthy one shows and what a broken one. {told}.")
