"""The drawings of “Two ways to score”."""

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
    grid,
    joined,
    note,
    operator,
    over,
    panel,
    row,
    text,
)
from bookkit.pictures.svg import Place, Side, circle, curve, label, line, rectangle, vector


def bottleneck(source: Sequence[str], target: Sequence[str], writes: int, shares: Sequence[float]) -> None:
    """`bottleneck(["the", "dog"], ["le", "chien"], 1, [0.1, 0.9])` is one last state, and a look at all."""

    def arrange(narrow: bool) -> Part:
        def read(name: str) -> Part:
            states = [
                column(
                    text(word),
                    box(f"h_{place}", name=f"{name} {place}", colour="key", learned=True),
                    gap=4,
                )
                for place, word in enumerate(source, start=1)
            ]
            arrows = [Arrow(f"{name} {place}", f"{name} {place + 1}") for place in range(1, len(source))]
            return joined(row(*states, gap=20 if narrow else 24), *arrows)

        written = [text(word, colour="output", bold=place == writes) for place, word in enumerate(target)]
        squeezed = box("s", name="one", colour="query", learned=True)
        first = column(
            read("last"),
            row(column(squeezed, row(*written), gap=14), note("one vector must hold it all", width=90)),
            gap=40,
        )
        first = joined(first, Arrow(f"last {len(source)}", "one", sides=("bottom", "top")))
        asking = box("s", name="asks", colour="query", learned=True)
        second = column(
            read("all"),
            row(
                column(asking, row(*written), gap=14),
                note(f"“{target[writes]}” looks back at all of them", width=90),
            ),
            gap=40,
        )
        bands = (
            Arrow("asks", f"all {place}", colour="query", weight=share, sides=("top", "bottom"))
            for place, share in enumerate(shares, start=1)
        )
        second = joined(second, *bands)
        panels = panel(first, "before attention"), panel(second, "with attention")
        return across(narrow, *panels, gap=16)

    draw(
        arrange,
        alt=f"Twice the words “{' '.join(source)}” are read into three states, and “{' '.join(target)}” is "
        "written. Before attention, an arrow leads from the last state alone to the writer. With "
        "attention, lines lead from the writer to all three states, the thickest, while it writes "
        f"“{target[writes]}”, to “{source[writes]}”.",
    )


def who_asks() -> None:
    """`who_asks()` has the two orders in which a decoder can ask and step."""

    def arrange(narrow: bool) -> Part:
        def order(name: str, *stops: tuple[str, str]) -> Part:
            parts = [
                operator(words, name=f"{name} {place}")
                if kind == "does"
                else box(words, name=f"{name} {place}", colour=kind, learned=True)
                for place, (words, kind) in enumerate(stops)
            ]
            arrows = [Arrow(f"{name} {place}", f"{name} {place + 1}") for place in range(len(stops) - 1)]
            return joined(row(*parts, gap=16 if narrow else 22), *arrows)

        before, after, found = ("s_{t−1}", "query"), ("s_t", "query"), ("c_t", "output")
        look, step = ("look", "does"), ("step", "does")
        asks_first = order("asks", before, look, found, step, after)
        steps_first = order("steps", before, step, after, look, found)
        one = column(
            asks_first, note("the last word is read in the step: too late for this look", width=290), gap=8
        )
        other = column(steps_first, note("the last word is read first: the look knows it", width=290), gap=8)
        return column(panel(one, "Bahdanau asks first"), panel(other, "Luong steps first"), gap=12)

    draw(
        arrange,
        alt="Two chains. Bahdanau: the old state looks, which gives the context, and with the context the "
        "decoder steps to its new state. Luong: the old state steps to the new one, and the new one looks, "
        "which gives the context.",
    )


def two_networks(d: int, hidden: int) -> None:
    """`two_networks(4, 6)` has the dot product and the additive score as small networks, with shapes."""

    def arrange(narrow: bool) -> Part:
        cell = (20, 17)

        def stack(name: str, size: int, colour: str, words: str) -> Part:
            return grid([[""]] * size, name=name, title=words, colour=colour, cell=cell, shape=f"({size})")

        product = joined(
            row(
                column(stack("q", d, "query", "q"), stack("k", d, "key", "k"), gap=4),
                operator("× and +", name="times"),
                box("score", name="product", colour="output"),
                gap=30,
            ),
            Arrow("q", "times", sides=("right", "left")),
            Arrow("k", "times", sides=("right", "left")),
            Arrow("times", "product"),
        )
        reading = column(
            row(stack("asked", d, "query", "q"), box("W", name="W", colour="query", learned=True), gap=24),
            row(stack("offered", d, "key", "k"), box("U", name="U", colour="key", learned=True), gap=24),
            gap=4,
        )
        squash = operator("+, tanh", name="tanh")
        hidden_stack = stack("hidden", hidden, "grey", "hidden")
        vector_box = box("v", name="v", colour="output", learned=True)
        score = box("score", name="score", colour="output")
        if narrow:
            within = column(
                row(reading, squash, hidden_stack, gap=22), row(vector_box, score, gap=20), gap=22
            )
            leave: tuple[Side, Side] = ("bottom", "top")
        else:
            within = row(reading, squash, hidden_stack, vector_box, score, gap=22)
            leave = ("right", "left")
        network = joined(
            within,
            Arrow("asked", "W"),
            Arrow("offered", "U"),
            Arrow("W", "tanh", sides=("right", "left")),
            Arrow("U", "tanh", sides=("right", "left")),
            Arrow("tanh", "hidden", sides=("right", "left")),
            Arrow("hidden", "v", sides=leave),
            Arrow("v", "score"),
        )
        left = panel(column(product, note("nothing to learn"), gap=8), "dot product")
        right = panel(column(network, note("tinted boxes are learned"), gap=8), "additive")
        return across(narrow, left, right, gap=14)

    draw(
        arrange,
        alt=f"Left, the dot product: q and k, each of {d} numbers, are multiplied and added up to one "
        "score. Right, the additive score: a learned matrix W reads q and another, U, reads k; their sum "
        f"goes through tanh, which gives {hidden} hidden numbers, and a learned vector v makes one score of "
        "them.",
    )


def next_day(days: Tensor, names: Sequence[str], turned: Tensor) -> None:
    """`next_day(days, ["Mon", …], days @ turn)` is the week on a circle; the first day asks."""

    def arrange(narrow: bool) -> Part:
        def circle_of(asked: Tensor, words: str) -> Part:
            radius, middle = 70, 100

            def at(x: float, y: float, stretch: float = 1) -> tuple[float, float]:
                return middle + radius * stretch * x, middle - radius * stretch * y

            marks = [circle(middle, middle, radius, colour="faint")]
            for name, (x, y) in zip(names, days.tolist(), strict=True):
                left, top = at(x, y, 1.27)
                marks += [circle(*at(x, y), 4, colour="key", fill="key"), label(left, top + 5, name, size=13)]
            x, y = asked.tolist()
            marks += [vector(middle, middle, *at(x, y, 0.9), colour="query")]
            return column(over(200, 200, *marks), note(words), gap=0)

        one = circle_of(days[0], f"{names[0]} asks: it finds itself")
        other = circle_of(turned[0], f"{names[0]} asks, turned by W: the next day")
        return across(narrow, one, other, gap=24)

    draw(
        arrange,
        alt=f"The seven days on a circle, twice. The query of {names[0]} points at {names[0]} itself; "
        f"turned by the matrix W it points at {names[1]}.",
    )


def the_middle() -> None:
    """`the_middle()` has three keys in a row: scores on a ramp, and scores that bend."""

    def arrange(narrow: bool) -> Part:
        def scored(height: Sequence[float], words: str) -> Part:
            wide, high = 190, 96
            last = len(height) - 1
            points = [(8 + wide * step / last, 8 + high * (1 - value)) for step, value in enumerate(height)]
            marks = [curve(points, colour="grey")]
            for place in (0, last // 2, last):
                x, y = points[place]
                best = height[place] == max(height)
                marks += [
                    line(x, y, x, high + 22, colour="faint"),
                    circle(x, y, 6, colour="key", fill="key" if best else "paper"),
                    circle(x, high + 22, 3, colour="key", fill="key"),
                ]
            return column(over(wide + 16, high + 28, *marks), note(words, width=200), gap=6)

        steps = range(41)
        ramp = [0.1 + 0.8 * step / 40 for step in steps]
        hump = [math.exp(-(((step - 20) / 13) ** 2)) * 0.9 for step in steps]
        one = scored(ramp, "a product is a ramp: one of the ends wins")
        other = scored(hump, "a hidden layer can bend: the middle may win")
        return across(narrow, one, other, gap=50)

    draw(
        arrange,
        alt="Three keys in a row and their scores, twice. On the left the scores lie on a straight ramp, "
        "and the last key has the highest. On the right they lie on a hump, and the key in the middle has "
        "the highest.",
    )


def what_is_written(n: int, m: int, hidden: int) -> None:
    """`what_is_written(256, 256, 64)` has the table of the dot product beside the block that tanh needs."""

    def arrange(narrow: bool) -> Part:
        def sheets(count: int, colour: str) -> Part:
            wide, high, step = 84, 64, 5
            places = [Place(step * (count - 1 - i), step * i, wide, high) for i in range(count)]
            marks = [
                rectangle(place, None, fill="paper") + rectangle(place, colour, fill=colour, opacity=0.16)
                for place in places
            ]
            return over(wide + step * (count - 1), high + step * (count - 1), *marks)

        def told(part: Part, title: str, shape: str, words: str) -> Part:
            return column(text(title, bold=True), part, text(shape, size=13), note(words, width=170), gap=5)

        each = "every hidden number is written, squashed, and read again"
        one = told(sheets(1, "output"), "dot product", f"{n} × {m}", "added up before anything is written")
        block = told(sheets(10, "key"), "additive", f"{n} × {m} × {hidden}", each)
        arrow = text("→  summed with v  →") if not narrow else text("↓ summed with v")
        table = told(sheets(1, "output"), "its scores", f"{n} × {m}", "")
        return across(narrow, one, across(narrow, block, arrow, table, gap=10), gap=36)

    draw(
        arrange,
        alt=f"The dot product writes one sheet of {n} by {m} numbers. The additive score first writes a "
        f"stack of {hidden} such sheets, one for each hidden number, and then sums them up to one.",
    )


def turned_or_cut(key: Tensor, turned: Tensor, cut: Tensor) -> None:
    """`turned_or_cut(key, key.mT, key.view(2, 3))` has the same six numbers in two tables of one shape."""

    def arrange(narrow: bool) -> Part:
        cell = (34, 28)

        def table(numbers: Tensor, title: str, shape: str, colour: str) -> Part:
            return grid(numbers, title=title, shape=shape, colour=colour, digits=0, cell=cell)

        given = table(key, "three keys", "(3, 2)", "key")
        right = column(table(turned, "key.mT", "(2, 3)", "key"), note("a key in each column"), gap=2)
        wrong = column(table(cut, "key.view(2, 3)", "(2, 3)", "grey"), note("no column is a key"), gap=2)
        both = row(right, wrong, gap=24)
        return column(given, both, gap=12) if narrow else row(given, both, gap=44)

    draw(
        arrange,
        alt="Three keys, 1 2, 3 4 and 5 6, one a row. key.mT has them as columns. key.view(2, 3) has the "
        "rows 1 2 3 and 4 5 6: no column is a key.",
    )


def shapes_of_a_score() -> None:
    """`shapes_of_a_score()` has the tensors of the additive score, with the axes that are stretched."""

    def arrange(narrow: bool) -> Part:
        def block(words: str, colour: str, wide: float, high: float, shape: str) -> Part:
            frame = rectangle(Place(0, 0, wide, high), colour, fill=colour, opacity=0.16)
            return column(text(words, bold=True, colour=colour), over(wide, high, frame), note(shape), gap=3)

        asked = block("asked", "query", 12, 50, "(…, n, 1, h)")
        offered = block("offered", "key", 80, 12, "(…, 1, m, h)")
        hidden = block("hidden", "grey", 80, 50, "(…, n, m, h)")
        table = block("scores", "output", 80, 50, "(…, n, m)")
        added = row(asked, "+", offered, gap=10)
        summed = row(hidden, "→", table, gap=14)
        if narrow:
            return column(row(added, "→", gap=10), summed, gap=14)
        return row(added, "→", summed, gap=18)

    draw(
        arrange,
        alt="What is asked is n high and 1 wide, what is offered 1 high and m wide, both with h numbers "
        "for each cell. Their sum is stretched to n by m, with h numbers for each pair; summed up, one "
        "number is left of each.",
    )


def one_example(query: Tensor, key: Tensor, right: int) -> None:
    """`one_example(query, key, right)` is a query and its keys in the plane, the right one filled."""

    def arrange(narrow: bool) -> Part:
        def at(x: float, y: float) -> tuple[float, float]:
            return 100 + 45 * x, 100 - 45 * y

        marks = [rectangle(Place(4, 4, 192, 192), "faint")]
        marks += [line(100, 96, 100, 104), line(96, 100, 104, 100)]
        for place, (x, y) in enumerate(key.tolist()):
            marks += [circle(*at(x, y), 7, colour="key", fill="key" if place == right else "paper")]
        x, y = query.tolist()
        marks += [circle(*at(x, y), 7, colour="query", fill="query")]
        words = column(
            text("the query", colour="query"),
            text("its eight keys", colour="key"),
            note("filled: the one that the wish calls right. Why it is right, nobody says", width=170),
            align="left",
        )
        return across(narrow, over(200, 200, *marks), words, gap=24)

    draw(
        arrange,
        alt="A square with a query and eight keys as points. One of the keys is filled: the right one.",
    )
