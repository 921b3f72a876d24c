"""What a counted 5-gram sees of a text, and what a memory adds to it."""

from collections.abc import Sequence

from bookkit.pictures.drawings import TINT, Part, draw, over
from bookkit.pictures.svg import SMALL, SMALLEST, Place, label, line, rectangle, vector

WORDS = ("input", ":", "torch", ".", "device", "or", "None", "output", ":", "torch", ".", "?")
SEEN = 4  # words that a 5-gram sees
LIKE_NOW = 2  # of the words that end the row, so many stood together before


def places(words: Sequence[str]) -> tuple[int, int, int]:
    """`last, before, found = places(WORDS)`: what is asked for, where the same two stood, what followed."""
    last = len(words) - 1
    now = words[last - LIKE_NOW : last]
    before = next(place for place in range(last) if words[place : place + LIKE_NOW] == now)
    return last, before, before + LIKE_NOW


def sight() -> None:
    """`sight()` marks what stands before the asked word, and what stood behind the same two words before."""

    def arrange(narrow: bool) -> Part:
        words = WORDS[2:7] + WORDS[8:] if narrow else WORDS
        last, before, found = places(words)
        across, high, top = (36.0, 24.0, 44.0) if narrow else (56.0, 28.0, 44.0)

        def middle(place: int) -> float:
            return across * (place + 0.5)

        def span(start: int, end: int, level: float, words: str, colour: str) -> str:
            left, right = across * start + 2, across * end - 2
            return (
                line(left, level, right, level, colour=colour, width=2)
                + line(left, level, left, level - 6, colour=colour, width=2)
                + line(right, level, right, level - 6, colour=colour, width=2)
                + label(right, level + 17, words, size=SMALL, colour=colour, anchor="end")
            )

        marks = ""
        for place, word in enumerate(words):
            alike = place in range(before, found) or place in range(last - LIKE_NOW, last)
            colour = "value" if place == found else "key" if alike else "grey"
            frame = Place(across * place, top, across, high)
            shown = colour if place != last else None
            marks += rectangle(frame, colour, fill=shown, opacity=TINT, dashed=place == last)
            marks += label(middle(place), top + high / 2 + 4, word, size=SMALLEST)
        marks += line(middle(last), top - 2, middle(last), 22, colour="value", width=1.5)
        marks += line(middle(last), 22, middle(found), 22, colour="value", width=1.5)
        marks += vector(middle(found), 22, middle(found), top - 2, colour="value", width=1.5)
        told = "what stood behind the same two before"
        marks += label((middle(found) + middle(last)) / 2, 14, told, size=SMALL, colour="value")
        marks += span(last - SEEN, last, top + high + 14, "a 5-gram sees four", "key")
        marks += span(0, last, top + high + 52, "a memory holds the last 128", "value")
        return over(across * len(words), top + high + 76, marks)

    last, before, found = places(WORDS)
    draw(
        arrange,
        alt=f"A row that reads {' '.join(WORDS[:last])}, and the next is asked for. A 5-gram sees the last "
        f"{SEEN}. A memory goes back to where the same two, {' '.join(WORDS[before:found])}, stood before, "
        f"and finds what followed: {WORDS[found]}.",
    )
