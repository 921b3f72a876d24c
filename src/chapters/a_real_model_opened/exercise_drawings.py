"""The drawings of the exercises: a block's 20 bytes, and keys that move up."""

from bookkit.pictures.drawings import TINT, Part, column, draw, left_note, note, over
from bookkit.pictures.svg import SMALL, Place, label, line, rectangle

SINKS, WIDTH, NEW = 2, 4, 9  # the piece that comes
HALF = 16  # bytes with two numbers each
HEADER = {"scale": "query", "least": "key"}  # of two bytes each, in the colours that tell them apart


def cell(left: float, top: float, wide: float, high: float, words: str, colour: str) -> str:
    """`cell(0, 0, 30, 20, "7", "key")` is a tinted box around a number."""
    marks = rectangle(Place(left, top, wide, high), colour, fill=colour, opacity=TINT)
    return marks + label(left + wide / 2, top + high / 2 + 4.5, words, size=SMALL, colour="ink")


def bytes_of_a_block() -> None:
    """`bytes_of_a_block()` are the 20 bytes of Q4_1, with the numbers that each holds."""

    def header(wide: float) -> Part:
        return over(4 * wide, 44, *(cell(2 * wide * place, 0, 2 * wide, 44, words, colour)
                                    for place, (words, colour) in enumerate(HEADER.items())))  # fmt: skip

    def packed(wide: float, first: int, count: int) -> Part:
        marks = ""
        for place in range(count):
            marks += cell(wide * place, 0, wide, 22, str(HALF + first + place), "output")
            marks += cell(wide * place, 22, wide, 22, str(first + place), "value")
        return over(wide * count, 44, marks)

    def arrange(narrow: bool) -> Part:
        words = note(
            "Each byte has two numbers: in its high four bits, and in its low.", width=304 * narrow or None
        )
        if narrow:
            return column(header(38), packed(38, 0, 8), packed(38, 8, 8), words, gap=8)
        both = over(20 * 36, 44, (header(36), 0, 0), (packed(36, 0, HALF), 4 * 36, 0))
        return column(both, words, gap=8)

    draw(
        arrange,
        alt="20 bytes in a row. Two are the scale, two the least. Of the 16 behind them, the low four bits "
        "hold numbers 0 to 15, and the high four numbers 16 to 31: the first of them holds 0 and 16.",
    )


def keys_move_up() -> None:
    """`keys_move_up()` has a full cache, and the same when the next piece was read."""
    last = [*range(NEW - WIDTH, NEW)]
    before, after = [*range(SINKS), *last], [*range(SINKS), *last[1:], NEW]

    def arrange(narrow: bool) -> Part:
        wide, left = (38.0, 86.0) if narrow else (64.0, 130.0)
        marks = label(left - 10, 15, "place", size=SMALL, colour="grey", anchor="end")
        for top, held, name in ((24, before, "before"), (92, after, f"with piece {NEW}")):
            marks += label(left - 10, top + 19, name, size=SMALL, colour="ink", anchor="end")
            for place, piece in enumerate(held):
                colour = "output" if piece < SINKS else "query" if piece == NEW else "key"
                marks += cell(left + wide * place, top, wide - 3, 28, str(piece), colour)
        for place, piece in enumerate(before):
            middle = left + wide * (place + 0.5)
            marks += label(middle, 15, str(place), size=SMALL, colour="grey")
            if piece in after:
                marks += line(middle, 54, left + wide * (after.index(piece) + 0.5), 90, colour="grey")
        width = 320 if narrow else 560
        said = f"Purple: sinks. Piece {last[0]} goes, and those behind it move up by one place."
        return column(over(left + wide * len(before), 124, marks), left_note(said, width), gap=6)

    draw(
        arrange,
        alt=f"A cache of {SINKS} sinks and a window of {WIDTH} holds pieces "
        f"{', '.join(map(str, before))} at places 0 to {len(before) - 1}. When piece {NEW} is read, "
        f"it holds {', '.join(map(str, after))} at the same places.",
    )
