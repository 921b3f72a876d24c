"""The drawing of an exercise: what followed the last id before, and what that says of the next."""

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
