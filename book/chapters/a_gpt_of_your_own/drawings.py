"""The drawings: from text to a row of ids and back, bytes and pieces, the model, crops, what may be drawn."""

from collections.abc import Sequence

import torch

from attnlab.corpora.pieces import Pieces
from attnlab.decoding import chances
from attnlab.transformer import GPT
from bookkit.pictures.drawings import (
    TINT,
    Arrow,
    Part,
    across,
    box,
    column,
    draw,
    joined,
    note,
    operator,
    over,
    row,
    text,
)
from bookkit.pictures.svg import SMALL, Place, circle, label, line, rectangle, vector

GIVEN = ("Return", " the", " sum", " of")
DRAWN = " the"


def _cell(words: str, width: float, colour: str, *, pale: bool = False) -> Part:
    place = Place(0, 0, width, 28)
    marks = rectangle(place, colour, fill=None if pale else colour, opacity=TINT, corner=3, dashed=pale)
    return over(width, 28, marks + label(width / 2, 19, words, size=SMALL))


def _cells(words: Sequence[str], width: float, colour: str, name: str = "") -> Part:
    cells = row(*(_cell(each, width, colour) for each in words), gap=2)
    return cells.named(name) if name else cells


# ---- the whole ----


def chain() -> None:
    """`chain()` follows a text through pieces, ids, model and a drawn piece, back to text."""
    spelled = [each.replace(" ", "␣") for each in GIVEN]
    ids = ("1203", "268", "1550", "296")

    def arrange(narrow: bool) -> Part:
        width = 58.0 if narrow else 74.0
        whole = column(
            row(text('"Return the sum of"', code=True, size=SMALL), note("a docstring"), gap=10),
            _cells(spelled, width, "key", "pieces"),
            _cells(ids, width, "key", "ids"),
            box(text("GPT", bold=True), name="model", learned=True, width=4 * width),
            _cells(("␣the", "␣sum", "␣of", "␣the"), width, "output", "next"),
            gap=26,
        )
        whole = joined(
            whole,
            Arrow("pieces", "ids", "" if narrow else "each has a number"),
            Arrow("ids", "model"),
            Arrow("model", "next", "" if narrow else "the likeliest to come next"),
        )
        words = note(
            "Trained on every place at once; asked to write, it is asked for the last one: a piece is drawn, "
            "appended, and read with the others the next time.",
            width=300 if narrow else 210,
        )
        return across(narrow, whole, words, gap=28)

    draw(
        arrange,
        alt="“Return the sum of” is cut into four pieces, each with the space before it and a number. "
        "The GPT makes of them, at each place, what is likely to come next: “the”, “sum”, “of”, and "
        "behind the last “the”, which is drawn, appended and read with the others the next time.",
    )


# ---- bytes and pieces ----

WORD = "naïve 1234"
MERGES = ((110, 97), (256, 195), (118, 101), (257, 175), (259, 258))


def cut() -> None:
    """`cut()` has a text as letters, as bytes, and as pieces after each of five merges."""
    pieces = Pieces(MERGES)
    rows: list[tuple[str, list[str], list[int]]] = []
    letters = [*WORD]
    rows.append(
        ("letters", ["␣" if each == " " else each for each in letters], [len(e.encode()) for e in letters])
    )
    for count in (0, 1, 3, 5):
        some = Pieces(MERGES[:count])
        ids = some.encode(WORD)
        spelled = [some.bytes[number] for number in ids]
        words = [
            each.decode().replace(" ", "␣") if _whole(each) and len(each) > 1 else str(number)
            for number, each in zip(ids, spelled, strict=True)
        ]
        name = "bytes" if count == 0 else f"{count} merge{'s' if count > 1 else ''}"
        rows.append((name, words, [len(each) for each in spelled]))
    assert pieces.decode(pieces.encode(WORD)) == WORD

    def arrange(narrow: bool) -> Part:
        left, cell, step = (74.0, 23.0, 36.0) if narrow else (90.0, 46.0, 38.0)
        marks = ""
        for place, (name, words, sizes) in enumerate(rows):
            marks += label(left - 8, step * place + 19, name, size=SMALL, colour="grey", anchor="end")
            x = left
            for word, size in zip(words, sizes, strict=True):
                shown = word if not narrow or len(word) <= 3 * size else ""
                at = Place(x, step * place, cell * size, 28)
                marks += rectangle(at, "key", fill="key", opacity=TINT if place else 0.04, corner=3)
                marks += label(x + cell * size / 2, step * place + 19, shown, size=12 if narrow else SMALL)
                x += cell * size
        border = left + 6 * cell
        marks += line(border, -4, border, step * len(rows) - 4, dashed=True)
        drawn = over(left + cell * len(WORD.encode()), step * len(rows), marks)
        return column(drawn, note("No merge crosses the dotted line."), gap=8)

    draw(
        arrange,
        alt=f"The text “{WORD}” as letters; as bytes, of which ï has 195 and 175; and after one, three "
        "and five merges, by which its first word becomes one piece. No merge crosses the border before the "
        "space and the digits.",
    )


def _whole(spelled: bytes) -> bool:
    """Whether these bytes are letters, none cut in half."""
    try:
        spelled.decode()
    except UnicodeDecodeError:
        return False
    return True


# ---- the model ----


def model() -> None:
    """`model()` has the GPT as a stream through three blocks, with the weights that each part has."""
    made = GPT(2048, d_model=96, heads=3, layers=3, context=128)
    block = made.blocks[0]
    assert isinstance(block, torch.nn.Module)

    def weights(module: torch.nn.Module) -> int:
        return sum(weight.numel() for weight in module.parameters())

    attention = weights(block.get_submodule("attention"))
    network = weights(block.get_submodule("widen")) + weights(block.get_submodule("narrow"))

    def part(words: str, count: int | None, width: float, colour: str = "key") -> Part:
        said = text(words if count is None else f"{words}\n{count:,} weights", size=SMALL)
        return box(said, learned=count is not None, colour=colour, width=width, padding=6)

    def arrange(narrow: bool) -> Part:
        wide = 270.0 if narrow else 330.0
        tables = row(
            part("table of pieces", weights(made.pieces), wide / 2 - 16),
            operator("+"),
            part("table of places", weights(made.places), wide / 2 - 16, "grey"),
            gap=4,
        )
        adds = [
            _beside("attention: reads the places so far", attention, wide),
            _beside("network: widens, GELU, narrows", network, wide),
        ]
        blocks = column(*adds, gap=12)
        ground = rectangle(
            Place(-8, -26, wide + 16, blocks.height + 36), None, fill="grey", corner=8, opacity=0.09
        )
        blocks = over(
            wide,
            blocks.height + 10,
            ground,
            label(wide, -8, "3 blocks", size=SMALL, anchor="end"),
            (blocks, 0, 0),
        )
        whole = column(
            note("ids (B, T)"),
            tables,
            over(wide, 6, ""),
            blocks,
            part("norm", weights(made.norm), wide, "grey"),
            part("the same table of pieces, turned over", None, wide),
            note("logits (B, T, 2048)"),
            gap=18,
        )
        return whole

    draw(
        arrange,
        alt="Ids pick rows of two tables, which are added: "
        f"{weights(made.pieces):,} weights of pieces and {weights(made.places):,} of places. The stream goes "
        f"through three blocks; in each, attention with {attention:,} weights and a network with {network:,} "
        "read it and add to it. Last come a norm, and the same table of pieces, turned over.",
    )


def _beside(words: str, count: int, width: float) -> Part:
    said = box(
        text(f"norm, {words}\n{count:,} weights", size=SMALL, width=width - 56),
        learned=True,
        colour="output",
        width=width - 40,
        padding=6,
    )
    middle = said.height / 2
    marks = line(12, -14, 12, said.height + 14, colour="blue", width=6)
    marks += line(12, middle - 9, 40, middle - 9) + vector(
        40, middle + 9, 22, middle + 9, colour="grey", width=1.5
    )
    marks += circle(12, middle + 9, 8, fill="paper") + label(12, middle + 14, "+")
    return over(width, said.height, marks, (said, 40, 0))


# ---- crops ----


def crops() -> None:
    """`crops()` has a row of three texts with their ends, and two crops with their targets below."""
    ids = [*"abcd", "/", *"efghi", "/", *"jkl", "/"]

    def arrange(narrow: bool) -> Part:
        left, cell, length = (58.0, 17.0, 4) if narrow else (80.0, 34.0, 4)
        marks = label(left - 8, 19, "row", size=SMALL, colour="grey", anchor="end")
        for place, each in enumerate(ids):
            colour = "grey" if each == "/" else "key"
            at = Place(left + cell * place, 0, cell, 28)
            marks += rectangle(at, colour, fill=colour, opacity=0.4 if each == "/" else TINT)
            marks += label(at.left + cell / 2, 19, "end" if each == "/" and not narrow else each, size=12)
        for number, start in enumerate((1, 7)):
            top = 48 + 66 * number
            for name, later, colour, y in (("inputs", 0, "query", top), ("targets", 1, "output", top + 30)):
                marks += label(left - 8, y + 18, name, size=12, colour="grey", anchor="end")
                for place in range(start + later, start + later + length):
                    at = Place(left + cell * place, y, cell, 26)
                    marks += rectangle(at, colour, fill=colour, opacity=TINT)
                    words = ids[place] if ids[place] != "/" or narrow else "end"
                    marks += label(at.left + cell / 2, y + 18, words, size=12)
        return over(left + cell * len(ids), 174, marks)

    draw(
        arrange,
        alt="A row of ids: a b c d, an end, e f g h i, an end, j k l, an end. A crop has the inputs b c d "
        "end and the targets c d end e, each one place later. Another has g h i end, and h i end j. Both run "
        "across the end of a text.",
    )


# ---- what may be drawn ----

SHARES = (0.42, 0.20, 0.13, 0.10, 0.06, 0.04, 0.03, 0.02)
WAYS = {
    "temperature 0.5": {"temperature": 0.5},
    "top-k 3": {"top_k": 3},
    "top-p 0.8": {"top_p": 0.8},
    "min-p 0.1": {"min_p": 0.1},
}


def stays() -> None:
    """`stays()` has eight chances, and what each of four ways to choose makes of them."""
    logits = torch.tensor(SHARES, device="cpu").log()
    left = {name: chances(logits, **how).tolist() for name, how in WAYS.items()}  # type: ignore[arg-type]

    def bars(name: str, shares: Sequence[float]) -> Part:
        marks = label(0, 14, name, size=SMALL, bold=True, anchor="start")
        for place, (before, share) in enumerate(zip(SHARES, shares, strict=True)):
            y = 26 + 16 * place
            marks += rectangle(Place(0, y, 160 * before, 11), "grey", dashed=True)
            if share:
                marks += rectangle(Place(0, y, 160 * share, 11), None, fill="blue", opacity=0.7)
                marks += label(160 * max(share, before) + 5, y + 10, f"{share:.2f}", size=12, anchor="start")
        return over(160, 156, marks)

    def arrange(narrow: bool) -> Part:
        drawn = [bars(name, shares) for name, shares in left.items()]
        if narrow:
            return column(*drawn, gap=16)
        return row(*drawn, gap=24, align="top")

    told = "; ".join(
        f"{name}: {', '.join(f'{share:.2f}' for share in shares if share)}" for name, shares in left.items()
    )
    draw(
        arrange,
        alt=f"Eight chances, {', '.join(f'{share:.2f}' for share in SHARES)}, and what is left. {told}.",
    )


# ---- helpings ----


def accumulation() -> None:
    """`accumulation()` has eight crops in four helpings, whose gradients add up to one step."""

    def arrange(narrow: bool) -> Part:
        width = 72.0 if narrow else 110.0
        helpings = row(
            *(
                column(_cell("2 crops", width, "query"), note("loss · 2/8"), note("backward()"), gap=6).named(
                    f"{one}"
                )
                for one in range(4)
            ),
            gap=8,
        )
        step = box(text("clip, step, zero", size=SMALL), name="step", width=2 * width)
        whole = column(helpings, step, note("the gradients add up by themselves"), gap=26)
        return joined(whole, *(Arrow(f"{one}", "step", sides=("bottom", "top")) for one in range(4)))

    draw(
        arrange,
        alt="Eight crops in four helpings of two. Each one's loss counts two eighths, and each calls "
        "backward: the gradients add up. Then, once: clip, step, zero.",
    )
