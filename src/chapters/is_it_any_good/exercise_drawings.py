"""The drawings of the exercises: how each id is judged once, and what followed the last id before."""

from bookkit.checking.inputs import whole
from bookkit.pictures.drawings import TINT, Part, column, draw, note, over
from bookkit.pictures.svg import SMALL, Place, label, line, rectangle, vector
from chapters.is_it_any_good.exercises import check_memory

IDS, VOCABULARY, SHARE = (3, 1, 0, 3, 1, 4, 3, 2, 0, 3), 5, 0.6


def what_followed() -> None:
    """`what_followed()` has ten ids, what came after each earlier 3, and the chances that come of it."""
    *earlier, last = range(len(IDS))
    same = [place for place in earlier if IDS[place] == IDS[last]]
    colours = {last: "query"} | {place + 1: "value" for place in same} | dict.fromkeys(same, "key")
    chances = check_memory.reference(whole(*IDS), VOCABULARY, SHARE).tolist()
    rest = (1 - SHARE) / VOCABULARY

    def read(cell: float) -> Part:
        marks = ""
        for place, each in enumerate(IDS):
            colour = colours.get(place, "grey")
            middle = cell * (place + 0.5)
            ground = Place(cell * place, 26, cell, 28)
            marks += rectangle(ground, colour, fill=colour, opacity=TINT, corner=3)
            marks += label(middle, 45, str(each), size=SMALL, bold=place in colours)
        for place in same:
            left, right = cell * (place + 0.5), cell * (place + 1.5)
            marks += line(left, 25, left, 10, colour="key") + line(left, 10, right, 10, colour="key")
            marks += vector(right, 10, right, 25, colour="key", width=1.5)
        marks += label(cell * (last + 0.5), 70, "last", size=SMALL, colour="query")
        return over(cell * len(IDS), 76, marks)

    def bars(width: float) -> Part:
        marks, step = "", 25.0
        for each, chance in enumerate(chances):
            top, all_of_it, alike = step * each, width * chance, width * rest
            marks += label(14, top + 15, str(each), size=SMALL, anchor="end")
            marks += rectangle(Place(24, top, alike, 20), "grey", fill="grey", opacity=TINT)
            if chance > rest:
                more = Place(24 + alike, top, all_of_it - alike, 20)
                marks += rectangle(more, "output", fill="output", opacity=0.45)
            marks += label(30 + all_of_it, top + 15, f"{chance:.2f}", size=SMALL, anchor="start")
        return over(24 + width * max(chances) + 42, step * VOCABULARY, marks)

    def arrange(narrow: bool) -> Part:
        words = f"behind 3 stood 1, 1 and 2: they share {SHARE:g}, and all ids share the rest"
        told = note(words, width=300 if narrow else None)
        return column(read(32 if narrow else 46), told, bars(420 if narrow else 640), gap=12)

    listed = ", ".join(f"{each} {chance:.2f}" for each, chance in enumerate(chances))
    draw(
        arrange,
        alt=f"The ids {' '.join(map(str, IDS))}. The last is 3, and 3 stood there three times before: an "
        f"arrow leads from each of these places to what followed, 1, 1 and 2. They share {SHARE:g} of the "
        f"chances, and the rest is for all ids alike: {listed}.",
    )


def side_by_side() -> None:
    """`side_by_side()` has a row of ids and the windows that predict each of them but the first once."""
    count, length = 8, 3

    def arrange(narrow: bool) -> Part:
        left, cell = (64.0, 30.0) if narrow else (80.0, 50.0)
        marks = label(left - 10, 19, "row", size=SMALL, colour="grey", anchor="end")
        for place in range(count):
            marks += rectangle(Place(left + cell * place, 0, cell, 28), "grey", fill="grey", opacity=TINT)
            marks += label(left + cell * (place + 0.5), 19, str(place), size=SMALL)
        for number, start in enumerate(range(0, count - 1, length)):
            long = min(length, count - 1 - start)
            for later, colour in ((0, "key"), (1, "value")):
                top = 44 + 72 * number + 30 * later
                name = ("inputs", "targets")[later]
                marks += label(left - 10, top + 18, name, size=SMALL, colour="grey", anchor="end")
                frame = Place(left + cell * (start + later), top, cell * long, 26)
                marks += rectangle(frame, colour, fill=colour, opacity=TINT, corner=3)
        return over(left + cell * count, 260, marks)

    draw(
        arrange,
        alt="A row of ids 0 to 7 and windows of three: inputs 0 to 2 with targets 1 to 3, inputs 3 to 5 with "
        "targets 4 to 6, and last the input 6 with the target 7. Each id but the first is a target once.",
    )
