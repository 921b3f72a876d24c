"""The drawings of “Who remembers?” and “What one makes of a reader”."""

from collections.abc import Sequence

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
from bookkit.pictures.svg import SMALL, Place, label, line, rectangle


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
