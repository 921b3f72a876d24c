"""The drawings of the chapter's idea, “One look is one average” and “Split, attend, join”."""

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
    panel,
    row,
)
from bookkit.pictures.svg import Side
from chapters.many_heads.drawings.pieces import WORDS


# ---- the idea ----
def idea() -> None:
    """`idea()` sets one look, which averages, beside two looks, whose answers are kept apart."""

    def words_of(name: str, narrow: bool) -> Part:
        return row(*(box(word, name=f"{name} {word}") for word in WORDS), gap=10 if narrow else 24)

    def arrange(narrow: bool) -> Part:
        said = box("a mean of both", name="mean", colour="output", learned=True)
        one = joined(
            column(words_of("one", narrow), column(said, note("one answer"), gap=6), gap=38),
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
        alt="The words Ann, thanked, Bob, twice. Where “thanked” looks once, it looks at Ann and at Bob, and "
        "gets one answer, a mean of both. Where it looks twice, head 1 brings Ann and head 2 brings Bob, and "
        "the two answers stand side by side.",
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
