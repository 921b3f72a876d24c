"""The drawings, made from the chapter's own numbers where it has any."""

import math
from collections.abc import Sequence

from torch import Tensor

from bookkit.pictures.drawings import (
    Arrow,
    Part,
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
)
from bookkit.pictures.svg import Side, circle, label, vector

WORDS = ("Ann", "thanked", "Bob")


# ---- the idea ----


def idea() -> None:
    """`idea()` sets one look, which averages, beside two looks, whose answers are kept apart."""

    def words_of(name: str, narrow: bool) -> Part:
        return row(*(box(word, name=f"{name} {word}") for word in WORDS), gap=10 if narrow else 24)

    def arrange(narrow: bool) -> Part:
        said = box("half Ann, half Bob", name="mean", colour="output", learned=True)
        one = joined(
            column(words_of("one", narrow), column(said, note("who thanked whom?"), gap=6), gap=38),
            *(Arrow(f"one {word}", "mean", weight=0.5, colour="query") for word in ("Ann", "Bob")),
        )
        answers = row(
            box("Ann", name="first", colour="output", learned=True, width=70),
            box("Bob", name="second", colour="output", learned=True, width=70),
            gap=0,
        )
        two = joined(
            column(
                words_of("two", narrow),
                column(answers, note("head 1 asks who, head 2 asks whom"), gap=6),
                gap=38,
            ),
            Arrow("two Ann", "first", weight=1, colour="query", sides=("bottom", "top")),
            Arrow("two Bob", "second", weight=1, colour="query", sides=("bottom", "top")),
        )
        panels = panel(one, "“thanked” looks once"), panel(two, "“thanked” looks twice")
        return column(*panels, gap=14) if narrow else row(*panels, gap=20)

    draw(
        arrange,
        alt="The words Ann, thanked, Bob, twice. Where “thanked” looks once, half its weight goes to Ann and "
        "half to Bob, and the answer is half Ann, half Bob: who thanked whom is lost. Where it looks twice, "
        "head 1 brings Ann and head 2 brings Bob, and the two answers stand side by side.",
    )


# ---- by hand ----


def looks(weights: Tensor, answers: Tensor, turned: Tensor) -> None:
    """`looks(weights, answers, turned)` has a row for each look: its weights, and what it brings home.

    The weights are (3, 3); the answers (3, 2), for the sentence and for the sentence turned round.
    """

    def arrange(narrow: bool) -> Part:
        cell = (44.0, 30.0) if narrow else (52.0, 32.0)
        rows = ("one look", "head 1", "head 2")
        places = ("before", "verb", "after")
        shares = grid(
            weights, name="weights", title="weights of “thanked”", rows=rows, columns=places, colour="query",
            shaded=True, cell=cell,
        )  # fmt: skip
        both = [
            grid(
                numbers, title=f"“{words}”", rows=rows if narrow else (), columns=("Ann", "Bob"),
                colour="output", shaded=True, cell=cell,
            )
            for numbers, words in ((answers, "Ann thanked Bob"), (turned, "Bob thanked Ann"))
        ]  # fmt: skip
        words = note("One look: twice the same answer. Two heads: the answers have changed places.")
        whole = column(shares, *both, gap=18) if narrow else row(shares, "→", *both, gap=22)
        if narrow:
            words = note("One look: twice the same answer. Two heads: they change places.", width=300)
        return column(whole, words, gap=12)

    def listed(numbers: Tensor) -> str:
        return "; ".join(", ".join(f"{number:.2f}" for number in each) for each in numbers.tolist())

    draw(
        arrange,
        alt="Three looks: one look, head 1, head 2. Their weights on the word before the verb, the verb and "
        f"the word after: {listed(weights)}. What they bring home of Ann and of Bob from “Ann thanked Bob”: "
        f"{listed(answers)}; from “Bob thanked Ann”: {listed(turned)}.",
    )


# ---- the whole layer ----

ROLES = {"Q": "query", "K": "key", "V": "value"}
CELL = (16.0, 17.0)


def layer(only: str = "") -> None:
    """`layer()` is the whole layer with its shapes. With `only="join"` all but the last steps step back."""

    def told(part: Part, step: str) -> Part:
        return part if only in ("", step) else faded(part)

    def ink(colour: str, step: str) -> str:
        return colour if only in ("", step) else "faint"

    def blank(columns: int, name: str, colour: str, title: str = "", shape: str = "") -> Part:
        cells = [[""] * columns for _ in WORDS]
        return grid(cells, name=name, title=title, colour=colour, cell=CELL, shape=shape)

    def head(number: int) -> Part:
        pieces = row(
            *(blank(2, f"{letter}{number}", role, title=letter) for letter, role in ROLES.items()), gap=6
        )
        answer = blank(2, f"answer {number}", "output", title=" ")
        lane = row(pieces, operator("attend", name=f"attend {number}"), answer, gap=14)
        arrows = (
            Arrow(f"V{number}", f"attend {number}", colour=ink("grey", "attend")),
            Arrow(f"attend {number}", f"answer {number}", colour=ink("output", "attend")),
        )
        title = f"head {number} of (B, heads, T, d_k)"
        return panel(joined(lane, *arrows), title, name=f"head {number}")

    def arrange(narrow: bool) -> Part:
        given = told(blank(4, "X", "grey", title="X", shape="(B, T, d_{model})"), "split")
        matrices = [
            box(f"W_{letter}", name=f"W_{letter}", colour=role, learned=True)
            for letter, role in ROLES.items()
        ]
        learned = told(
            (row(*matrices, gap=12) if narrow else column(*matrices, gap=30)).named("learned"), "split"
        )
        heads = told(column(head(1), head(2), gap=10), "attend")
        beside = told(blank(4, "joined", "output", title="joined", shape="(B, T, d_{model})"), "join")
        mix = told(box("W_O", name="W_O", colour="output", learned=True), "join")
        last = told(blank(4, "output", "output", title="output", shape="(B, T, d_{model})"), "join")
        if narrow:
            whole = column(given, learned, heads, row(beside, mix, last, gap=18), gap=30)
        else:
            first, last_steps = row(given, learned, gap=26), row(beside, mix, last, gap=15)
            whole = row(first, heads, last_steps, gap=27)
        inward: tuple[Side, Side] = ("bottom", "top") if narrow else ("right", "left")
        arrows = [
            Arrow("X", f"W_{letter}", colour=ink(role, "split"), sides=inward)
            for letter, role in ROLES.items()
        ]
        arrows += [
            Arrow("learned", f"head {number}", colour=ink("grey", "split"), sides=inward)
            for number in ((1,) if narrow else (1, 2))
        ]
        arrows += [
            Arrow(f"answer {number}", "joined", colour=ink("output", "join"), sides=inward)
            for number in ((2,) if narrow else (1, 2))
        ]
        arrows += [
            Arrow("joined", "W_O", colour=ink("output", "join"), sides=("right", "left")),
            Arrow("W_O", "output", colour=ink("output", "join"), sides=("right", "left")),
        ]
        return joined(whole, *arrows)

    draw(
        arrange,
        alt="From X, three words of four numbers, the matrices W_Q, W_K and W_V make queries, keys and "
        "values, of which each of two heads gets its own columns, two numbers a word. Head 1 attends with "
        "its pieces, head 2 with its own. Their answers, two numbers for each word, are joined side by "
        "side, and the matrix W_O makes the output of them, again four numbers for each word."
        + (" Only the joining and W_O stand out here." if only else ""),
    )


# ---- the output matrix ----


def written_by_heads() -> None:
    """`written_by_heads()` is the product with W_O, as a sum over the heads."""

    def arrange(narrow: bool) -> Part:
        size = (20.0, 18.0)

        def blank(high: int, wide: int, colour: str, **more: str) -> Part:
            return grid([[""] * wide for _ in range(high)], colour=colour, cell=size, **more)  # type: ignore[arg-type]

        terms = [
            row(
                blank(3, 2, "output", title=f"head {head}", shape="(T, d_k)"),
                "×",
                blank(2, 4, "grey", title="its part of W_O", shape="(d_k, d_{model})"),
                gap=8,
            )
            for head in (1, 2)
        ]
        out = blank(3, 4, "output", title="output", shape="(T, d_{model})")
        if narrow:
            return column(terms[0], "+", terms[1], "=", out, gap=6)
        return row(terms[0], "+", terms[1], "=", out, gap=14)

    draw(
        arrange,
        alt="The answer of head 1, T by d_k, times its own rows of W_O, d_k by d_model, plus the answer of "
        "head 2 times its rows, is the output, T by d_model.",
    )


# ---- the round table ----


def table(names: Sequence[str], asks: int, asked: Sequence[int]) -> None:
    """`table(names, asks=2, asked=[-1, 1])` seats the guests; from one of them arrows lead to those asked."""
    count = len(names)

    def arrange(narrow: bool) -> Part:
        radius, side = (82.0, 270.0) if narrow else (88.0, 300.0)
        middle = side / 2, radius + 34

        def seat(place: int, far: float) -> tuple[float, float]:
            # Anticlockwise, as seen from above: who faces the table has the next seat on the right.
            angle = -2 * math.pi * place / count - math.pi / 2
            return middle[0] + far * math.cos(angle), middle[1] + far * math.sin(angle)

        marks = circle(*middle, radius - 36, colour="faint")
        for place, name in enumerate(names):
            colour = "query" if place == asks else "key" if (place - asks) % count in wanted else "ink"
            x, y = seat(place, radius + 8)
            marks += label(x, y + 5, name, colour=colour, bold=place == asks)
        for offset in asked:
            start, end = seat(asks, radius - 12), seat((asks + offset) % count, radius - 14)
            marks += vector(*start, *end, colour="query")
        drawn = over(side, 2 * radius + 68, marks)
        who = " and ".join(names[(asks + offset) % count] for offset in asked)
        words = note(
            f"{names[asks]} says who sits on the left and who on the right: {who}. So does everybody else.",
            width=250,
        )
        return column(drawn, words, gap=4) if narrow else row(drawn, words, gap=30)

    wanted = {offset % count for offset in asked}
    draw(
        arrange,
        alt=f"{count} guests around a table: {', '.join(names)}. Arrows lead from one of them, "
        f"{names[asks]}, to both neighbours.",
    )


# ---- heads taken away ----


def removed(shares: Sequence[Tensor], asked: Sequence[str]) -> None:
    """`removed([four, eight], asked)` has, for each layer, what is right without each of its heads.

    Each is (heads, asked), a share of right answers.
    """

    def arrange(narrow: bool) -> Part:
        cell = (56.0, 28.0) if narrow else (62.0, 28.0)
        parts = [
            grid(
                each,
                title=f"{len(each)} heads",
                rows=[f"no head {head}" for head in range(1, len(each) + 1)],
                columns=asked,
                colour="query",
                shaded=True,
                cell=cell,
                shape=words,
            )
            for each, words in zip(
                shares, ("a head for each neighbour", "work shared out, and some to spare"), strict=True
            )
        ]
        return column(*parts, gap=22) if narrow else row(*parts, gap=34, align="top")

    told = ". ".join(
        f"{len(each)} heads, without one after the other: "
        + "; ".join(", ".join(f"{share:.2f}" for share in line) for line in each.tolist())
        for each in shares
    )
    draw(arrange, alt=f"The share of names that is right, for the neighbours {', '.join(asked)}. {told}.")


# ---- the three uses ----


def uses(source: Sequence[str], target: Sequence[str]) -> None:
    """`uses(["Ann", "thanked"], ["Anne", "a"])` has an encoder and a decoder, with who may look where."""

    def arrange(narrow: bool) -> Part:
        def looks_at(queries: int, keys: int, causal: bool = False) -> Part:
            cells = [["" if j <= i or not causal else "no" for j in range(keys)] for i in range(queries)]
            return grid(cells, colour="query", cell=(17, 17), absent="no")

        def use(words: str, name: str, pattern: Part, said: str) -> Part:
            return box(column(row(text(words), pattern, gap=12), note(said), gap=4), name=name)

        read = box(" ".join(source), name="source", colour="key")
        half = box(" ".join(target), name="target", colour="query")
        n, m = len(target), len(source)
        itself = use("self-attention", "self", looks_at(m, m), "every word sees every word")
        masked = use("causal\nself-attention", "causal", looks_at(n, n, causal=True), "none sees a later one")
        across = use("cross-attention", "cross", looks_at(n, m), "keys and values: the encoder’s")
        guess = box("the next word", name="next", colour="output", learned=True)
        left = panel(itself, "encoder", name="encoder")
        right = panel(column(masked, across, gap=26), "decoder", name="decoder")
        down: tuple[Side, Side] = ("bottom", "top")
        arrows = [
            Arrow("source", "encoder", colour="key", sides=down),
            Arrow("target", "decoder", colour="query", sides=down),
            Arrow("causal", "cross", colour="query", sides=down),
            Arrow("cross", "next", colour="output", sides=down),
        ]
        second = column(half, right, guess, gap=26)
        if narrow:
            # No arrow finds its way around the decoder: the same words stand at both ends.
            given = box("keys and values", name="given", colour="value")
            whole = column(read, left, given, second, gap=26)
            memory = Arrow("encoder", "given", colour="value", sides=down)
        else:
            whole = row(column(read, left, gap=26), second, gap=90, align="top")
            memory = Arrow("self", "cross", colour="value", sides=("right", "left"))
        return joined(whole, *arrows, memory)

    draw(
        arrange,
        alt=f"An encoder reads “{' '.join(source)}” with self-attention: every word sees every word. A "
        f"decoder holds “{' '.join(target)}”: causal self-attention, where a word sees itself and those "
        "before it, and then cross-attention, whose queries are the decoder's and whose keys and values "
        "come from the encoder. Out comes the next word.",
    )


# ---- a view without a transpose ----


def pieces(right: Tensor, wrong: Tensor) -> None:
    """`pieces(right, wrong)` shows whose numbers each head holds; both are (heads, T, d_k), of places."""
    names = [f"{word[0]}_{number}" for word in WORDS for number in range(1, 5)]

    def arrange(narrow: bool) -> Part:
        cell = (35.0, 28.0)

        def heads(places: Tensor, rows: Sequence[str]) -> Part:
            return row(
                *(
                    grid(
                        [[names[int(place)] for place in line] for line in head.tolist()],
                        title=f"head {number}",
                        rows=rows if number == 1 else (),
                        colour="value",
                        cell=cell,
                    )
                    for number, head in enumerate(places, start=1)
                ),
                gap=18,
            )

        given = panel(
            grid(
                [[names[4 * i + j] for j in range(4)] for i in range(len(WORDS))],
                rows=WORDS,
                colour="value",
                cell=cell,
            ),
            "the words",
        )
        good = panel(heads(right, WORDS), "cut, then transposed")
        bad = panel(heads(wrong, ("row 1", "row 2", "row 3")), "view straight away")
        return column(given, good, bad, gap=12) if narrow else row(given, good, bad, gap=8)

    def listed(places: Tensor) -> str:
        return "; ".join(
            ", ".join(" ".join(names[int(place)] for place in line) for line in head.tolist())
            for head in places
        )

    draw(
        arrange,
        alt="Three words of four numbers each: Ann has A1 to A4, thanked t1 to t4, Bob B1 to B4. Cut and "
        f"then transposed, the rows of the two heads are {listed(right)}. With view straight away they are "
        f"{listed(wrong)}: a word's numbers stand in two rows, and head 1 never sees Bob.",
    )


# ---- exercises ----


def side_by_side(pieces: Tensor) -> None:
    """`side_by_side(pieces)` has the heads' answers, (heads, T, d_k) places, and the words they belong to."""
    names = [f"{word[0]}_{number}" for word in WORDS for number in range(1, 5)]

    def arrange(narrow: bool) -> Part:
        cell = (35.0, 28.0)
        heads = row(
            *(
                grid(
                    [[names[int(place)] for place in line] for line in head.tolist()],
                    title=f"head {number}",
                    rows=WORDS if number == 1 else (),
                    colour="output",
                    cell=cell,
                )
                for number, head in enumerate(pieces, start=1)
            ),
            gap=24,
        )
        whole = grid(
            [["?"] * 4 for _ in WORDS],
            title="joined",
            rows=WORDS if narrow else (),
            colour="output",
            cell=cell,
        )
        return column(heads, "↓", whole, gap=8) if narrow else row(heads, "→", whole, gap=24)

    draw(
        arrange,
        alt="Two heads, a row for each of the words Ann, thanked and Bob: head 1 has the numbers 1 and 2 of "
        "each word, head 2 the numbers 3 and 4. What stands where once they are joined is for the reader to "
        "say.",
    )


def jobs() -> None:
    """`jobs()` has heads that write through W_O, one of them taken away."""

    def arrange(narrow: bool) -> Part:
        heads = column(
            *(
                box(f"head {number}", name=f"head {number}", colour="output", learned=number != 2)
                for number in range(1, 5)
            ),
            gap=10,
        )
        mix = box("W_O", name="W_O", colour="output", learned=True)
        said = column(
            *(box(f"neighbour {number}", name=f"asked {number}") for number in (1, 2, 3)),
            gap=16,
        )
        whole = row(heads, mix, said, gap=34 if narrow else 90)
        kept = [
            Arrow(f"head {number}", "W_O", colour="output", sides=("right", "left")) for number in (1, 3, 4)
        ]
        gone = [Arrow("head 2", "W_O", colour="faint", dashed=True, sides=("right", "left"))]
        out = [Arrow("W_O", f"asked {number}", sides=("right", "left")) for number in (1, 2, 3)]
        return column(joined(whole, *kept, *gone, *out), note("without head 2: whose name is lost?"), gap=8)

    draw(
        arrange,
        alt="Four heads write through the output matrix W_O, from which the names of three neighbours are "
        "read. The arrow from head 2 is broken off: whose name is lost without it?",
    )
