"""The drawings of the chapter's idea, “A word is a row” and “By the company they keep”."""

import torch
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
    over,
    panel,
    row,
    text,
)
from bookkit.pictures.svg import SMALL, circle, label
from chapters.from_words_to_vectors.drawings.pieces import BELOW, Words, _beginning

# The sentence and the table by hand with which the chapter begins.
WORDS = ["the", "king", "eats", "his", "bread"]
TABLE = torch.tensor([[0.1, 0.0, 0.2], [0.9, 0.1, 0.0], [0.0, 0.8, 0.1], [0.2, 0.1, 0.3], [0.1, 0.7, 0.9]])
# A map by hand, for the first drawing: each group of words near one point, in shares of its side.
GROUPS = {
    "value": {"king": (0.16, 0.2), "queen": (0.42, 0.14), "boy": (0.3, 0.36)},
    "key": {"bread": (0.7, 0.5), "soup": (0.86, 0.36)},
    "output": {"eats": (0.2, 0.76), "cooks": (0.46, 0.86)},
}


def from_word_to_place(chosen: str) -> None:
    """`from_word_to_place("king")` leads from a word to its row of the chapter's table, and to a place."""
    words, table, at = WORDS, TABLE, WORDS.index(chosen)

    def arrange(narrow: bool) -> Part:
        colours = ["query" if word == chosen else "grey" for word in words]
        asked = [box(word, name=f"word {i}", colour=colours[i], padding=7) for i, word in enumerate(words)]
        cells = [
            grid(table[i : i + 1], name=f"row {i}", rows=[word], colour="value", digits=1, cell=(44, 26))
            for i, word in enumerate(words)
        ]
        rows = column(*[one if i == at else faded(one) for i, one in enumerate(cells)], gap=0, align="right")
        learned = note("learned from the words nearby")
        shelf = column(text("a row for each word", bold=True, size=SMALL), learned, rows, gap=4)
        title, places = text("a place among words", bold=True, size=SMALL), _map(170, 150)
        looked_up = row(column(*asked, gap=7), shelf, gap=36 if narrow else 70)
        if narrow:  # the title below, where no arrow crosses it
            whole = column(looked_up, column(places, title, gap=5), gap=24, align="right")
        else:
            whole = row(looked_up, column(title, places, gap=5), gap=70)
        return joined(
            whole,
            Arrow(f"word {at}", f"row {at}", colour="query", sides=("right", "left")),
            Arrow(f"row {at}", "map", colour="value", sides=("right", "top" if narrow else "left")),
        )

    draw(
        arrange,
        alt=f"The word {chosen} in the sentence “{' '.join(words)}” leads to its row in a table of numbers, "
        "and the row to a place on a map, where people lie near people and foods near foods.",
    )


def _map(width: float, height: float) -> Part:
    marks = []
    for colour, words in GROUPS.items():
        for word, (x, y) in words.items():
            marks.append(circle(x * width, y * height, 4, colour=colour, fill=colour))
            marks.append(label(x * width + 8, y * height + 4, word, size=SMALL, anchor="start"))
    return panel(over(width, height, *marks), name="map")


def one_hot_times_table(words: Words, table: Tensor, chosen: str) -> None:
    """`one_hot_times_table(["the", "king"], table, "king")` has a one-hot vector pick a row."""
    at = words.index(chosen)
    one_hot = [["1" if i == at else "0" for i in range(len(words))]]

    def arrange(narrow: bool) -> Part:
        asked = grid(one_hot, title="one-hot", colour="query", cell=(28, 28), shape=f"[1, {len(words)}]")
        cells = [
            grid(table[i : i + 1], rows=[word], colour="value", digits=1, cell=(46, 26))
            for i, word in enumerate(words)
        ]
        rows = column(*[one if i == at else faded(one) for i, one in enumerate(cells)], gap=0, align="right")
        shelf = column(text("table", bold=True, colour="value"), rows, note(f"[{len(words)}, 3]"), gap=4)
        got = grid(table[at : at + 1], title="row", colour="output", digits=1, cell=(46, 28), shape="[1, 3]")
        if narrow:
            return column(row(asked, "×", gap=10), shelf, row("=", got, gap=10), gap=10)
        return row(asked, "×", shelf, "=", got, gap=16)

    draw(
        arrange,
        alt=f"A row of {len(words)} numbers with a 1 at the place of “{chosen}” and 0 elsewhere, times a "
        f"table of {len(words)} rows of 3, is the table's row of “{chosen}”.",
    )


def rows_that_learn(words: Words, sentence: Words, gradient: Tensor) -> None:
    """`rows_that_learn(["the", "his"], ["the", "the"], gradient)` is a table's gradient, row by row."""
    times = [sentence.count(word) for word in words]

    def arrange(narrow: bool) -> Part:
        said = {0: "not read: no gradient", 1: "read once", 2: "read twice: they add up"}
        lines = []
        for i, word in enumerate(words):
            numbers = grid(gradient[i : i + 1], colour="value", digits=0, cell=(34, 26))
            shown = numbers if times[i] else faded(numbers)
            lines.append(row(_beginning(word, 40), shown, _beginning(said[times[i]], 150), gap=10))
        read = row(*[box(word, padding=6) for word in sentence], gap=5)
        return column(read, text("gradient of the table", bold=True), column(*lines, gap=4), gap=8)

    often = ("not at all", "once", "twice")
    touched = [f"{word} {often[count]}" for word, count in zip(words, times, strict=True)]
    draw(
        arrange,
        alt=f"The gradient of a table after “{' '.join(sentence)}”. Rows were read: {', '.join(touched)}. "
        "What was not read has a gradient of zeros.",
    )


def sliding_window(sentence: Words, place: int, window: int) -> None:
    """`sliding_window(["the", "king", "eats"], 1, 1)` has a word and its neighbours, and who lies outside."""
    near = [i for i in range(len(sentence)) if i != place and abs(i - place) <= window]

    def arrange(narrow: bool) -> Part:
        parts = []
        for i, word in enumerate(sentence):
            colour = "query" if i == place else "key" if i in near else "grey"
            part = box(word, name=f"word {i}", colour=colour, learned=i == place or i in near, padding=5)
            parts.append(part if i == place or i in near else faded(part))
        words = row(*parts, gap=6 if narrow else 22)
        middle = sentence[place]
        pairs = row(
            *[
                box(f"{middle}\n{sentence[i]}", name=f"pair {i}", colour="key", padding=6, width=62)
                for i in near
            ],
            gap=12 if narrow else 30,
        )
        said = note("each pair adds one to the table of counts")
        whole = column(column(words, pairs, gap=40), said, gap=10)
        return joined(whole, *[Arrow(f"word {i}", f"pair {i}", colour="key", sides=BELOW) for i in near])

    neighbours = ", ".join(sentence[i] for i in near)
    draw(
        arrange,
        alt=f"The sentence “{' '.join(sentence)}” with a window of {window} words on either side of "
        f"“{sentence[place]}”. It pairs with {neighbours}; what lies outside is faded.",
    )
