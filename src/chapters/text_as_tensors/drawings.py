"""Drawings of texts on their way to a batch, made from the chapter's own texts and numbers."""

from collections.abc import Mapping, Sequence

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
    panel,
    row,
    text,
)
from bookkit.pictures.svg import SMALL

Words = Sequence[str]
PAD = "<pad>"
COLUMNS = ("query", "key", "value")  # the colours of three


def from_text_to_batch(reviews: Sequence[str], ids: Tensor) -> None:
    """`from_text_to_batch(["dull"], ids)` is the whole way: tokens, numbers with the padding, a mask."""
    tokens = [review.split() for review in reviews]

    def arrange(narrow: bool) -> Part:
        small = (26, 28)
        lines = [grid([words], colour="value", cell=(54, 28)) for words in tokens]
        title = text("tokens", bold=True, colour="value")
        cut = column(title, column(*lines, gap=0, align="left"), gap=4, align="left").named("tokens")
        numbers = grid(_numbers(ids), name="ids", title="numbers", colour="key", cell=small, absent=PAD)
        shown = grid(_marks(ids), name="mask", title="mask", colour="query", cell=small, absent="·")
        said = note("Dashed places are filler, and the mask says so.")
        if narrow:
            return column(cut, "↓", row(numbers, shown, gap=14), said, gap=10)
        whole = row(cut, numbers, shown, gap=40, align="bottom")
        return column(joined(whole, Arrow("tokens", "ids"), Arrow("ids", "mask")), said)

    draw(
        arrange,
        alt=f"{len(reviews)} short reviews are cut into words, the words become numbers in a rectangle, "
        "whose shorter rows are filled up with padding, and a mask marks the places that hold a word.",
    )


def vocabulary(words: Words, sentence: Words, ids: Sequence[int]) -> None:
    """`vocabulary(["<unk>", "dull"], ["very", "dull"], [0, 1])` leads from words to their places."""

    def arrange(narrow: bool) -> Part:
        half = (len(words) + 1) // 2
        lists = [(0, words[:half]), (half, words[half:])] if narrow else [(0, words)]
        shelves = [
            grid(
                [[str(start + place) for place in range(len(part))], list(part)],
                name=f"list {start}",
                colour="key",
                cell=(54 if narrow else 66, 28),
            )
            for start, part in lists
        ]
        asked = row(
            *[box(word, name=f"asked {i}", colour="query") for i, word in enumerate(sentence)], gap=40
        )
        arrows = []
        for i, number in enumerate(ids):
            start = half if narrow and number >= half else 0
            cell = f"list {start}.0.{number - start}"
            arrows.append(Arrow(f"asked {i}", cell, colour="query", sides=("bottom", "top")))
        found = note(f"{' '.join(sentence)} → {', '.join(map(str, ids))}")
        return joined(column(asked, *shelves, found, gap=26, align="left"), *arrows)

    unknown = [word for word in sentence if word not in words]
    draw(
        arrange,
        alt=f"The vocabulary is a list of {len(words)} entries. Each word of “{' '.join(sentence)}” leads to "
        f"its place; “{' '.join(unknown)}” is not there and leads to <unk>, place 0.",
    )


def batch(ids: Tensor) -> None:
    """`batch(ids)` is one batch three times: a row for each text, a column for each, and as vectors."""

    def arrange(narrow: bool) -> Part:
        texts, length = ids.shape
        cell = (27, 28)
        rows = column(
            grid(
                _numbers(ids),
                title="batch first",
                colour="key",
                cell=cell,
                absent=PAD,
                shape=f"[{texts}, {length}]",
            ),
            note("a row for each text: what one writes today", width=165),
        )
        columns = column(
            grid(
                _numbers(ids.T),
                title="length first",
                colour="key",
                cell=cell,
                absent=PAD,
                shape=f"[{length}, {texts}]",
            ),
            note("a column for each text: torchtext’s own way", width=120),
        )
        table = column(
            grid(
                [["…"] * 4, ["0.3", "−1.2", "…", "0.8"], ["…"] * 4],
                title="embedding",
                colour="value",
                cell=(40, 28),
                rows=["", "3", ""],
            ),
            note("number 3 fetches row 3: d learned numbers, so that [B, L] becomes [B, L, d]", width=190),
        )
        both = row(rows, columns, gap=24 if narrow else 50, align="top")
        return across(narrow, both, table, gap=40)

    draw(
        arrange,
        alt="The same batch twice: with a row for each text, and turned on its side, with a column for each. "
        "Beside it a table of vectors, from which the number 3 fetches row 3.",
    )


def columns(text_as_columns: Tensor, rows: int) -> None:
    """`columns(torch.arange(12).view(3, 4).T, rows=2)` is a text in columns, a batch and its target."""

    def arrange(narrow: bool) -> Part:
        cut = []
        for place, (piece, colour) in enumerate(zip(text_as_columns.T.tolist(), COLUMNS, strict=True)):
            ids = [str(number) for number in piece]
            long = grid([ids], name=f"piece {place}", colour=colour, cell=(24 if narrow else 36, 28))
            stood = grid([[each] for each in ids], name=f"column {place}", colour=colour, cell=(40, 26))
            cut.append(column(long, stood, gap=30))
        arrows = [Arrow(f"piece {place}", f"column {place}") for place in range(len(cut))]
        first, target = (
            grid([[str(number) for number in line] for line in part.tolist()], title=title, cell=(40, 26))
            for title, part in (("batch", text_as_columns[:rows]), ("target", text_as_columns[1 : rows + 1]))
        )
        said = note("The target is the text one row later: each place’s next token.", width=300)
        made = row(first, target, gap=30) if narrow else column(first, target, gap=12)
        return column(across(narrow, joined(row(*cut, gap=6), *arrows), made, gap=40), said, gap=14)

    draw(
        arrange,
        alt="A text of twelve tokens is cut into three pieces, which stand side by side as columns of four. "
        "The first two rows are a batch; rows two and three are its target.",
    )


def stood_up(title: str, columns: int, steps: int) -> None:
    """`stood_up("2003 tokens", columns=8, steps=35)` is how a text is cut into columns, then into batches."""

    def arrange(narrow: bool) -> Part:
        side = 20 if narrow else 26
        batches = column(
            grid([[""] * columns] * 2, cell=(side, 20), colour="key", name="first"),
            grid([[""] * columns] * 2, cell=(side, 20), colour="key"),
            "⋮",
            grid([[""] * columns], cell=(side, 20), colour="key"),
            gap=8,
        )
        whole = column(text(title, bold=True), batches, note(f"{columns} columns"), gap=6)
        said = note(
            f"a batch: {steps} rows, and the target of each place is one row below it",
            width=120 if narrow else 170,
        )
        return row(whole, said, gap=20)

    draw(
        arrange,
        alt=f"A text of {title} stands in {columns} columns, cut below every {steps} rows. The last batch is "
        "shorter.",
    )


def ways_to_fit(short: Words, long: Words, length: int) -> None:
    """`ways_to_fit(["a"], ["a", "b", "c"], 2)` is two texts in rows, padded and cut at either end."""

    def one(front: bool, narrow: bool) -> Part:
        cell = (46, 28) if narrow else (48, 28)
        over_long = len(long) - length
        filler = [""] * (length - len(short))
        padded = grid(
            [[*filler, *short] if front else [*short, *filler]], colour="value", cell=cell, absent=""
        )
        kept = grid([long[over_long:] if front else long[:length]], colour="value", cell=cell)
        gone = faded(grid([long[:over_long] if front else long[length:]], colour="key", cell=cell))
        cut = row(gone, kept, gap=8) if front else row(kept, gone, gap=8)
        end = "front" if front else "back"
        return column(
            text(f"pad and cut at the {end}", size=SMALL, bold=True),
            padded, cut,
            note("Keras: the beginning goes" if front else "torchtext: the end goes"),
            gap=6, align="right" if front else "left",
        )  # fmt: skip

    def arrange(narrow: bool) -> Part:
        return across(narrow, one(True, narrow), one(False, narrow), gap=24)

    draw(
        arrange,
        alt=f"A text of {len(short)} words and one of {len(long)}, in rows of {length}. Padded and cut at "
        "the front, the short one has filler before it and the long one loses its first words; at the "
        "back, filler comes after, and the last words are lost.",
    )


def buckets(batches: Mapping[str, Sequence[Sequence[int]]]) -> None:
    """`buckets({"as they come": [[2, 7], [3, 8]]})` draws texts by length, in batches, with the filler."""
    wasted = {
        name: sum(max(batch) - length for batch in each for length in batch) for name, each in batches.items()
    }

    def arrange(narrow: bool) -> Part:
        side = 17
        return across(
            narrow,
            *(
                column(
                    text(f"{name}: {wasted[name]} places wasted", size=SMALL, bold=True),
                    row(*[_blocks(batch, side) for batch in each], gap=16, align="top"),
                    gap=8,
                )
                for name, each in batches.items()
            ),
            gap=44,
        )

    words = "; ".join(f"{name}, {count} places are filler" for name, count in wasted.items())
    draw(arrange, alt=f"The same eight texts in two batches of four. {words}.")


def merges(steps: Sequence[tuple[str, Words]]) -> None:
    """`merges([("letters", ["l", "o"]), ("l o", ["lo"])])` is a word after each merge that changes it."""

    def arrange(narrow: bool) -> Part:
        lines = []
        for joint, pieces in steps:
            letter = 25 if narrow else 38
            colours = ["output" if len(piece) > 1 else "grey" for piece in pieces]
            cells = [
                grid([[piece]], colour=colour, cell=(letter * len(piece), 27))
                for piece, colour in zip(pieces, colours, strict=True)
            ]
            lines.append(row(row(*cells, gap=0), note(joint), gap=12))
        return column(*lines, gap=5, align="left")

    start, end = "".join(steps[0][1]), ", ".join(steps[-1][1])
    draw(
        arrange,
        alt=f"The word {start}, first as single letters. With each merge two neighbours become one "
        f"piece, and {len(steps) - 1} merges later it is: {end}.",
    )


def _blocks(lengths: Sequence[int], side: float) -> Part:
    """Each text a row of small squares, filled up to the longest with dashed ones."""
    longest = max(lengths)
    cells = [[" "] * length + [""] * (longest - length) for length in lengths]
    return panel(grid(cells, colour="value", cell=(side, side), absent=""))


def _numbers(ids: Tensor) -> list[list[str]]:
    return [[PAD if number == 1 else str(number) for number in line] for line in ids.tolist()]


def _marks(ids: Tensor) -> list[list[str]]:
    return [["·" if number == 1 else "✓" for number in line] for line in ids.tolist()]
