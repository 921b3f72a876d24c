"""The drawing of an exercise: what is kept of a guess, and what is left."""

from bookkit.pictures.drawings import Part, column, draw, left_note, over
from bookkit.pictures.svg import SMALL, SMALLEST, Place, label, rectangle, width_of

P, Q = (0.5, 0.3, 0.2), (0.2, 0.7, 0.1)


def what_is_left() -> None:
    """`what_is_left()` has p and q of three pieces, the part in common, and what p has more."""
    kept = [min(p, q) for p, q in zip(P, Q, strict=True)]
    left = [p - common for p, common in zip(P, kept, strict=True)]
    refused = [q - common for q, common in zip(Q, kept, strict=True)]
    after = [more / sum(left) for more in left]

    def arrange(narrow: bool) -> Part:
        scale, letters, first = (300.0, SMALLEST, 42.0) if narrow else (430.0, SMALL, 60.0)
        beyond = first + scale * max(*P, *Q) + (12 if narrow else 60)
        long = 0.0 if narrow else 210.0  # of a chance of 1, at the right

        def segment(start: float, size: float, top: float, colour: str, words: str) -> str:
            place = Place(first + scale * start, top, scale * size, 20)
            said = f"{words} {size:.1f}"
            said = said if width_of(said, letters) < place.width - 4 else f"{size:.1f}"
            cut = words == "refused"
            marks = rectangle(place, colour, fill=None if cut else colour, opacity=0.3, dashed=cut)
            return marks + label(place.left + place.width / 2, top + 15, said, size=letters)

        title = "next" if narrow else "next, behind a refusal"
        marks = label(beyond, 12, title, size=letters, anchor="start")
        for word, common in enumerate(kept):
            top = 22.0 + 52 * word
            marks += label(0, top + 26, str(word), bold=True, anchor="start")
            for number, (name, more, colour, words) in enumerate(
                (("q", refused[word], "grey", "refused"), ("p", left[word], "output", "left"))
            ):
                level = top + 21 * number
                marks += label(first - 8, level + 15, name, size=letters, anchor="end")
                marks += segment(0, common, level, "value", "kept")
                if more > 1e-9:
                    marks += segment(common, more, level, colour, words)
            chance, size = after[word], long * after[word]
            if size:
                marks += rectangle(Place(beyond, top + 11, size, 20), "output", fill="output", opacity=0.3)
            at = beyond + size + (6 if size else 0)
            marks += label(at, top + 26, f"{chance:.2f}", size=letters, colour="output", anchor="start")
        body = over(beyond + (36 if narrow else long * max(after) + 42), 22 + 52 * 3 - 8, marks)
        words = (
            f"Three pieces. What p and q have in common is kept. {sum(refused):.1f} of the guesses are "
            f"refused. p has as much left, {sum(left):.1f}, and the next piece is drawn from there."
        )
        return column(body, left_note(words, 320 if narrow else 700), gap=6, align="left")

    each = "; ".join(
        f"piece {word}: p {p}, q {q}, kept {kept[word]:.1f}, left {left[word]:.1f}, then {after[word]:.2f}"
        for word, (p, q) in enumerate(zip(P, Q, strict=True))
    )
    draw(
        arrange,
        alt="Bars of p and q for three pieces, with what both have in common, what is refused of q, what is "
        f"left of p, and the chances of the next piece behind a refusal: {each}. Refused are "
        f"{sum(refused):.1f} in all.",
    )
