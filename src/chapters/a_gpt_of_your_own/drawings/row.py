"""From letters to pieces, and crops of the long row: drawn from the chapter's own code."""

from itertools import accumulate

import torch

from attnlab.corpora.pieces import CHUNK, Pieces
from attnlab.training.run import crops as cut_crops
from bookkit.pictures.drawings import TINT, Part, draw, left_note, over
from bookkit.pictures.svg import SMALL, SMALLEST, Place, label, line, width_of
from chapters.a_gpt_of_your_own.drawings.sample import TEXTS, cell, pieces

WORD = "naïve x_1"
MERGES = ((195, 175), (110, 97), (118, 101), (257, 256), (32, 120))
IN_LETTERS = ("letters", "pieces")  # rows of letters; the others have numbers


def cut() -> None:
    """`cut()` follows nine letters to ten bytes, and a merge at a time to five pieces."""
    letters = [(letter.replace(" ", "␣"), len(letter.encode())) for letter in WORD]
    long = {place for place, (_, size) in enumerate(letters) if size > 1}
    # Of each row: its name, what is in its cells and how many bytes that is, the cells that stand out, and
    # the colour of the others.
    rows = [("letters", letters, long, "grey"), ("bytes", _numbers(0), set[int](), "query")]
    for count, (left, right) in enumerate(MERGES, 1):
        new = 255 + count
        numbers = _numbers(count)
        at = {place for place, (words, _) in enumerate(numbers) if words == str(new)}
        rows.append((f"{left} + {right} → {new}", numbers, at, "grey"))
    made = Pieces(MERGES)
    last = [
        (made.decode([number]).replace(" ", "␣"), len(made.bytes[number])) for number in made.encode(WORD)
    ]
    rows.append(("pieces", last, set(), "query"))
    chunks = [len(chunk.encode()) for chunk in CHUNK.findall(WORD)]
    ends = list(accumulate(chunks[:-1]))

    def arrange(narrow: bool) -> Part:
        left, wide, high, step = (0.0, 32.0, 25.0, 50.0) if narrow else (150.0, 56.0, 27.0, 40.0)
        marks = ""
        for place, (name, each, stand_out, colour) in enumerate(rows):
            top = step * place + (22 if narrow else 0)
            x = left
            if narrow:
                marks += label(0, top - 7, name, size=SMALL, colour="grey", anchor="start")
            else:
                marks += label(left - 14, top + 18, name, size=SMALL, colour="grey", anchor="end")
            for number, (words, size) in enumerate(each):
                box = Place(x, top, wide * size, high)
                marks += cell(
                    box, words, "output" if number in stand_out else colour, code=name in IN_LETTERS
                )
                x += wide * size
            for end in ends:
                border = left + wide * end
                marks += line(border, top - 5, border, top + high + 5, colour="ink", width=2.5)
        said = left_note(
            "A letter can be two bytes. Each merge joins two neighbours, and none crosses a thick line: a "
            "word with the space before it, a sign and a figure stay apart.",
            320 if narrow else 560,
        )
        bottom = top + high + 16
        return over(left + wide * len(WORD.encode()), bottom + said.height, marks, (said, left, bottom))

    merges = "; ".join(name for name, _, _, _ in rows if "→" in name)
    draw(
        arrange,
        alt=f"“{WORD}” has {len(letters)} letters and {len(WORD.encode())} bytes: the ï is two, 195 and 175. "
        f"Each row makes one merge: {merges}. None crosses the borders before the space, the _ and the 1. "
        f"What is left is {len(last)} pieces: {', '.join(words for words, _ in last)}.",
    )


def _numbers(merges: int) -> list[tuple[str, int]]:
    """The word's pieces after so many merges, and how many bytes each of them is."""
    made = Pieces(MERGES[:merges])
    return [(str(number), len(made.bytes[number])) for number in made.encode(WORD)]


# ---- crops ----

LENGTH, SEED = 5, 242
ON_A_PHONE = 9  # ids in a line


def crops() -> None:
    """`crops()` has a row of three texts, and three crops of it with the targets of each."""
    made = pieces()
    ids = [number for each in TEXTS for number in (*made.encode(each), made.end)]
    ends = [place for place, number in enumerate(ids) if number == made.end]
    # Of a row that counts its own places, a crop says where it begins.
    begin, _ = cut_crops(torch.arange(len(ids)), 3, LENGTH, torch.Generator().manual_seed(SEED))
    starts = sorted(begin[:, 0].tolist())

    def arrange(narrow: bool) -> Part:
        wide, per_line = (36.0, ON_A_PHONE) if narrow else (28.5, len(ids))
        row, inputs, targets, deep = 20.0, 62.0, 90.0, 140.0

        def at(place: int) -> tuple[float, float]:
            return wide * (place % per_line), deep * (place // per_line)

        marks = ""
        for words, end in zip(TEXTS, ends, strict=True):
            x, y = at(end - len(made.encode(words)))
            room = wide * min(per_line, len(ids)) - width_of(words, SMALLEST)
            marks += label(min(x, room), y + 12, words, size=SMALLEST, colour="grey", anchor="start")
        for place in range(per_line, len(ids), per_line):
            if ids[place - 1] != made.end:  # a line that begins within a text
                level = at(place)[1] + 12
                marks += label(0, level, "… goes on", size=SMALLEST, colour="grey", anchor="start")
        for place, number in enumerate(ids):
            x, y = at(place)
            box, ended = Place(x, y + row, wide, 26), number == made.end
            colour, strong = ("ink", 0.3) if ended else ("query", TINT)
            marks += cell(box, "end" if ended else str(number), colour, opacity=strong)
        for start in starts:
            x, y = at(start)
            for edge in (x, x + wide * LENGTH):
                marks += line(edge, y + row + 26, edge, y + inputs, colour="key", dashed=True)
            for name, down, later, colour in (
                ("inputs", inputs, 0, "key"),
                ("targets", targets, 1, "value"),
            ):
                left = x + wide * later
                for place, number in enumerate(ids[start + later :][:LENGTH]):
                    ended = number == made.end
                    where = Place(left + wide * place, y + down, wide, 24)
                    marks += cell(
                        where, "end" if ended else str(number), colour, opacity=0.4 if ended else TINT
                    )
                after, level = left + wide * LENGTH + 5, y + down + 16.5
                marks += label(after, level, name, size=SMALLEST, colour=colour, anchor="start")
        said = left_note(
            "A crop begins anywhere. Its targets are the same crop, one place later, so the last place of "
            "the row is only ever a target. One goes across an end: what stands behind it belongs to "
            "another text.",
            320 if narrow else 700,
        )
        bottom = at(len(ids) - 1)[1] + targets + 36
        width = wide * per_line + (0 if narrow else 52)
        return over(width, bottom + said.height, marks, (said, 0, bottom))

    across = next(ids[start : start + LENGTH] for start in starts if made.end in ids[start : start + LENGTH])
    draw(
        arrange,
        alt=f"A row of {len(ids)} numbers: {len(TEXTS)} texts, with an end, {made.end}, behind each. From it "
        f"{len(starts)} crops of {LENGTH} are cut, from the places {', '.join(map(str, starts))}; the "
        f"targets of each are the same numbers one place later, so the last place is only ever a target. "
        f"One crop, {', '.join(map(str, across))}, goes across an end, into the next text.",
    )
