"""The drawings, made from the chapter's own numbers."""

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
    panel,
    row,
    text,
)
from bookkit.pictures.svg import SMALL, Place, circle, curve, label, polygon, rectangle

WORDS = ("the", "cat", "sat", "<pad>")
HIDDEN = "hidden"  # the words of a cell that stays empty, in a dashed frame


def _table(may_see: Tensor) -> list[list[str]]:
    return [["✓" if shown else HIDDEN for shown in each] for each in may_see.tolist()]


def _numbers(numbers: Tensor, digits: int) -> list[list[str]]:
    return [["NaN" if math.isnan(each) else f"{each:.{digits}f}" for each in one] for one in numbers.tolist()]


# ---- the idea ----


def idea(scores: Tensor, may_see: Tensor, weights: Tensor) -> None:
    """`idea(scores, may_see, weights)` has scores, mask and weights side by side, for four places."""

    def arrange(narrow: bool) -> Part:
        cell = (48.0, 30.0) if narrow else (44.0, 34.0)
        names = {"columns": WORDS, "cell": cell}
        first = grid(scores, title="scores", colour="key", rows=WORDS, digits=1, **names)  # type: ignore[arg-type]
        mask = grid(
            _table(may_see), title="mask", rows=WORDS if narrow else (), absent=HIDDEN,
            shape="may look ✓, or not", **names,  # type: ignore[arg-type]
        )  # fmt: skip
        last = grid(
            [
                [f"{weight:.2f}" if shown else HIDDEN for weight, shown in zip(*each, strict=True)]
                for each in zip(weights.tolist(), may_see.tolist(), strict=True)
            ],
            title="weights", colour="query", rows=WORDS if narrow else (), absent=HIDDEN,
            shape="each row sums to 1", **names,  # type: ignore[arg-type]
        )  # fmt: skip
        pieces = [first, operator("hide"), mask, operator("softmax"), last]
        return column(*pieces, gap=10) if narrow else row(*pieces, gap=10)

    draw(
        arrange,
        alt="Three grids for the places the, cat, sat and a filler: a row for each query, a column for each "
        "key. The scores; the mask, which lets each word look at itself and at the words before it, and "
        "nobody at the filler; and the weights, which are empty where the mask hides and sum to 1 in "
        "every row.",
    )


# ---- two masks make one ----


def combined(causal: Tensor, padding: Tensor, both: Tensor) -> None:
    """`combined(causal, padding, both)` has a mask over pairs, one over keys, and what both allow."""

    def arrange(narrow: bool) -> Part:
        cell = (48.0, 28.0) if narrow else (43.0, 28.0)

        def one(table: Tensor, title: str, words: str, rows: Sequence[str]) -> Part:
            return grid(
                _table(table), title=title, rows=rows, columns=WORDS, cell=cell, absent=HIDDEN, shape=words
            )

        parts = (
            one(causal, "causal", "nothing that comes later", WORDS),
            operator("and"),
            one(padding[None], "padding", "no filler, for any query", ("all",)),
            operator("="),
            one(both, "both", "what both allow", WORDS if narrow else ()),
        )
        return column(*parts, gap=10) if narrow else row(*parts, gap=8)

    draw(
        arrange,
        alt="A causal mask of four by four, ticks on and below its diagonal; a padding mask of one row for "
        "all queries, ticks for three words and none for the filler; and the two combined, ticks only "
        "where both have one.",
    )


# ---- after the softmax, and before ----


def too_late(late: Tensor, early: Tensor) -> None:
    """`too_late(late, early)` has weights masked after the softmax beside those masked before it."""

    def one(weights: Tensor, title: str, words: str, rows: Sequence[str], cell: tuple[float, float]) -> Part:
        table = grid(weights, title=title, rows=rows, columns=WORDS, colour="query", shaded=True, cell=cell)
        sums = grid(weights.sum(-1, keepdim=True), columns=["sum"], cell=(52, cell[1]))
        return column(row(table, sums, gap=14, align="bottom"), note(words), gap=6)

    def arrange(narrow: bool) -> Part:
        cell = (46.0, 30.0)
        left = one(late, "softmax, then mask", "what is hidden has still been counted", WORDS, cell)
        right = one(early, "mask, then softmax", "what is hidden counts for nothing", WORDS, cell)
        return across(narrow, left, right, gap=26)

    sums = ", ".join(f"{each:.2f}" for each in late.sum(-1).tolist())
    draw(
        arrange,
        alt=f"Two grids of weights with the sums of their rows. Masked after the softmax, the rows sum to "
        f"{sums}. Masked before it, every row sums to 1.",
    )


# ---- a row that hides everything ----


def empty_row(ways: Mapping[str, Tensor]) -> None:
    """`empty_row({"-1e9": weights})` is what each way makes of a query that may look at nothing."""
    remarks = ("a quarter of each thing that was hidden", "not a number", "nothing to see, nothing said")

    def arrange(narrow: bool) -> Part:
        lines = [
            column(
                text(name, bold=True),
                grid(_numbers(weights[None], 2), colour="query", cell=(54, 32)),
                note(words),
                gap=5,
            )
            for (name, weights), words in zip(ways.items(), remarks, strict=True)
        ]
        return column(*lines, gap=18) if narrow else row(*lines, gap=22)

    told = "; ".join(f"{name}: {', '.join(_numbers(each[None], 2)[0])}" for name, each in ways.items())
    draw(arrange, alt=f"The weights of a query to which all four keys are hidden. {told}.")


def spreading(layers: Sequence[Tensor]) -> None:
    """`spreading([nan_after_1, nan_after_2])` shows which places are not a number, from layer to layer."""
    places = ("<pad>", "<pad>", "the", "cat", "sat")
    stages = [("words in", [False] * len(places))]
    stages += [(f"after layer {count}", each.tolist()) for count, each in enumerate(layers, start=1)]

    def stack(name: str, title: str, cells: Sequence[Sequence[str]], high: float) -> Part:
        return grid(cells, name=name, title=title, colour="orange", cell=(84, high), absent="")

    def arrange(narrow: bool) -> Part:
        if narrow:
            rows = [["NaN" if lost[i] else "fine" for _, lost in stages] for i in range(len(places))]
            table = grid(
                rows, rows=places, columns=["in", "layer 1", "layer 2"], cell=(72, 30), colour="grey"
            )
            return column(table, note("a weight of 0 does not help: 0 · NaN = NaN", width=300), gap=8)
        parts = [
            grid(
                [["NaN"] if bad else ["fine"] for bad in lost],
                name=title,
                title=title,
                rows=places if number == 0 else (),
                colour="orange" if number else "grey",
                cell=(84, 30),
            )
            for number, (title, lost) in enumerate(stages)
        ]
        whole = row(*parts, gap=72)
        arrows = [
            Arrow("words in.0.0", "after layer 1.0.0", sides=("right", "left")),
            Arrow("words in.1.0", "after layer 1.1.0", sides=("right", "left")),
        ]
        arrows += [
            Arrow("after layer 1.0.0", f"after layer 2.{i}.0", colour="orange", sides=("right", "left"))
            for i in range(5)
        ]
        return column(joined(whole, *arrows), note("a weight of 0 does not help: 0 · NaN = NaN"), gap=8)

    draw(
        arrange,
        alt="Five places, two of filler at the front and three words. After the first layer the two places "
        "of filler are not a number. After the second layer all five are.",
    )


# ---- one mask, two readers ----


def two_readers(mask: Tensor, keeps: Tensor, blocks: Tensor) -> None:
    """`two_readers(mask, keeps, blocks)` shows one boolean mask, and both functions' weights by it."""

    def weights(table: Tensor, reader: str, words: str) -> Part:
        told = grid(table, colour="query", shaded=True, cell=(40, 28), digits=1)
        return column(text(reader, size=SMALL, code=True), told, note(words), gap=5)

    def arrange(narrow: bool) -> Part:
        letters = [["T" if each else "F" for each in one] for one in mask.tolist()]
        given = column(
            text("ones.triu(1)", size=SMALL, code=True),
            grid(letters, cell=(30, 28)),
            note("T: lies in the future"),
            gap=5,
        )
        right = weights(blocks, "nn.MultiheadAttention", "True = blocked: the past is read")
        wrong = weights(keeps, "scaled_dot_product_attention", "True = may look: the future is read")
        return column(given, right, wrong, gap=18) if narrow else row(given, "→", right, wrong, gap=24)

    draw(
        arrange,
        alt="A boolean table, True above its diagonal, goes to two functions. nn.MultiheadAttention takes "
        "True for blocked: its weights are below the diagonal and on it. scaled_dot_product_attention takes "
        "True for may look: its weights are above the diagonal alone, and the last row has none.",
    )


# ---- whose length hides what ----


def whose_length(lengths: Sequence[int]) -> None:
    """`whose_length([8, 6, 4, 2])` has a cell for each example and head, with the length that masks it."""

    def one(axis: int, title: str, words: str, narrow: bool) -> Part:
        cells = [[str(lengths[(i, j)[axis]]) for j in range(len(lengths))] for i in range(len(lengths))]
        return grid(
            cells,
            title=title,
            colour=("value", "orange")[axis],
            rows=[f"text of {each}" for each in lengths],
            columns=[f"head {j + 1}" for j in range(len(lengths))],
            cell=(56, 28),
            shape=words,
        )

    def arrange(narrow: bool) -> Part:
        right = one(0, "(B, 1, 1, m)", "each text its own length", narrow)
        wrong = one(1, "(B, 1, m)", "each head another text’s", narrow)
        return across(narrow, right, wrong, gap=30)

    listed = ", ".join(map(str, lengths))
    draw(
        arrange,
        alt=f"Two tables with a row for each of four texts, of lengths {listed}, and a column for each of "
        "four heads: how many keys may be seen. With a mask of batch, 1, 1, m each row repeats its text's "
        "own length. With batch, 1, m each row holds all four lengths, one for each head.",
    )


# ---- a language with a limit ----

# Where each word of the small language stands in the drawing, as shares of its width and height.
_AT = {
    "the": (0.1, 0.2), "cat": (0.5, 0.12), "sat": (0.9, 0.2),
    "on": (0.9, 0.85), "mat": (0.5, 0.92), "and": (0.1, 0.85),
}  # fmt: skip


def language(words: Sequence[str], likely: Sequence[int], rare: Sequence[int]) -> None:
    """`language(words, likely, rare)` joins each word to the two that may follow it."""

    def arrow(start: tuple[float, float], end: tuple[float, float], usual: bool) -> str:
        """A bow from the edge of one circle to that of another, in short steps."""
        (x1, y1), (x2, y2) = start, end
        length = math.hypot(x2 - x1, y2 - y1)
        dx, dy = (x2 - x1) / length, (y2 - y1) / length
        bend = 18.0 if usual else -12.0
        share = [place / 32 for place in range(33)]
        bow = [(x1 + t * length * dx, y1 + t * length * dy, 4 * bend * t * (1 - t)) for t in share]
        points = [(x - away * dy, y + away * dx) for x, y, away in bow]
        outside = [
            (x, y) for x, y in points if math.hypot(x - x1, y - y1) > 26 and math.hypot(x - x2, y - y2) > 38
        ]
        (bx, by), wide = outside[-1], 6.0 if usual else 4.0
        ux, uy = (x2 - bx) / math.hypot(x2 - bx, y2 - by), (y2 - by) / math.hypot(x2 - bx, y2 - by)
        reach = math.hypot(x2 - bx, y2 - by) - 27
        head = [
            (bx + reach * ux, by + reach * uy),
            (bx - wide * uy, by + wide * ux),
            (bx + wide * uy, by - wide * ux),
        ]
        colour = "blue" if usual else "grey"
        return curve(outside, colour=colour, width=4 if usual else 1.5) + polygon(head, colour)

    def arrange(narrow: bool) -> Part:
        wide, high = (320.0, 280.0) if narrow else (560.0, 220.0)
        at = {word: (x * wide, y * high) for word, (x, y) in _AT.items()}
        marks = ""
        for place, word in enumerate(words):
            for follows, usual in ((rare, False), (likely, True)):
                marks += arrow(at[word], at[words[follows[place]]], usual)
        for word, (x, y) in at.items():
            marks += circle(x, y, 24, colour="ink", fill="paper") + label(x, y + 5, word, bold=True)
        graph = over(wide, high + 18, marks)
        return column(graph, note("thick: three times in four · thin: once in four"), gap=6)

    told = "; ".join(
        f"{word}: {words[likely[place]]}, more rarely {words[rare[place]]}"
        for place, word in enumerate(words)
    )
    draw(arrange, alt=f"Six words, each with a thick and a thin arrow to what may follow it. {told}.")


# ---- who sees the answer ----


def peeking(words: Sequence[str]) -> None:
    """`peeking(["the", "cat", "sat", "on"])` draws what a word reads and what it should say, in four ways."""
    inputs, targets = words[:-1], words[1:]
    asks = 0  # the word whose answer is looked for

    def one(name: str, seen: int, answers: Sequence[str], says: str) -> Part:
        cell = (48.0, 28.0)
        above = grid([list(answers)], name=f"{name} t", colour="output", cell=cell)
        below = grid([list(inputs)], name=f"{name} x", colour="key", cell=cell)
        whole = column(above, below, gap=44)
        arrows = [
            Arrow(
                f"{name} x.0.{j}",
                f"{name} t.0.{asks}",
                colour="orange" if inputs[j] == answers[asks] else "grey",
                sides=("top", "bottom"),
            )
            for j in range(seen)
        ]
        return column(text(name, bold=True), joined(whole, *arrows), note(says, width=145), gap=6)

    def arrange(narrow: bool) -> Part:
        parts = [
            one("right", asks + 1, targets, "reads “the”, to say “cat”"),
            one("no mask", len(inputs), targets, "reads everything, to say “cat”"),
            one("off by one", asks + 2, targets, "reads “cat”, to say “cat”"),
            one("not shifted", asks + 1, inputs, "reads “the”, to say “the”"),
        ]
        if narrow:
            return column(row(*parts[:2], gap=14, align="top"), row(*parts[2:], gap=14, align="top"), gap=24)
        return row(*parts, gap=26, align="top")

    draw(
        arrange,
        alt="Four small pictures: words below, what should be said above, and arrows from what the first "
        "place reads. Right: the first word, to say the second. No mask: all words; off by one: two, the "
        "answer among them. Not shifted: what is to be said is the first word itself.",
    )


# ---- the leak test ----


def leak_test(before: Sequence[str], after: Sequence[str], place: int) -> None:
    """`leak_test(["the", "cat"], ["the", "mat"], 1)`: two texts, equal up to a place."""

    def arrange(narrow: bool) -> Part:
        cell = (46.0, 28.0) if narrow else (70.0, 30.0)
        cells = [list(before), list(after)]
        top = grid(cells, colour="key", cell=cell, rows=["text", "changed"])
        left = top.width - cell[0] * len(before)
        must = rectangle(Place(left, -4, cell[0] * place, 2 * cell[1] + 8), "value", corner=6)
        words = label(left + cell[0] * place / 2, 2 * cell[1] + 22, "same output", size=SMALL, colour="value")
        words += label(
            left + cell[0] * (place + len(before)) / 2, 2 * cell[1] + 22, "changed", size=SMALL, colour="grey"
        )
        return over(top.width, top.height + 30, (top, 0, 0), must, words)

    draw(
        arrange,
        alt=f"Two texts above each other, equal in their first {place} words and different in all others. A "
        f"frame round the first {place}: there the outputs must be the same.",
    )


def verdicts(table: Mapping[str, tuple[bool, bool]]) -> None:
    """`verdicts({"no mask": (True, True)})` says of each fault which test finds it."""
    names = list(table)
    cells = [["found" if found else "—" for found in each] for each in table.values()]

    def arrange(narrow: bool) -> Part:
        cell = (88.0, 28.0) if narrow else (150.0, 27.0)
        return grid(
            cells,
            rows=names,
            columns=["loss below limit", "leak test"],
            colour="value",
            cell=cell,
            absent="—",
        )

    told = "; ".join(f"{name}: {', '.join(each)}" for name, each in zip(names, cells, strict=True))
    draw(arrange, alt=f"Whether a loss below the limit, and the leak test, find each fault. {told}.")


# ---- dropout ----


def dropped(weights: Tensor, draws: Tensor) -> None:
    """`dropped(weights, draws)` shows one row of weights, and what dropout makes of it several times."""

    def arrange(narrow: bool) -> Part:
        cell = (52.0, 30.0) if narrow else (64.0, 32.0)
        whole = grid(weights[None], title="weights", colour="query", shaded=True, cell=cell)
        after = grid(draws, title="after dropout of one half", colour="query", shaded=True, cell=cell)
        sums = grid(draws.sum(-1, keepdim=True), columns=["sum"], cell=(56, cell[1]))
        right = row(after, sums, gap=12, align="bottom")
        return column(whole, right, gap=16) if narrow else row(whole, "→", right, gap=24)

    told = ", ".join(f"{each:.1f}" for each in draws.sum(-1).tolist())
    draw(
        arrange,
        alt="One row of four weights, and the same row after dropout, several times: some weights are 0, "
        f"the others twice as large. The sums are {told}.",
    )


# ---- what a mask costs ----


def areas(sizes: Mapping[str, int]) -> None:
    """`areas({"(B, heads, n, m)": 67108864})` is a square for each mask, as large as its bytes."""
    largest = max(sizes.values())

    def arrange(narrow: bool) -> Part:
        full = 120.0 if narrow else 130.0
        parts = []
        for name, size in sizes.items():
            side = max(1.5, full * math.sqrt(size / largest))
            amount = f"{size / 2**20:g} MiB" if size >= 2**20 else f"{size // 2**10} KiB"
            square = over(
                side, side, rectangle(Place(0, 0, side, side), "orange", fill="orange", opacity=0.3)
            )
            parts.append(column(square, text(amount, bold=True), note(name), gap=6))
        if narrow:
            return column(*parts, gap=14)
        return row(*parts, gap=44, align="bottom")

    told = "; ".join(f"{name}: {size:,} bytes" for name, size in sizes.items())
    draw(arrange, alt=f"Squares whose areas are the bytes of a mask. {told}.")


# ---- the exercises ----


def batch(lengths: Sequence[int]) -> None:
    """`batch([4, 2, 3])` draws the texts of an exercise, with filler up to the longest."""

    def arrange(narrow: bool) -> Part:
        longest = max(lengths)
        cells = [["word"] * each + ["filler"] * (longest - each) for each in lengths]
        table = grid(cells, rows=[f"length {each}" for each in lengths], cell=(60, 28), absent="filler")
        return column(table, note("who may look where, in each of these?"), gap=6)

    draw(arrange, alt="Three rows of places, of which some at the end are filler.")


def proof(place: int = 3) -> None:
    """`proof()` draws what an exercise wants: a model as a closed box, and two texts that convict it."""

    def arrange(narrow: bool) -> Part:
        one = grid([["a", "b", "c", "x", "y"]], name="one", colour="key", cell=(34, 28))
        other = grid([["a", "b", "c", "z", "w"]], name="other", colour="key", cell=(34, 28))
        model = panel(box("a model", name="model", learned=True), "six of these")
        verdict = column(
            text("different outputs", colour="output", bold=True), note("in the first three places"), gap=3
        )
        texts = column(one, other, gap=14)
        return across(narrow, texts, "→", model, "→", verdict, gap=16 if narrow else 26)

    draw(
        arrange,
        alt="Two texts that agree in their first three words go into a model that nobody has looked into. "
        "What comes out for those three differs.",
    )
