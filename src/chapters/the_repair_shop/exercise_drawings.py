"""The drawings of the exercises: which places a colleague adds, and the sieve that a fault must pass."""

from bookkit.pictures.drawings import Arrow, Part, across, box, draw, joined, over, text
from bookkit.pictures.svg import SMALL, Place, label, line, rectangle

LONGEST, SHORT = 12, 3


def said_alike() -> None:
    """`said_alike()` has a long text and its beginning alone: at the same places the same must be said."""

    def arrange(narrow: bool) -> Part:
        cell, marks = 26.0, ""
        for number, (name, count) in enumerate((("the whole text", LONGEST), ("its beginning", SHORT))):
            top = 92.0 * number
            marks += label(0, top + 13, name, size=SMALL, anchor="start")
            for place in range(count):
                spot = Place(cell * place, top + 19, cell - 2, 24)
                hue = "green" if place < SHORT else "grey"
                marks += rectangle(spot, hue, fill=hue, opacity=0.2)
                marks += label(cell * place + 12, top + 36, "the old cats"[place], size=SMALL)
        for place in range(SHORT):
            x = cell * place + 12
            marks += line(x, 46, x, 108, colour="green")
        marks += label(cell * SHORT + 6, 72, "must say the same", size=SMALL, colour="green", anchor="start")
        return over(cell * LONGEST, 138, marks)

    draw(
        arrange,
        alt=f"A text of {LONGEST} letters, and its first {SHORT} alone. Lines join the first {SHORT} places "
        "of both: there the same must be said.",
    )


def sieve() -> None:
    """`sieve()` has what becomes of a fault: all tests, then a training, then the loss of others."""

    def arrange(narrow: bool) -> Part:
        parts = (
            box(text("your fault, in\nthe small GPT", size=SMALL), name="fault", colour="orange"),
            box(text("12 cheap tests:\nnone finds it", size=SMALL), name="tests", colour="blue"),
            box(text("150 updates:\n0.1 nats worse", size=SMALL), name="loss", colour="purple"),
        )
        return joined(across(narrow, *parts, gap=44), Arrow("fault", "tests"), Arrow("tests", "loss"))

    draw(
        arrange,
        alt="A fault in the small GPT goes to 12 cheap tests, none of which may find it, and then through "
        "150 updates, after which it must be 0.1 nats worse than the healthy model.",
    )
