"""An update made in helpings: what is in memory at a time, and how the gradients add up."""

from bookkit.pictures.drawings import TINT, Part, draw, left_note, over
from bookkit.pictures.svg import SMALL, SMALLEST, Place, label, rectangle, vector
from chapters.a_gpt_of_your_own.drawings.sample import cell

ROWS, PARTS = 8, 4  # crops of an update, and its helpings
EACH = ROWS // PARTS


def accumulation() -> None:
    """`accumulation()` has an update of 8 crops in 4 helpings of 2, whose gradients add up."""

    def crops(left: float, top: float, width: float, helping: int) -> str:
        return "".join(
            cell(
                Place(left, top + 25 * place, width, 22),
                f"crop {EACH * helping + place + 1}",
                "query",
            )
            for place in range(EACH)
        )

    def gradient(place: Place, so_far: int) -> str:
        """As much of it is there as helpings have been read."""
        share = place.width / PARTS
        marks = rectangle(place, "key")
        for number in range(so_far):
            new = number == so_far - 1
            one = Place(place.left + share * number, place.top, share, place.height)
            marks += rectangle(one, None, fill="key", opacity=0.6 if new else TINT)
        return marks

    def so_far(helping: int) -> str:
        return f"gradient, {EACH * (helping + 1)}/{ROWS}"

    def step(place: Place) -> str:
        middle = place.left + place.width / 2
        return (
            rectangle(place, "output", fill="output", corner=6, opacity=TINT)
            + label(middle, place.top + place.height / 2 - 4, "one step", size=SMALL, bold=True)
            + label(middle, place.top + place.height / 2 + 14, "gradient back to 0", size=SMALLEST)
        )

    def wide() -> Part:
        across, gap = 122.0, 20.0
        marks = ""
        for helping in range(PARTS):
            left = (across + gap) * helping
            middle = left + across / 2
            marks += label(middle, 13, f"helping {helping + 1}", size=SMALL, colour="grey")
            marks += crops(left, 24, across, helping)
            marks += vector(middle, 76, middle, 98, colour="grey", width=1.5)
            marks += label(middle, 115, f"loss × {EACH}/{ROWS}", size=SMALL)
            marks += vector(middle, 123, middle, 145, colour="grey", width=1.5)
            marks += label(middle + 10, 139, "backward", size=SMALLEST, colour="grey", anchor="start")
            marks += gradient(Place(left, 148, across, 26), helping + 1)
            marks += label(middle, 191, so_far(helping), size=SMALLEST, colour="key")
            marks += vector(left + across + 2, 161, left + across + gap - 2, 161, colour="grey", width=1.5)
        end = (across + gap) * PARTS
        marks += step(Place(end, 137, 140, 48))
        said = left_note(
            f"Only {EACH} crops are in memory at a time. Each backward adds its share to the gradient that "
            f"is there; after the last, it is that of all {ROWS}.",
            700,
        )
        return over(end + 140, 212 + said.height, marks, (said, 0, 212))

    def phone() -> Part:
        marks, deep = "", 76.0
        for helping in range(PARTS):
            top = deep * helping
            marks += crops(0, top, 74, helping)
            marks += vector(78, top + 23, 104, top + 23, colour="grey", width=1.5)
            marks += label(146, top + 20, f"loss × {EACH}/{ROWS}", size=SMALL)
            marks += label(146, top + 36, "backward", size=SMALLEST, colour="grey")
            marks += vector(188, top + 23, 210, top + 23, colour="grey", width=1.5)
            marks += gradient(Place(214, top + 10, 112, 26), helping + 1)
            marks += label(214, top + 52, so_far(helping), size=SMALLEST, colour="key", anchor="start")
            marks += vector(314, top + 39, 314, top + deep + 7, colour="grey", width=1.5)
        end = deep * PARTS
        marks += step(Place(200, end + 10, 126, 48))
        said = left_note(
            f"Only {EACH} crops are in memory at a time. Each backward adds its share to the gradient.", 180
        )
        return over(326, end + said.height, marks, (said, 0, end - 4))

    shares = ", ".join(f"{EACH * (place + 1)}/{ROWS}" for place in range(PARTS))
    draw(
        lambda narrow: phone() if narrow else wide(),
        alt=f"An update of {ROWS} crops in {PARTS} helpings of {EACH}. The loss of each helping counts "
        f"{EACH}/{ROWS}, and its backward adds to the gradient that is there, which grows to {shares} of the "
        "whole. Then one step is made, and the gradient goes back to 0.",
    )
