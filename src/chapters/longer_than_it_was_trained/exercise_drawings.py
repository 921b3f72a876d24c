"""The drawings of the exercises: where a colleague's pieces stand, and what is asked of a longer text."""

from bookkit.pictures.drawings import TINT, Part, column, draw, left_note, over
from bookkit.pictures.svg import SMALL, SMALLEST, Anchor, Place, label, line, rectangle, vector
from chapters.longer_than_it_was_trained.exercises.longest_text import CONTEXT, LAST, LENGTH

STRONG = 0.55
TEXT, NEW = 5, 3


def places_behind_a_cache() -> None:
    """`places_behind_a_cache()` has the places that pieces should have, and those of the colleague's."""
    rows = {
        "as they should be": list(range(TEXT + NEW)),
        "the colleague’s": [*range(TEXT), *[0] * NEW],
    }

    def apart(places: list[int]) -> str:
        """How the text's last piece stands, seen from the last of all."""
        back = places[-1] - places[TEXT - 1]
        return f"{abs(back)} places {'back' if back > 0 else 'ahead'}"

    def arrange(narrow: bool) -> Part:
        cell, first = (38.0, 0.0) if narrow else (54.0, 140.0)
        letters, gap = (SMALLEST if narrow else SMALL), 6.0
        lefts = [first + cell * piece + gap * max(0, piece - TEXT + 1) for piece in range(TEXT + NEW)]
        end = lefts[-1] + cell

        def calls() -> str:
            marks = ""
            for number in range(NEW + 1):
                start = lefts[TEXT - 1 + number] if number else first
                stop = lefts[TEXT - 1 + number] + cell
                words = f"call {number + 1}" if not narrow or not number else str(number + 1)
                marks += label((start + stop) / 2, 12, words, size=letters, colour="grey")
                marks += line(start + 1, 18, stop - 1, 18, colour="grey")
            return marks

        marks, top = calls(), 26.0
        for name, places in rows.items():
            if narrow:
                marks += label(0, top + 13, name, size=letters, anchor="start")
                top += 18
            else:
                marks += label(0, top + 19, name, size=letters, anchor="start")
            for piece, (left, place) in enumerate(zip(lefts, places, strict=True)):
                colour = "key" if piece < TEXT else "query"
                ground = Place(left, top, cell - 2, 28)
                marks += rectangle(ground, colour, fill=colour, opacity=TINT if piece < TEXT else 0.35)
                marks += label(left + cell / 2 - 1, top + 19, str(place), bold=piece >= TEXT)
            before, last = lefts[TEXT - 1] + cell / 2 - 1, lefts[-1] + cell / 2 - 1
            level = top + 44
            marks += line(last, top + 29, last, level) + line(last, level, before, level)
            marks += vector(before, level, before, top + 29, colour="grey", width=1.5)
            marks += label(before - 10, level + 3, apart(places), size=letters, anchor="end")
            top += 60
        words = (
            "Call 1 reads the text. Each later one reads the piece just written, behind the cache. Arrows: "
            "from the last piece to the text’s last."
        )
        body = over(end, top, marks)
        return column(body, left_note(words, 320 if narrow else 560), gap=4, align="left")

    each = "; ".join(
        f"{name}: {', '.join(map(str, places))}, so that from the last piece the text’s last stands "
        f"{apart(places)}"
        for name, places in rows.items()
    )
    draw(
        arrange,
        alt=f"Places of {TEXT} pieces of a text, which the first call reads, and of {NEW} written ones, each "
        f"read by a call of its own. {each[0].upper()}{each[1:]}.",
    )


def one_window() -> None:
    """`one_window()` has a window: what is changed, what is judged, and what the rival sees."""
    ends = 0, LAST, LENGTH - CONTEXT, LENGTH - LAST, LENGTH

    def arrange(narrow: bool) -> Part:
        scale = (306 if narrow else 660) / LENGTH

        def bar(start: int, end: int, top: float, colour: str, opacity: float) -> str:
            return rectangle(
                Place(scale * start, top, scale * (end - start), 28), colour, fill=colour, opacity=opacity
            )

        first, last = scale * LAST / 2, scale * (LENGTH - LAST / 2)
        marks = line(first, 43, first, 22, colour="key") + line(first, 22, last, 22, colour="key")
        marks += vector(last, 22, last, 43, colour="key", width=1.5)
        asked = "does a change here move what is said there?"
        marks += label((first + last) / 2, 14, asked, size=SMALL)
        marks += label(first + 8, 38, "changed", size=SMALL, colour="key", anchor="start")
        marks += label(last - 8, 38, "judged", size=SMALL, colour="output", anchor="end")
        marks += bar(0, LAST, 46, "key", STRONG) + bar(LAST, LENGTH - LAST, 46, "grey", TINT)
        marks += bar(LENGTH - LAST, LENGTH, 46, "output", STRONG)
        marks += label(scale * LENGTH / 2, 65, f"your model sees all {LENGTH}", size=SMALL)
        unseen = Place(0, 84, scale * (LENGTH - CONTEXT), 28)
        marks += rectangle(unseen, "grey", dashed=True)
        marks += bar(LENGTH - CONTEXT, LENGTH - LAST, 84, "grey", TINT)
        marks += bar(LENGTH - LAST, LENGTH, 84, "output", STRONG)
        marks += label(unseen.width / 2, 103, f"the rival sees the last {CONTEXT}", size=SMALL)
        for end in ends:
            anchor: Anchor = "middle" if end else "start"
            marks += label(scale * end, 130, str(end), size=SMALL, colour="grey", anchor=anchor)
        return over(scale * LENGTH + 14, 134, marks)

    draw(
        arrange,
        alt=f"A window of {LENGTH} pieces as a bar. Your model sees all of it, the rival only the last "
        f"{CONTEXT}, from {LENGTH - CONTEXT} on. Judged are the last {LAST}, from {LENGTH - LAST} on, of "
        f"both. The first {LAST} are changed, and an arrow asks whether that moves the judged ones.",
    )
