"""The drawings of “Writing faster”: what a block keeps, rows that end together, and guesses."""

from itertools import pairwise
from typing import NamedTuple

from attnlab.decoding import left_padded
from bookkit.pictures.drawings import (
    TINT,
    Arrow,
    Part,
    box,
    column,
    draw,
    grid,
    joined,
    left_note,
    over,
    panel,
    row,
)
from bookkit.pictures.svg import SMALL, SMALLEST, Place, Side, label, rectangle, vector

# ---- three ways ----


class Way(NamedTuple):
    """`Way("one text", ((1, 0), (1, 0)))`: what a reading writes, and what lies behind a refusal."""

    name: str
    readings: tuple[tuple[int, int], ...]
    texts: int = 1


WAYS = (
    Way("one text", ((1, 0),) * 3),
    Way("three texts in a batch", ((1, 0),) * 3, texts=3),
    Way("with four guesses each time", ((3, 2), (1, 4), (4, 1))),
)


def _way(way: Way, size: float, gap: float) -> Part:
    """A frame for each reading, with what it writes, and dashed what lies behind a refused guess."""
    marks, x, high = label(0, 12, way.name, size=SMALL, anchor="start", bold=True), 0.0, size * way.texts
    for written, lost in way.readings:
        frame = Place(x, 22, size * (written + lost) + 8, high + 8)
        marks += rectangle(frame, "grey", fill="grey", corner=4, opacity=0.09)
        for column_ in range(written + lost):
            for text in range(way.texts):
                cell = Place(x + 5 + size * column_, 27 + size * text, size - 2, size - 2)
                if column_ < written:
                    marks += rectangle(cell, "value", fill="value", opacity=0.5)
                else:
                    marks += rectangle(cell, "grey", dashed=True)
        x = frame.right + gap
    return over(x - gap, high + 32, marks)


def readings() -> None:
    """`readings()` has three ways to write, each with three readings of the model."""

    def arrange(narrow: bool) -> Part:
        size, gap = (10.0, 8.0) if narrow else (20.0, 10.0)
        alone, batch, guessed = (_way(way, size, gap) for way in WAYS)
        if narrow:
            ways = column(row(alone, batch, gap=40, align="bottom"), guessed, gap=14, align="left")
        else:
            ways = row(alone, batch, guessed, gap=44, align="bottom")
        above = left_note(
            "Each frame is one reading of the model. With five pieces it takes hardly longer than with one. "
            "Green: a piece that is written. Dashed: what lies behind a refused guess, and is thrown away.",
            320 if narrow else 700,
        )
        return column(above, ways, gap=14, align="left")

    told = "; ".join(
        f"{way.name}: {', '.join(str(written * way.texts) for written, _ in way.readings)}" for way in WAYS
    )
    draw(
        arrange,
        alt=f"Three ways to write, and how many pieces each of three readings of the model adds. {told}. Of "
        "five pieces that a reading with guesses might add, those behind the first refusal are not written.",
    )


# ---- the cache ----

KEPT, BLOCKS = 4, 3


def _block(number: int) -> Part:
    """Keys and values that are kept, with those of the new piece at their end."""
    size, marks = 22.0, ""
    for place, role in enumerate(("key", "value")):
        top = 28 * place
        marks += label(0, top + 16, "kv"[place], size=SMALL, colour=role, anchor="start", bold=True)
        for column_ in range(KEPT + 1):
            cell = Place(16 + size * column_, top, size - 3, size - 3)
            new = column_ == KEPT
            marks += rectangle(cell, role, fill=role, opacity=0.5 if new else 0.12)
    cells = over(16 + size * (KEPT + 1), 50, marks)
    return panel(cells, f"block {number}", name=f"block {number}")


def layers() -> None:
    """`layers()` sends one piece through three blocks, each of which has its own cache."""

    def arrange(narrow: bool) -> Part:
        blocks = [_block(number) for number in range(1, BLOCKS + 1)]
        piece = box("one piece", name="piece", colour="query")
        logits = box("logits", name="logits", colour="output")
        along = column if narrow else row
        whole = along(piece, *blocks, logits, gap=26)
        names = ["piece", *(f"block {number}" for number in range(1, BLOCKS + 1)), "logits"]
        sides: tuple[Side, Side] = ("bottom", "top") if narrow else ("right", "left")
        whole = joined(
            whole,
            *(Arrow(start, end, sides=sides) for start, end in pairwise(names)),
        )
        below = left_note(
            "Pale: kept from the pieces before. Strong: put behind them by the new piece, whose query "
            "looks at all.",
            320 if narrow else 700,
        )
        return column(whole, below, gap=12)

    draw(
        arrange,
        alt=f"One piece goes through {BLOCKS} blocks, one after the other, and logits come out. Each block "
        f"keeps keys and values of its own: {KEPT} of each from the pieces before, and one of each from "
        "the new piece.",
    )


# ---- a batch ----

TEXTS = ("The graph is not empty", "A directed graph", "Nodes")


def batch() -> None:
    """`batch()` has three texts that end together, where their pieces stand, and what one of them sees."""
    words = [each.split() for each in TEXTS]
    ids, visible, places = left_padded([[1] * len(each) for each in words], filler=0)
    longest = ids.shape[1]
    rows = [[""] * (longest - len(each)) + each for each in words]
    shown = 1
    seen = [["1" if cell else "" for cell in line_] for line_ in visible[shown].tolist()]

    def arrange(narrow: bool) -> Part:
        cell = (62.0, 26.0) if narrow else (78.0, 28.0)
        small = (26.0, 24.0)
        texts = grid(rows, title="ids", colour="query", cell=cell, absent="")
        where = grid(places.tolist(), title="places", digits=0, cell=small)
        what = grid(seen, title=f"visible, row {shown + 1}", colour="key", cell=small, absent="")
        beside = row(where, what, gap=30, align="bottom")
        below = left_note(
            "Dashed on the left: filler. All rows end in the last column, the one to go on from. Filler sees "
            "itself alone, and no piece sees it.",
            320 if narrow else 690,
        )
        body = column(texts, beside, gap=14) if narrow else row(texts, where, what, gap=28, align="bottom")
        return column(body, below, gap=12)

    told_rows = "; ".join(
        f"“{each}” behind {longest - len(each.split())} of filler, at places "
        f"{', '.join(map(str, range(len(each.split()))))}"
        for each in TEXTS
    )
    draw(
        arrange,
        alt=f"A batch of three rows that all end in the last column: {told_rows}. The mask of the second "
        "row: filler sees itself, and each piece sees the pieces of its text up to itself.",
    )


# ---- guesses ----


class Guess(NamedTuple):
    """`Guess("of", q, p, drawn)`: a piece, the draft model's chance and the large one's, the number drawn."""

    word: str
    q: float
    p: float
    u: float

    @property
    def chance(self) -> float:
        """`guess.chance` is that of being kept."""
        return min(1.0, self.p / self.q)

    @property
    def kept(self) -> bool:
        """`guess.kept` says whether it stays, if none before it was refused."""
        return self.u < self.chance


TEXT = "Return the sum"
GUESSES = (
    Guess("of", 0.5, 0.8, 0.93),
    Guess("the", 0.6, 0.3, 0.31),
    Guess("nodes", 0.5, 0.1, 0.74),
    Guess("in", 0.4, 0.2, 0.12),
)
ANEW = "weights"


def guesses() -> None:
    """`guesses()` has four guesses: two are kept, the third is refused, and with it goes the fourth."""
    refused = next(place for place, guess in enumerate(GUESSES) if not guess.kept)

    def arrange(narrow: bool) -> Part:
        across, names, high = (55.0, 108.0, 26.0) if narrow else (104.0, 150.0, 28.0)
        letters, marks = SMALLEST if narrow else SMALL, ""
        rows = {
            "guessed": [guess.word for guess in GUESSES],
            "q, draft model": [f"{guess.q:.1f}" for guess in GUESSES],
            "p, large model": [f"{guess.p:.1f}" for guess in GUESSES],
            "chance to stay": [f"{guess.chance:.1f}" for guess in GUESSES],
            "number drawn": [f"{guess.u:.2f}" for guess in GUESSES],
        }
        for number, (name, cells) in enumerate(rows.items()):
            top = (high + 4) * number
            marks += label(0, top + high / 2 + 4, name, size=letters, anchor="start")
            role = "grey" if number else "query"
            for place, words in enumerate(cells):
                frame = Place(names + across * place + 2, top, across - 4, high)
                late = place > refused
                marks += rectangle(
                    frame, "faint" if late else role, fill=None if late else role, opacity=TINT
                )
                middle, colour = frame.left + frame.width / 2, "grey" if late else "ink"
                marks += label(middle, top + high / 2 + 4, words, size=SMALL, colour=colour)
        top = (high + 4) * len(rows) + 2
        marks += label(0, top + 22, "the text goes on", size=letters, anchor="start")
        for place, guess in enumerate(GUESSES[: refused + 1]):
            frame = Place(names + across * place + 2, top + 4, across - 4, high)
            role = "value" if guess.kept else "output"
            marks += rectangle(frame, role, fill=role, opacity=0.3)
            words = guess.word if guess.kept else ANEW
            marks += label(frame.left + frame.width / 2, top + high / 2 + 8, words, size=SMALLEST)
        body = over(names + across * len(GUESSES), top + high + 8, marks)
        below = left_note(
            f"{refused} are kept. “{GUESSES[refused].word}” is refused, and “{ANEW}” is drawn in its place "
            "from what p has left. What was guessed behind it is thrown away.",
            320 if narrow else 580,
        )
        return column(body, below, gap=10, align="left")

    each = "; ".join(
        f"“{guess.word}”, q {guess.q}, p {guess.p}, kept with chance {guess.chance:.1f}, drawn {guess.u}"
        for guess in GUESSES
    )
    draw(
        arrange,
        alt=f"Behind “{TEXT}” a draft model has guessed {len(GUESSES)} pieces: {each}. The first "
        f"{refused} are kept. The next is refused, “{ANEW}” stands in its place, and the last guess is "
        "thrown away.",
    )


# ---- a mistake ----


def padded_on_the_right() -> None:
    """`padded_on_the_right()` has the same three texts with filler behind them, and where each goes on."""
    words = [each.split() for each in TEXTS]
    longest = max(map(len, words))
    missing = [longest - len(each) for each in words]
    behind = [f"behind {many} of filler" if many else "behind its text" for many in missing]

    def arrange(narrow: bool) -> Part:
        wide, high = (58.0, 26.0) if narrow else (84.0, 28.0)
        cells = grid(
            [each + [""] * (longest - len(each)) for each in words],
            colour="query",
            cell=(wide, high),
            absent="",
        )
        marks = ""
        for number, each in enumerate(words):
            end = Place(wide * (len(each) - 1), high * number, wide, high)
            marks += rectangle(end, "query", fill="query", opacity=0.35)
            start, level = cells.width + 4, high * (number + 0.5)
            marks += vector(start, level, start + 28, level, colour="output", width=2)
            if not narrow:
                marks += label(start + 36, level + 5, behind[number], size=SMALL, anchor="start")
        body = over(cells.width + (34 if narrow else 170), cells.height, marks, (cells, 0, 0))
        below = left_note(
            "Strong: where a text ends. Arrows: where the batch goes on, from the last column. Only the "
            "longest row goes on from its text.",
            320 if narrow else 600,
        )
        return column(body, below, gap=10, align="left")

    each = "; ".join(f"“{text}” goes on {where}" for text, where in zip(TEXTS, behind, strict=True))
    draw(
        arrange,
        alt=f"Three texts in a batch, with filler on their right. All go on from the last column: {each}.",
    )
