"""The drawings, made from the chapter's own numbers."""

import itertools
import math
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
    operator,
    over,
    row,
    text,
)
from bookkit.pictures.svg import SMALL, Place, circle, label, line, rectangle, vector

DOT = 5.0
FACT = 3.0  # the width of the path that a drawing is about


# ---- three ways from the first word to the last ----


def _dot(x: float, y: float, *, on: bool = False) -> str:
    return circle(x, y, DOT, colour="purple" if on else "grey", fill="purple" if on else "paper")


def _joined_dots(x1: float, y1: float, x2: float, y2: float, *, on: bool) -> str:
    """A line between two dots that does not run into them."""
    length = math.hypot(x2 - x1, y2 - y1)
    dx, dy = (x2 - x1) / length * (DOT + 1), (y2 - y1) / length * (DOT + 1)
    colour, width = ("purple", FACT) if on else ("faint", 1.5)
    return line(x1 + dx, y1 + dy, x2 - dx, y2 - dy, colour=colour, width=width)


def _chain(xs: Sequence[float]) -> tuple[str, float]:
    marks = "".join(
        vector(a + DOT + 1, 10, b - DOT - 1, 10, colour="purple", width=2) for a, b in itertools.pairwise(xs)
    )
    return marks + "".join(_dot(x, 10, on=True) for x in xs), 20


def _tree(xs: Sequence[float], level: float) -> tuple[str, float]:
    """Windows of two, whose spans double: what the last dot at the top hears, and its way to the first."""
    last, layers = len(xs) - 1, math.ceil(math.log2(len(xs)))
    height = 20 + level * layers
    grey, path, dots = "", "", ""
    heard, way = {last}, last
    for layer in reversed(range(layers)):
        top, foot, span = 10 + level * (layers - 1 - layer), 10 + level * (layers - layer), 2**layer
        dots += "".join(_dot(xs[place], top, on=place == way) for place in heard)
        after = way - span if way >= span else way
        for place in heard:
            for below in (place, place - span):
                if below >= 0:
                    on = (place, below) == (way, after)
                    drawn = _joined_dots(xs[place], top, xs[below], foot, on=on)
                    grey, path = (grey, path + drawn) if on else (grey + drawn, path)
        heard = {below for place in heard for below in (place, place - span) if below >= 0}
        way = after
    dots += "".join(_dot(x, height - 10, on=place == way) for place, x in enumerate(xs))
    return grey + path + dots, height


def _fan(xs: Sequence[float], height: float) -> tuple[str, float]:
    marks = "".join(
        _joined_dots(x, height - 10, xs[-1], 10, on=place == 0) for place, x in enumerate(xs)
    ) + _dot(xs[-1], 10, on=True)
    return marks + "".join(_dot(x, height - 10, on=x == xs[0]) for x in xs), height


def idea(words: Sequence[str]) -> None:
    """`idea(["the", "dog"])` has three ways from the first of these words to the last."""
    count = len(words)
    steps = (count - 1, math.ceil(math.log2(count)), 1)

    def arrange(narrow: bool) -> Part:
        apart = 30.0 if narrow else 66.0
        xs = [apart * (place + 0.5) for place in range(count)]
        width = apart * count
        ways = (
            ("recurrence: a chain", _chain(xs)),
            ("convolution: a tree", _tree(xs, 30)),
            ("attention: a fan", _fan(xs, 66)),
        )
        parts = []
        for (title, (marks, height)), taken in zip(ways, steps, strict=True):
            said = f"from the first word to the last in {taken} step{'s' if taken > 1 else ''}"
            # On a phone, the first word and the last.
            shown = {place: word for place, word in enumerate(words) if not narrow or place in (0, count - 1)}
            letters = "".join(
                label(xs[place], height + SMALL, word, size=SMALL) for place, word in shown.items()
            )
            heading = across(narrow, text(title, bold=True), note(said), gap=2 if narrow else 12)
            parts.append(column(heading, over(width, height + SMALL + 6, marks, letters), gap=6))
        return column(*parts, gap=14)

    draw(
        arrange,
        alt=f"The words “{' '.join(words)}”, read in three ways. A recurrence is a chain: from the first "
        f"word to the last in {steps[0]} steps. A convolution is a tree of windows, {steps[1]} layers deep: "
        f"{steps[1]} steps. Attention is a fan: the last word is joined to every word directly, 1 step.",
    )


# ---- one step of a GRU ----


def gru_step() -> None:
    """`gru_step()` is the mix of an old state and a new one, and the gate that shares out."""

    def arrange(narrow: bool) -> Part:
        old = box("h_{t−1}", name="old", colour="query")
        keep, add = operator("× z", name="keep"), operator("+", name="add")
        after = box("h_t", name="after", colour="query")
        road = row(old, keep, add, after, gap=26 if narrow else 54)
        share = operator("× (1 − z)", name="share")
        gate = box(column("z", note("keep? 0 … 1"), gap=0), name="gate", colour="purple", learned=True)
        new = box(column("n", note("a new state"), gap=0), name="new", colour="purple", learned=True)
        low = row(gate, new, gap=26 if narrow else 70)
        reads = note("both read the word x_t and the old state h_{t−1}")
        width = max(road.width, low.width, reads.width)
        whole = over(
            width,
            220,
            (road, (width - road.width) / 2, 0),
            (
                share,
                (width - road.width) / 2 + road.places["add"].left + add.width / 2 - share.width / 2,
                70,
            ),
            (low, (width - low.width) / 2, 130),
            (reads, (width - reads.width) / 2, 198),
        )
        return joined(
            whole,
            Arrow("old", "keep"),
            Arrow("keep", "add"),
            Arrow("add", "after"),
            Arrow("share", "add", sides=("top", "bottom")),
            Arrow("gate", "keep", sides=("top", "bottom")),
            Arrow("new", "share", sides=("top", "bottom")),
        )

    draw(
        arrange,
        alt="The old state goes along a road: times z, plus something, and it is the new state. What is "
        "added is a candidate n, times one minus z. The gate z, from 0 to 1, says how much of the old state "
        "is kept. Gate and candidate both read the word and the old state.",
    )


# ---- a window, and where it is padded ----


def padded_words(words: Sequence[str], kernel: int, *, only: str = "") -> None:
    """`padded_words(["the", "dog", "that"], kernel=3)` pads windows on the left, and on both sides."""

    def panel_of(title: str, left: int, right: int, said: str, narrow: bool) -> Part:
        cells = [["0"] * left + list(words) + ["0"] * right]
        wide = 43.0 if narrow else 48.0
        inputs = grid(cells, name=f"{title} in", colour="key", cell=(wide, 28))
        outputs = grid([["·"] * len(words)], name=f"{title} out", colour="output", cell=(wide, 28))
        place = 2  # the output whose window is shown
        both = over(
            inputs.width,
            94,
            (outputs, wide * left, 0),
            (inputs, 0, 66),
        )
        arrows = [
            Arrow(
                f"{title} in.0.{place + step}",
                f"{title} out.0.{place}",
                weight=0.2,
                colour="purple",
                sides=("top", "bottom"),
            )
            for step in range(kernel)
        ]
        return column(text(title, bold=True), joined(both, *arrows), note(said), gap=4)

    ways = {
        "zeros on the left": (kernel - 1, 0, f"the output at “{words[2]}” ends with “{words[2]}”"),
        "zeros on both sides": (
            kernel // 2,
            kernel // 2,
            f"the output at “{words[2]}” has seen “{words[3]}”: the future",
        ),
    }
    shown = {title: way for title, way in ways.items() if only in ("", title)}

    def arrange(narrow: bool) -> Part:
        parts = [panel_of(title, *way, narrow) for title, way in shown.items()]
        return across(narrow, *parts, gap=20 if narrow else 30)

    told = "; ".join(f"{title}: {said}" for title, (_, _, said) in shown.items())
    draw(arrange, alt=f"{len(words)} words in a row and a window of {kernel} that makes one output. {told}.")


# ---- what each costs ----


def compared(costs: Mapping[str, Sequence[int]], columns: Sequence[str], *, words: int) -> None:
    """`compared({"attention": (1, 1, 65536)}, ["path", "in turn", "kept"], words=1024)` is a table."""
    cells = [[f"{number:,}" for number in each] for each in costs.values()]

    def arrange(narrow: bool) -> Part:
        table = grid(
            cells,
            rows=list(costs),
            columns=list(columns),
            colour="output",
            cell=(70, 32) if narrow else (150, 34),
        )
        return column(text(f"{words:,} words", bold=True), table, gap=6)

    told = "; ".join(
        f"{name}: " + ", ".join(f"{title} {number:,}" for title, number in zip(columns, each, strict=True))
        for name, each in costs.items()
    )
    draw(arrange, alt=f"For {words:,} words. {told}.")


# ---- how far each output sees, as gradients tell ----


def reaches(seen: Mapping[str, Tensor]) -> None:
    """`reaches({"attention": gradients})` has a table for each: outputs down, inputs across, (T, T) each."""
    size = 15.0

    def table(name: str, moves: Tensor) -> Part:
        count = len(moves)
        marks = ""
        for out, into in itertools.product(range(count), repeat=2):
            place = Place(into * size, out * size, size, size)
            if moves[out, into]:
                colour = "orange" if into > out else "purple"
                marks += rectangle(place, colour, fill=colour, opacity=0.5)
            else:
                marks += rectangle(place, "faint")
        words = text(name, size=SMALL, bold=True, width=160)
        title = over(max(count * size, words.width), 38, (words, 0, 38 - words.height))
        return column(title, over(count * size, count * size, marks), gap=4, align="left")

    def arrange(narrow: bool) -> Part:
        tables = [table(name, moves) for name, moves in seen.items()]
        rest = note(
            "down: outputs · across: words, the first at the left · filled: this word moves this output"
        )
        if narrow:
            rest = note("down: outputs · across: words\nfilled: this word moves this output")
            return column(row(*tables[:2], gap=12), row(*tables[2:], gap=12), rest, gap=12)
        return column(row(*tables, gap=26, align="bottom"), rest, gap=10)

    told = []
    for name, moves in seen.items():
        last = int(moves[-1].sum())
        future = int(moves.triu(1).sum())
        told.append(
            f"{name}: the last output hears {last} words"
            + (f", and {future} fields lie above the diagonal, in the future" if future else "")
        )
    draw(
        arrange,
        alt=f"Tables of {len(next(iter(seen.values())))} outputs by as many words; a field is filled where "
        f"the word moves the output. {'; '.join(told)}.",
    )


# ---- the recall task ----


def recall_task(letters: str = "CAFBADHE", distance: int = 7) -> None:
    """`recall_task("CAFB", 3)` asks at the end for the letter with a mark."""

    def arrange(narrow: bool) -> Part:
        wide = 34.0 if narrow else 46.0
        cells = grid([[*letters[:distance], "?"]], name="text", colour="key", cell=(wide, 32))
        answer = box(letters[0], colour="output", learned=True)
        first = Place(0, 0, wide, 32)
        top = 26.0
        middle, end = wide / 2, wide * (distance + 0.5)
        marks = rectangle(Place(0, top, wide, 32), "orange", fill="orange", opacity=0.35)
        marks += label(first.width / 2, top - 8, "marked", size=SMALL, colour="orange")
        level = top + 46
        marks += line(middle, top + 38, middle, level) + line(end, top + 38, end, level)
        marks += line(middle, level, end, level)
        marks += label((middle + end) / 2, level + 16, f"distance {distance}", size=SMALL, colour="grey")
        text_part = over(max(cells.width, 60), level + 22, (cells, 0, top), marks)
        if narrow:
            return column(text_part, row(note("which letter was marked?"), answer, gap=10), gap=8)
        return row(text_part, column(note("which letter was marked?"), answer, gap=6), gap=26)

    draw(
        arrange,
        alt=f"The letters {', '.join(letters[:distance])}, the first of them marked, and a question mark "
        f"{distance} places after it. The answer is {letters[0]}.",
    )


# ---- what goes in and what comes out ----


def _tokens(words: Sequence[str], colour: str, wide: float) -> Part:
    return grid([list(words)], colour=colour, cell=(wide, 26))


def uses() -> None:
    """`uses()` has four arrangements of what is read and what is written, on the number 42."""
    letters = list("forty-two")

    def one(title: str, said: str, given: Part, made: Part) -> Part:
        inside = row(given, text("→"), made, gap=8)
        return column(text(title, bold=True), inside, note(said), gap=4)

    def arrange(narrow: bool) -> Part:
        wide = 21.0
        parts = [
            one("sequence to label", "one answer for the whole", _tokens(letters, "key", wide), box("even")),
            one("label to sequence", "one thing in, many out", box("42"), _tokens(letters, "output", wide)),
            one(
                "sequence to sequence",
                "9 letters in, 2 digits out: lengths differ",
                _tokens(letters, "key", wide),
                _tokens("42", "output", wide),
            ),
            one(
                "the next of the same",
                "each output is the input after it",
                _tokens("fort", "key", wide),
                _tokens("orty", "output", wide),
            ),
        ]
        if narrow:
            return column(*parts, gap=14)
        return column(row(*parts[:2], gap=46), row(*parts[2:], gap=46), gap=18)

    draw(
        arrange,
        alt="Four arrangements. Sequence to label: the letters of forty-two in, “even” out. Label to "
        "sequence: 42 in, the letters out. Sequence to sequence: nine letters in, the two digits out. The "
        "next of the same: the letters f, o, r, t in, and o, r, t, y out, each the input after it.",
    )


# ---- shifted by one ----


def shifted(word: str = "two") -> None:
    """`shifted("two")` has inputs and targets, shifted and not shifted."""

    def table(targets: Sequence[str], name: str) -> Part:
        inputs = grid([["^", *word]], name=f"{name} in", rows=["in"], colour="key", cell=(40, 28))
        made = grid([list(targets)], name=f"{name} out", rows=["target"], colour="output", cell=(40, 28))
        left = made.width - inputs.width
        whole = over(made.width, 100, (made, 0, 0), (inputs, left, 70))
        arrows = [
            Arrow(f"{name} in.0.{place}", f"{name} out.0.{place}", sides=("top", "bottom"))
            for place in range(len(word) + 1)
        ]
        return joined(whole, *arrows)

    def arrange(narrow: bool) -> Part:
        right = column(
            text("shifted by one", bold=True),
            table([*word, "$"], "right"),
            note("to answer, it must know the word"),
            gap=6,
        )
        wrong = column(
            text("not shifted", bold=True),
            table(["^", *word], "wrong"),
            note("to answer, it may copy what stands below"),
            gap=6,
        )
        return across(narrow, right, wrong, gap=22 if narrow else 70)

    draw(
        arrange,
        alt=f"The input is a start mark and the letters of {word}. Shifted by one, the target below each is "
        "the letter after it, and at the end a stop mark. Not shifted, the target is the input itself.",
    )


# ---- the exercises ----


def window(kernel: int, dilation: int) -> None:
    """`window(3, 2)` is one output of a dilated convolution, and the words that it reads."""
    words = (kernel - 1) * dilation + 2

    def arrange(narrow: bool) -> Part:
        apart = 34.0 if narrow else 46.0
        xs = [apart * (place + 0.5) for place in range(words)]
        read = {words - 1 - step * dilation for step in range(kernel)}
        marks = "".join(_joined_dots(xs[place], 70, xs[-1], 12, on=True) for place in sorted(read))
        marks += _dot(xs[-1], 12, on=True)
        marks += "".join(_dot(x, 70, on=place in read) for place, x in enumerate(xs))
        part = over(apart * words, 80, marks)
        said = f"kernel {kernel}: it reads {kernel} words\ndilation {dilation}: each {dilation} apart"
        return across(narrow, part, note(said), gap=16)

    draw(
        arrange,
        alt=f"One output and a row of words. It reads {kernel} of them, each {dilation} apart, the last at "
        "its own place.",
    )


def budget(distances: Sequence[int]) -> None:
    """`budget([5, 9, 3])` has texts as bars, each as long as its distance, that share one sum."""
    total = sum(distances)

    def arrange(narrow: bool) -> Part:
        unit = (300 if narrow else 560) / total
        marks, left = "", 0.0
        for distance in distances:
            place = Place(left, 24, unit * distance - 3, 24)
            marks += rectangle(place, "key", fill="key", opacity=0.16)
            marks += rectangle(Place(left, 24, 6, 24), "orange", fill="orange")
            marks += label(left + place.width / 2 + 3, 41, str(distance), size=SMALL)
            left += unit * distance
        marks += label(left / 2, 14, "2,400 letters, in texts of your lengths", size=SMALL, colour="grey")
        trained = over(left, 50, marks)
        tested = over(
            200,
            36,
            rectangle(Place(0, 4, 198, 24), "output", fill="output", opacity=0.16)
            + rectangle(Place(0, 4, 6, 24), "orange", fill="orange")
            + label(100, 21, "then asked at 48", size=SMALL),
        )
        return column(trained, tested, gap=10)

    listed = ", ".join(map(str, distances))
    draw(
        arrange,
        alt=f"Bars of different lengths, {listed}, side by side: texts that share a sum of letters. Below "
        "one longer bar: what the reader is asked afterwards.",
    )
