"""The drawings of the exercises: what to count, where to cut, what to exchange, what a probe may read."""

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
    row,
    text,
)
from bookkit.pictures.svg import LETTERS, SMALL, Place, label, line, rectangle
from chapters.looking_inside.exercises.head_scores import SIX_PLACES

WORDS = ("the", "cat", "sat")


def two_scores() -> None:
    """`two_scores()` has one head's weights on a sentence that comes twice, framed."""
    period = len(WORDS)
    before = [(place, place - 1) for place in range(1, 2 * period)]
    next_word = [(place, place - period + 1) for place in range(period, 2 * period)]

    def arrange(narrow: bool) -> Part:
        cells = grid(
            [
                [f"{value:g}" if j <= i else "" for j, value in enumerate(given)]
                for i, given in enumerate(SIX_PLACES)
            ],
            name="w",
            rows=2 * WORDS,
            columns=2 * WORDS,
            cell=(46 if narrow else 56, 30),
            absent="",
        )
        frames = ""
        for places, colour in ((before, "query"), (next_word, "key")):
            for i, j in places:
                at = cells.places[f"w.{i}.{j}"]
                inner = Place(at.left + 3, at.top + 3, at.width - 6, at.height - 6)
                frames += rectangle(inner, colour, fill=colour, opacity=0.12, corner=5)
        framed = over(cells.width, cells.height, (cells, 0, 0), frames)
        words = _legend()
        return across(narrow, framed, words, gap=24)

    draw(
        arrange,
        alt="The weights of one head on “the cat sat the cat sat”, a row for each place that looks and a "
        "column for each that is looked at; what is to come is hidden. Framed in blue is what each place "
        "gives to the one before it: "
        + ", ".join(f"{SIX_PLACES[i][j]:g}" for i, j in before)
        + ". Framed in orange is what each place of the second time gives to the word that followed its own "
        "word the first time: " + ", ".join(f"{SIX_PLACES[i][j]:g}" for i, j in next_word) + ".",
    )


def _legend() -> Part:
    lines = (
        "the place before",
        "the word that came next,",
        "from the second round on",
        "each row: one place looks",
    )
    marks = ""
    for number, words in enumerate(lines):
        marks += label(28, 12 + 22 * number, words, size=SMALL, colour="grey", anchor="start")
    for number, colour in enumerate(("query", "key")):
        at = Place(0, 22 * number, 20, 15)
        marks += rectangle(at, colour, fill=colour, opacity=0.12, corner=4)
    return over(200, 22 * len(lines), marks)


def _heads(name: str, cut: int | None, *, cell: float = 26) -> Part:
    """Three heads, of four numbers each, side by side; those of `cut` are zeros."""
    heads = []
    for head in range(3):
        numbers = [["0" if head == cut else "·"] * 4]
        part = grid(numbers, name=f"{name}{head}", colour="query" if head == cut else "grey", cell=(cell, 28))
        heads.append(column(note(f"head {head + 1}"), part, gap=2))
    return row(*heads, gap=0)


def one_head_removed() -> None:
    """`one_head_removed()` shows where a head's numbers are its own: before the output matrix."""

    def arrange(narrow: bool) -> Part:
        cell = 22 if narrow else 26
        found = _heads("h", 1, cell=cell).named("found")
        mixed = grid([["·"] * 12], name="mixed", colour="output", cell=(cell, 28))
        matrix = box("W_O, and its bias", name="matrix", learned=True)
        drawn = column(found, matrix, mixed, gap=28)
        drawn = joined(drawn, Arrow("found", "matrix"), Arrow("matrix", "mixed"))
        words = (
            note("here each head has d_k neighbours: cut here", width=190),
            note("here every number comes from all heads: too late", width=190),
        )
        if narrow:
            return column(words[0], drawn, words[1], gap=10)
        return row(drawn, column(*words, gap=70, align="left"), gap=26)

    draw(
        arrange,
        alt="What three heads found at one place stands side by side, four numbers each; those of head 2 are "
        "zeros. Below, the output matrix and its bias turn all twelve into twelve numbers that each come "
        "from all heads. A head is cut out above the matrix, not below.",
    )


def exchanged() -> None:
    """`exchanged()` has two runs of one model: one head's findings in the first are put into the second."""

    def arrange(narrow: bool) -> Part:
        gap = 16 if narrow else 50

        def run(name: str, end: str) -> Part:
            heads = row(box("1"), box("2", name=f"{name} 2", colour="key", learned=True), box("3"), gap=8)
            drawn = row(
                box(text(name, code=True), name=f"{name} words", width=66),
                heads.named(f"{name} heads"),
                text(end, size=SMALL if narrow else LETTERS).named(f"{name} end"),
                gap=gap,
            )
            return joined(
                drawn, Arrow(f"{name} words", f"{name} heads"), Arrow(f"{name} heads", f"{name} end")
            )

        both = column(run("other", "…"), run("words", "first − second"), gap=34, align="left")
        both = joined(both, Arrow("other 2", "words 2", "what head 2 found", colour="key"))
        return column(both, note("the heads of one layer, in two runs of one model"), gap=10)

    draw(
        arrange,
        alt="Two runs of one model, which reads `other` in one and `words` in the other. What head 2 of a "
        "layer finds in the first run takes the place of what it finds in the second. At the end of the "
        "second, the logit of the second word is taken from that of the first.",
    )


def may_read() -> None:
    """`may_read()` has the sentence of the probe, and what each of its states has seen."""
    sentence = ("the", "dog", "near", "the", "cats", "barks")

    def arrange(narrow: bool) -> Part:
        wide, height = (52, 118) if narrow else (84, 118)
        marks = ""
        for place, word in enumerate(sentence):
            x = wide * (place + 0.5)
            colour = {4: "value", 5: "query"}.get(place, "grey")
            marks += label(x, 20, word, colour=colour if place > 3 else "ink", bold=place > 3)
            marks += rectangle(
                Place(x - 18, 34, 36, 24), colour, fill=colour, opacity=0.16 if place > 3 else 0.06, corner=5
            )
            marks += label(x, 51, "h", size=13)
        marks += line(wide * 4.5, 60, wide * 4.5, 76, colour="value")
        marks += line(wide * 5.5, 60, wide * 5.5, 96, colour="query")
        marks += label(wide * 4.5 + 6, 90, "must know the number", size=13, colour="value", anchor="end")
        marks += label(wide * 6 - 2, 112, "has read it", size=13, colour="query", anchor="end")
        return over(wide * len(sentence), height, marks)

    draw(
        arrange,
        alt="The sentence “the dog near the cats barks”, a state h for each word. The state at “cats”, "
        "before the verb, must know the number of the subject, to go on. The state at “barks” has "
        "read it off the verb.",
    )
