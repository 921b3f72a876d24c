"""The drawings of the exercises: keys that move up, and a vector that changes texts."""

from bookkit.pictures.drawings import TINT, Part, column, draw, left_note, over
from bookkit.pictures.svg import SMALL, Place, label, line, rectangle, vector

SINKS, WIDTH, NEW = 2, 4, 9  # the piece that comes


def cell(left: float, top: float, wide: float, high: float, words: str, colour: str) -> str:
    """`cell(0, 0, 30, 20, "7", "key")` is a tinted box around a number."""
    marks = rectangle(Place(left, top, wide, high), colour, fill=colour, opacity=TINT)
    return marks + label(left + wide / 2, top + high / 2 + 4.5, words, size=SMALL, colour="ink")


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


def other_vector() -> None:
    """`other_vector()` has two texts, and the vector of one going into the other behind a block."""
    ours, theirs = ("The", "capital", "of", "France", "is"), ("The", "capital", "of", "Italy", "is")
    place = next(i for i, (one, two) in enumerate(zip(ours, theirs, strict=True)) if one != two)

    def arrange(narrow: bool) -> Part:
        wide, left = (50.0, 62.0) if narrow else (84.0, 80.0)
        marks = label(left - 10, 68, "behind a block", size=SMALL, colour="grey", anchor="end") * (not narrow)
        for top, name, text in ((0, "other", theirs), (88, "ids", ours)):
            marks += label(left - 10, top + 19, name, size=SMALL, colour="ink", anchor="end")
            for i, piece in enumerate(text):
                colour = "value" if i == place and name == "other" else "key"
                marks += cell(left + wide * i, top, wide - 3, 28, piece, colour)
        middle = left + wide * (place + 0.5)
        marks += vector(middle, 30, middle, 86, colour="value")
        return over(left + wide * len(ours), 116, marks)

    draw(
        arrange,
        alt=f"Two texts, one below the other: {' '.join(theirs)}, and {' '.join(ours)}. Behind a block the "
        f"vector of {theirs[place]} takes the place of that of {ours[place]}.",
    )
