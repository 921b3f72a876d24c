"""The whole chapter in one drawing: a text becomes numbers, a model predicts the next, the text grows."""

from collections.abc import Sequence
from itertools import accumulate

from bookkit.pictures.drawings import TINT, Part, draw, left_note, over
from bookkit.pictures.svg import (
    SMALL,
    SMALLEST,
    Place,
    arrowhead,
    curve,
    label,
    rectangle,
    vector,
    width_of,
)
from chapters.a_gpt_of_your_own.drawings.sample import TEXTS, cell, cells, pieces, seen

CROP = 5  # the crop is as many pieces
HIGH = 26.0  # a row of cells
GAP = 24.0  # between rows, with an arrow in it
HEAD = 24.0  # the words above a row


def chain() -> None:
    """`chain()` follows one docstring to the piece that a GPT appends to it."""
    made = pieces()
    ids = [*made.encode(TEXTS[0]), made.end]
    numbers, words = [str(number) for number in ids], [seen(number) for number in ids]

    def arrange(narrow: bool) -> Part:
        left, room, letter, least = (0.0, 5.0, SMALLEST, 27.0) if narrow else (176.0, 24.0, SMALL, 54.0)
        widths = [max(least, width_of(word, letter, code=True) + room) for word in words]
        lefts = list(accumulate(widths[:-1], initial=left))
        middles = [a + width / 2 for a, width in zip(lefts, widths, strict=True)]
        crop_end = lefts[CROP]
        text = HEAD if narrow else 0.0
        cut = text + HIGH + 8 + (HEAD if narrow else 6)
        row = cut + HIGH + GAP
        crop = row + HIGH + 10 + (HEAD if narrow else 14)
        model = Place(left, crop + HIGH + GAP, crop_end - left, 42)
        predicted = model.bottom + GAP
        what = "⑤ The GPT predicts at each place what comes next; in training the row says what is right."
        predicts_note = left_note(what, width=320 if narrow else 164)
        drawn = left_note("⑥ One that is likely is drawn and appended.", width=320 if narrow else 170)
        below = predicted + HIGH + 10
        grown = below + predicts_note.height + drawn.height + HEAD + 6 if narrow else below + 16

        def said(top: float, wide: str, phone: str) -> str:
            """Above the row on a phone, else beside it."""
            y = top - 9 if narrow else top + 18
            return label(0, y, phone if narrow else wide, size=SMALL, colour="grey", anchor="start")

        def down(columns: Sequence[float], start: float) -> str:
            return "".join(
                vector(x, start + 3, x, start + GAP - 3, colour="grey", width=1.5) for x in columns
            )

        colours = ["query"] * (len(ids) - 1) + ["grey"]
        marks = said(text, "① A docstring", "① A docstring")
        marks += label(left, text + 18, f'"""{TEXTS[0]}"""', size=SMALLEST + 1, anchor="start", code=True)
        marks += said(cut, "② is cut into pieces,", "② is cut into pieces, ③ numbers in a long row.")
        marks += cells(lefts, widths, cut, HIGH, words, colours, code=True)
        marks += down(middles, cut + HIGH)
        marks += "" if narrow else said(row, "③ numbers in a long row.", "")
        marks += cells(lefts, widths, row, HIGH, numbers, colours)
        marks += said(crop, "④ A crop goes in.", "④ A crop of the row goes in.")
        marks += cells(lefts[:CROP], widths[:CROP], crop, HIGH, numbers[:CROP], ["key"] * CROP)
        marks += cell(Place(crop_end, crop, widths[CROP], HIGH), numbers[CROP], "output", dashed=True)
        marks += down(middles[:CROP], crop + HIGH)
        marks += rectangle(model, "ink", fill="grey", corner=6, opacity=TINT)
        marks += label(model.left + model.width / 2, model.top + 26, "GPT", bold=True)
        marks += down(middles[:CROP], model.bottom)
        marks += cells(lefts[:CROP], widths[:CROP], predicted, HIGH, numbers[1 : CROP + 1], ["output"] * CROP)
        # The last of them goes round, to where the crop ends.
        x, y, top = middles[CROP], predicted + HIGH / 2, crop + HIGH + 11
        marks += curve([(crop_end, y), (x, y), (x, top)], colour="output", width=1.5)
        marks += arrowhead(x, top, (0, -1), 8, "output")
        marks += said(grown, "⑦ The text grows.", "⑦ The text grows.")
        old = made.decode(ids[:CROP])
        behind = width_of(old, SMALLEST + 1, code=True) + 2
        new = Place(left + behind, grown + 2, width_of(words[CROP], SMALLEST + 1, code=True) + 8, HIGH - 4)
        marks += label(left, grown + 18, old, size=SMALLEST + 1, anchor="start", code=True)
        marks += cell(new, words[CROP], "output", code=True)
        return over(
            lefts[-1] + widths[-1],
            grown + HIGH + 2,
            marks,
            (predicts_note, 0, below if narrow else model.top),
            (drawn, *((0, below + predicts_note.height) if narrow else (x + 14, model.top + 3))),
        )

    crop, after = ", ".join(numbers[:CROP]), ", ".join(numbers[1 : CROP + 1])
    draw(
        arrange,
        alt=f"The docstring “{TEXTS[0]}” is cut into {len(ids) - 1} pieces, each of which is a number; an "
        f"end stands behind them in one long row. A crop of {CROP} numbers, {crop}, goes into a GPT. At each "
        f"place comes out what it predicts, {after}: the row, one place later. The last, {numbers[CROP]}, "
        f"is drawn and appended: the text “{made.decode(ids[:CROP])}” grows by “{made.decode([ids[CROP]])}”.",
    )
