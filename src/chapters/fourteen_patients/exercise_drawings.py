"""The drawings of the exercises: the curves of the eight patients, and a batch in unequal parts."""

import math
from collections.abc import Sequence

from bookkit.pictures.drawings import TINT, WIDEST, Part, column, draw, left_note, over, row
from bookkit.pictures.svg import SMALL, SMALLEST, Place, circle, curve, label, line, rectangle
from chapters.fourteen_patients.exercises.ward import UPDATES, VOCABULARY

# ---- measured once, and looked at again by a test ----

# Of each patient: means of five updates' losses, and the loss on held-out sentences before any update and
# behind every ten, both as its own training takes them.
CURVES: dict[int, tuple[tuple[float, ...], tuple[float, ...]]] = {
    1: (
        (3.28, 2.82, 2.61, 2.33, 2.15, 2.01, 1.94, 1.89, 1.81, 1.85, 1.75, 1.82),
        (3.79, 2.71, 2.24, 2.00, 1.92, 1.84, 1.80),
    ),
    2: (
        (9.38, 7.59, 6.54, 5.59, 5.28, 4.83, 4.65, 4.21, 3.87, 3.88, 3.58, 3.46),
        (11.31, 6.97, 5.75, 5.03, 4.28, 3.86, 3.57),
    ),
    3: (
        (3.21, 2.71, 2.49, 2.23, 2.10, 1.95, 1.86, 1.81, 1.71, 1.75, 1.67, 1.71),
        (3.74, 2.58, 2.19, 1.97, 1.85, 1.79, 1.77),
    ),
    4: (
        (3.28, 2.59, 2.34, 2.10, 1.98, 1.88, 1.85, 1.80, 1.70, 1.71, 1.61, 1.62),
        (3.91, 2.41, 2.08, 1.90, 1.85, 1.70, 1.62),
    ),
    5: (
        (3.35, 2.85, 2.57, 2.24, 2.10, 1.96, 1.90, 1.84, 1.77, 1.75, 1.70, 1.70),
        (3.75, 2.64, 2.17, 1.97, 1.91, 1.78, 1.73),
    ),
    6: (
        (3.24, 2.63, 2.37, 2.09, 1.99, 1.88, 1.84, 1.82, 1.72, 1.77, 1.70, 1.73),
        (3.69, 2.45, 2.07, 1.91, 1.86, 1.81, 1.77),
    ),
    7: (
        (2.52, 1.76, 1.50, 1.28, 1.17, 0.95, 1.05, 0.88, 0.82, 0.91, 0.83, 0.83),
        (2.98, 1.14, 0.78, 0.63, 0.57, 0.54, 0.52),
    ),
    8: (
        (3.30, 2.60, 2.39, 2.11, 1.99, 1.91, 1.83, 1.81, 1.72, 1.74, 1.65, 1.69),
        (3.92, 2.40, 2.07, 1.90, 1.83, 1.74, 1.70),
    ),
}
LOWEST, HIGHEST = 0.5, 12.0  # nats, on a logarithmic scale
KNOWS_NOTHING = math.log(VOCABULARY)


def _panel(number: int, width: float, height: float) -> Part:
    """One patient's curves, in a frame."""
    trained, held_out = CURVES[number]

    def level(loss: float) -> float:
        return 20 + height * math.log(HIGHEST / loss) / math.log(HIGHEST / LOWEST)

    def along(update: float) -> float:
        return 20 + (width - 24) * update / UPDATES

    marks = label(20, 13, f"patient {number}", size=SMALL, bold=True, anchor="start")
    marks += rectangle(Place(20, 20, width - 24, height), "grey")
    for tick in (1, 10):
        marks += label(16, level(tick) + 4, str(tick), size=SMALLEST, colour="grey", anchor="end")
        marks += line(20, level(tick), width - 4, level(tick), colour="grey", width=0.5)
    known = level(KNOWS_NOTHING)
    marks += line(20, known, width - 4, known, colour="grey", dashed=True)
    step, every = UPDATES / len(trained), UPDATES / (len(held_out) - 1)
    of_training = [(along(step * (place + 0.5)), level(loss)) for place, loss in enumerate(trained)]
    marks += curve(of_training, colour="query")
    for place, loss in enumerate(held_out):
        marks += circle(along(every * place), level(loss), 2.5, colour="output", fill="output")
    return over(width, height + 24, marks)


def eight_curves() -> None:
    """`eight_curves()` has a panel for each patient: the losses of its training, and on held-out text."""

    def arrange(narrow: bool) -> Part:
        in_a_row = 2 if narrow else 4
        wide = WIDEST["narrow" if narrow else "wide"]
        width = (wide - 8 * (in_a_row - 1)) / in_a_row
        panels = [_panel(number, width, 84 if narrow else 96) for number in CURVES]
        starts = range(0, len(panels), in_a_row)
        lines = [row(*panels[start : start + in_a_row], gap=8) for start in starts]
        words = (
            f"Loss in nats a word over {UPDATES} updates, on a logarithmic scale, as each one's own training "
            "takes it. Line: training. Dots: held-out sentences, after eval(). Dashed: of somebody who knows "
            f"nothing, log {VOCABULARY} = {KNOWS_NOTHING:.2f}."
        )
        return column(*lines, left_note(words, wide), gap=8, align="left")

    draw(arrange, alt=_in_words())


def _in_words() -> str:
    def ends(losses: Sequence[float]) -> str:
        return f"from {losses[0]:.2f} to {losses[-1]:.2f}"

    each = "; ".join(
        f"patient {number}: training {ends(trained)}, held-out {ends(held_out)}"
        for number, (trained, held_out) in CURVES.items()
    )
    return (
        f"Eight small diagrams of losses over {UPDATES} updates, in nats a word; the dashed line in each is "
        f"log {VOCABULARY}, {KNOWS_NOTHING:.2f}. {each[0].upper()}{each[1:]}."
    )


def unequal_parts() -> None:
    """`unequal_parts()` has a batch of four rows in two parts, and what each word counts in the mean."""
    lengths = 5, 4, 2, 1
    words = {"part 1": sum(lengths[:2]), "part 2": sum(lengths[2:])}

    def arrange(narrow: bool) -> Part:
        cell = 34.0 if narrow else 46.0
        marks, top = "", 6.0
        for place, length in enumerate(lengths):
            name = list(words)[place // 2]
            if place % 2 == 0:
                marks += label(0, top + 32, name, anchor="start")
            for column_ in range(max(lengths)):
                ground = Place(62 + cell * column_, top, cell - 3, 24)
                if column_ < length:
                    marks += rectangle(ground, "key", fill="key", opacity=TINT if place < 2 else 0.5)
                else:
                    marks += rectangle(ground, "grey", dashed=True)
            if place % 2 and not narrow:
                each = f"a mean of means counts each word 1/{2 * words[name]}"
                marks += label(62 + cell * max(lengths) + 12, top + 2, each, size=SMALL, anchor="start")
            top += 27 + 12 * (place % 2)
        end = 62 + cell * max(lengths)
        body = over(end if narrow else 620, top, marks)
        said = (
            f"Full: words. Dashed: filled up. In the mean of the whole batch each word counts "
            f"1/{sum(lengths)}; in a mean of means, 1/{2 * words['part 1']} and 1/{2 * words['part 2']}."
        )
        return column(body, left_note(said, 320 if narrow else 620), gap=4, align="left")

    draw(
        arrange,
        alt=f"A batch of four rows of {', '.join(map(str, lengths))} words, filled up to {max(lengths)}. The "
        f"first two are part 1, of {words['part 1']} words; the others part 2, of {words['part 2']}. In a "
        f"mean of the two means a word of part 1 counts 1/{2 * words['part 1']}, one of part 2 counts "
        f"1/{2 * words['part 2']}; in the mean of all, each counts 1/{sum(lengths)}.",
    )
