"""The drawings of the exercises: which places a colleague adds, and the sieve that a fault must pass."""

from bookkit.pictures.drawings import Arrow, Part, across, box, draw, joined, over, text
from bookkit.pictures.svg import SMALL, Place, label, rectangle

LONGEST, SHORT = 12, 3


def rows_of_places() -> None:
    """`rows_of_places()` has the rows that a long and a short text get."""
    texts = {
        f"{LONGEST} letters": [*range(LONGEST)],
        f"{SHORT} letters, as it should be": [*range(SHORT)],
        f"{SHORT} letters, the colleague’s": [*range(LONGEST - SHORT, LONGEST)],
    }

    def arrange(narrow: bool) -> Part:
        cell, marks = 26.0, ""
        for number, (name, rows) in enumerate(texts.items()):
            top = 54.0 * number
            marks += label(0, top + 13, name, size=SMALL, anchor="start")
            for place, row in enumerate(rows):
                marks += rectangle(
                    Place(cell * place, top + 19, cell - 2, 24), "blue", fill="blue", opacity=0.16
                )
                marks += label(cell * place + 12, top + 36, str(row), size=SMALL)
        return over(cell * LONGEST, 54.0 * len(texts) - 8, marks)

    words = "; ".join(f"{name}: rows {', '.join(map(str, rows))}" for name, rows in texts.items())
    draw(arrange, alt=f"Which rows of the table of places are added. {words}.")


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
