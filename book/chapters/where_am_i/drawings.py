"""The drawings of “Where am I?”: clocks, arrows that turn, and the places where a position can go in."""

import math
from collections.abc import Sequence

from torch import Tensor

from bookkit.pictures.drawings import (
    Arrow,
    Part,
    across,
    box,
    column,
    draw,
    faded,
    grid,
    joined,
    note,
    operator,
    over,
    panel,
    row,
    text,
    written,
)
from bookkit.pictures.svg import Place, circle, curve, label, line, rectangle, vector

# ---- the first screen, and the bag ----


def _clock(angle: float, radius: float = 27) -> Part:
    """A hand that stood at twelve and has turned by `angle`: its tip is at (sin, cos)."""
    middle = radius + 2
    hand = vector(
        middle, middle, middle + radius * math.sin(angle), middle - radius * math.cos(angle), colour="blue"
    )
    return over(2 * middle, 2 * middle, circle(middle, middle, radius), hand)


def clocks(words: Sequence[str], *, slower: float = 4, hands: int = 3) -> None:
    """`clocks(["dog", "bites", "man"])` gives each word a clock with hands that turn ever more slowly."""

    def arrange(narrow: bool) -> Part:
        panels = []
        for position, word in enumerate(words):
            faces = row(*(_clock(position / slower**hand) for hand in range(hands)), gap=6)
            carried = row(box(word, width=58), "+", faces, gap=8)
            panels.append(
                panel(carried if narrow else column(box(word), "+", faces, gap=4), f"position {position}")
            )
        told = "the first hand turns by one radian a word, the next ones ever more slowly"
        return column(across(narrow, *panels, gap=12), note(told, width=300 if narrow else None))

    draw(
        arrange,
        alt=f"The words {', '.join(words)} at positions 0 to {len(words) - 1}. To each, {hands} clock hands "
        "are added. At position 0 all of them point straight up. From word to word the first turns by one "
        f"radian, and each further one by {slower:g} times less.",
    )


def same_bag(sentence: Sequence[str], weights: Tensor, output: Tensor) -> None:
    """`same_bag(["dog", "bites", "man"], weights, output)` shows what the middle word reads."""
    asks = sentence[1]
    share = dict(zip(sentence, weights.tolist(), strict=True))
    mix = " ".join(written(number, 2) for number in output.tolist())

    def order(words: Sequence[str], gap: float) -> Part:
        told = {word: column(word, note(f"× {written(share[word], 2)}"), gap=0) for word in words}
        values = row(*(box(told[word], name=word, colour="value") for word in words), gap=gap)
        answer = box(f"{asks} reads {mix}", name="output", colour="output", learned=True)
        bands = [
            Arrow(word, "output", colour="query", weight=share[word], sides=("bottom", "top"))
            for word in words
        ]
        whole = joined(column(values, answer, gap=40), *bands)
        # Both orders have places of the same names, and no arrow leads from one to the other.
        return panel(Part(whole.width, whole.height, whole.marks), f"“{' '.join(words)}”")

    def arrange(narrow: bool) -> Part:
        gap = 12 if narrow else 24
        both = across(narrow, order(sentence, gap), order(sentence[::-1], gap))
        return column(
            both, note("the same weights on the same values: the same sum", width=300 if narrow else None)
        )

    terms = ", ".join(f"{word} {share[word]:.2f}" for word in sentence)
    draw(
        arrange,
        alt=f"What “{asks}” reads in “{' '.join(sentence)}” and in “{' '.join(sentence[::-1])}”. The weights "
        f"are the same, {terms}, on the same values in another order, and so is the output, {mix}.",
    )


# ---- the table ----


def counting(bits: Sequence[Sequence[int]]) -> None:
    """`counting(bits)` sets numbers in binary beside waves, the fastest row first."""
    names, cell = ("ones", "twos", "fours"), 30.0

    def waves() -> Part:
        marks, high, wide = "", cell, cell * len(bits[0])
        for place in range(len(bits)):
            middle = high * (place + 0.5)
            points = [
                (x, middle + 0.4 * high * math.sin(2 * math.pi * x / cell / 2 ** (place + 1)))
                for x in range(0, int(wide) + 1, 3)
            ]
            marks += line(0, middle, wide, middle, colour="faint", width=1) + curve(points, colour="blue")
        return over(wide, high * len(bits), marks)

    def arrange(narrow: bool) -> Part:
        cells = grid(
            bits,
            rows=names[: len(bits)],
            columns=[str(number) for number in range(len(bits[0]))],
            colour="blue",
            digits=0,
            shaded=True,
            cell=(cell, cell),
        )
        smooth = column(note("the same, with waves for bits"), waves(), gap=4)
        return column(cells, smooth) if narrow else row(cells, smooth, gap=40, align="bottom")

    draw(
        arrange,
        alt="The numbers 0 to 7 in binary, a column for each. The row of the ones changes at every number, "
        "that of the twos at every second, that of the fours once. Beside them three waves that swing as "
        "fast as the rows change.",
    )


def added(words: Sequence[str], vectors: Tensor, table: Tensor) -> None:
    """`added(["dog", "bites", "man"], x, table)` adds a row of the table to each word."""
    shape = f"({len(words)}, {vectors.shape[-1]})"

    def arrange(narrow: bool) -> Part:
        cell = (50.0, 30.0)
        x = grid(vectors, title="words", rows=words, shape=shape, cell=cell)
        rows = grid(
            table,
            title="positions",
            rows=["0", "1", "2"][: len(words)],
            shape=shape,
            colour="blue",
            cell=cell,
        )
        total = grid(vectors + table, title="sum", rows=words, shape=shape, colour="purple", cell=cell)
        return across(narrow, x, "+", rows, "=", total, gap=14)

    draw(
        arrange,
        alt=f"A matrix of words, {shape}, plus a matrix of positions of the same shape: each word gets the "
        "row of the place where it stands, added number by number.",
    )


# ---- the three places ----

PLACES = {
    "table": ("sinusoidal, learned", "at the words"),
    "turn": ("rotary", "at queries and keys"),
    "bias": ("ALiBi", "at the scores"),
}


def _attention(place: str) -> Part:
    """Attention from bottom to top in the order of its steps, all faded but where a position goes in."""

    def step(piece: Part, own: bool) -> Part:
        return piece if own else faded(piece)

    table, turn, bias = (place == name for name in PLACES)
    words = row(
        step(box("words", width=60), False),
        step(row("+", box("table", colour="blue", learned=True), gap=6), table),
        gap=6,
    )
    asked = [
        step(column(box(name, colour=role, width=38), operator("turn"), gap=8), turn)
        for name, role in (("q", "query"), ("k", "key"))
    ]
    parts = row(*asked, step(box("v", colour="value", width=38), False), gap=14, align="top")
    scores = row(
        step(operator("q · k"), False),
        step(row("+", box("penalty", colour="blue", learned=True), gap=6), bias),
        gap=6,
    )
    rest = row(step(operator("softmax"), False), step(box("output", colour="output"), False), gap=10)
    steps = column(words, parts, scores, rest, gap=12)
    title, where = PLACES[place]
    return panel(column(note(where), steps, gap=8), title)


def three_places() -> None:
    """`three_places()` draws attention three times, each with a place where positions go in."""
    draw(
        lambda narrow: across(narrow, *(_attention(place) for place in PLACES), gap=14),
        alt="Attention drawn three times: words, then query, key and value, then scores, softmax and output. "
        "Sinusoidal and learned tables are added to the words. Rotary turns query and key, and not the "
        "value. ALiBi adds a penalty to the scores.",
    )


def turned(pairs: Sequence[tuple[int, int]]) -> None:
    """`turned([(3, 1), (13, 11)])` turns a query and a key, of two numbers each, to their positions."""

    def dial(query: int, key: int) -> Part:
        radius, middle = 74.0, 92.0

        def tip(angle: float, reach: float) -> tuple[float, float]:
            return middle + reach * math.cos(angle), middle - reach * math.sin(angle)

        steps = [key + (query - key) * part / 20 for part in range(21)]
        between = curve([tip(angle, 0.45 * radius) for angle in steps])
        marks = circle(middle, middle, radius, colour="faint") + between
        for name, angle in (("query", query), ("key", key)):
            x, y = tip(angle, radius + 11)
            marks += vector(middle, middle, *tip(angle, radius), colour=name)
            marks += label(x, y + 5, name[0], colour=name, bold=True)
        score = f"score cos {query - key} = {written(math.cos(query - key), 2)}"
        face = over(2 * middle, 2 * middle, marks)
        return column(text(f"query at {query}, key at {key}", bold=True, size=13), face, note(score), gap=4)

    apart = pairs[0][0] - pairs[0][1]
    places = " and ".join(f"{query} and {key}" for query, key in pairs)
    draw(
        lambda narrow: across(narrow, *(dial(query, key) for query, key in pairs), gap=24),
        alt=f"A query and a key of two numbers, turned by one radian a position to {places}. They point "
        f"elsewhere each time, but the angle between them is always {apart} radians, and so the score is "
        f"always {math.cos(apart):.2f}.",
    )


def penalties(words: Sequence[str], bias: Tensor, slopes: Sequence[str]) -> None:
    """`penalties(["the", "dog"], bias, ["1/2", "1/4"])` shows the penalties of the first heads."""

    def arrange(narrow: bool) -> Part:
        heads = [
            grid(
                # A key that comes later is hidden, and a distance of 0 has no sign.
                [
                    [abs(number) and number if key <= query else "later" for key, number in enumerate(each)]
                    for query, each in enumerate(bias[head].tolist())
                ],
                title=f"head {head + 1}, slope {slope}",
                rows=words,
                columns=words,
                colour="query",
                shaded=True,
                cell=(48, 28),
                absent="later",
            )
            for head, slope in enumerate(slopes)
        ]
        return across(narrow, *heads, gap=36)

    draw(
        arrange,
        alt=f"The penalties for {len(words)} words in {len(slopes)} heads, as grids: a row for each query, a "
        "column for each key. On the diagonal they are 0; with each step away they fall by the head's "
        f"slope, {' or '.join(slopes)}. Keys that come later are hidden.",
    )


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
            falls = [fallen(longest * step / 96, wave) for step in range(97)]
            points = [(wide * step / 96, 3 + (high - 6) * fall) for step, fall in enumerate(falls)]
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
    "rotary": ("to half a turn", "no"),
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
