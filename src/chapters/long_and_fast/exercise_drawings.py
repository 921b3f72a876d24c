"""The drawings of the exercises: what a cache holds, which tiles are seen, what a window is asked."""

import torch

from bookkit.pictures.drawings import TINT, Part, column, draw, left_note, over, row
from bookkit.pictures.svg import LETTERS, SMALL, Place, label, rectangle
from chapters.long_and_fast.exercises.cache_bytes import check_cache_bytes

LAYERS, HEADS, GROUPS, WIDTH, WORDS = 2, 4, 2, 3, 6  # of a small cache; a key has WIDTH numbers
MARKED = 2  # the word, counted from 0
TILE, TILES = 3, 3  # positions, and tiles along each side
STRONG = 0.55


def _numbers(words: int) -> int:
    """How many numbers so many words leave behind: the bytes, if each took one."""
    return int(check_cache_bytes.reference(LAYERS, HEADS, GROUPS, WIDTH, words, 1, 8, None))


def one_word() -> None:
    """`one_word()` has the keys and values of two layers with two key heads, one word's numbers marked."""

    def held(colour: str, cell: float) -> Part:
        marks = ""
        for place in range(WORDS):
            strength = STRONG if place == MARKED else TINT
            for number in range(WIDTH):
                frame = Place(cell * place, cell * number, cell, cell)
                marks += rectangle(frame, colour, fill=colour, opacity=strength)
        return over(cell * WORDS, cell * WIDTH, marks)

    def layer(number: int, cell: float) -> Part:
        wide, high = cell * WORDS, cell * WIDTH
        placed: list[tuple[Part, float, float] | str] = [
            label(0, 14, f"layer {number + 1}", size=LETTERS, anchor="start", bold=True)
        ]
        for side, (colour, name) in enumerate((("key", "keys"), ("value", "values"))):
            left = side * (wide + 8)
            placed.append(label(left, 34, name, size=SMALL, colour=colour, anchor="start"))
            placed += [(held(colour, cell), left, 41 + group * (high + 10)) for group in range(GROUPS)]
        return over(2 * wide + 8, 31 + GROUPS * (high + 10), *placed)

    def arrange(narrow: bool) -> Part:
        cell = 10.0 if narrow else 15.0
        names = ""
        for group in range(GROUPS):
            middle = 46 + cell * WIDTH * (group + 0.5) + 10 * group
            names += label(0, middle, f"head {group + 1}", size=SMALL, anchor="start")
        layers = [layer(number, cell) for number in range(LAYERS)]
        beside = over(44, layers[0].height, names)
        cache = row(beside, *layers, gap=12 if narrow else 22)
        words = left_note(
            f"{WORDS} words, {GROUPS} heads that hold keys, {WIDTH} numbers in each key. Strong: what one "
            f"word leaves behind, {_numbers(1)} numbers in all.",
            310 if narrow else 200,
        )
        return column(cache, words, gap=12) if narrow else row(cache, words, gap=28)

    draw(
        arrange,
        alt=f"{LAYERS} layers, in each {GROUPS} heads that hold keys and values. Of each head there is a "
        f"grid of keys and one of values, {WIDTH} numbers high and {WORDS} words wide. One word's column is "
        f"marked in all of them: {_numbers(1)} numbers, of {_numbers(WORDS)}.",
    )


def seen_and_hidden() -> None:
    """`seen_and_hidden()` has a causal table in 3 × 3 tiles: seen as a whole, in part, or not at all."""
    seen = torch.ones(TILE * TILES, TILE * TILES, dtype=torch.bool, device="cpu").tril()
    kinds = {
        (down, across): "all" if part.all() else "part" if part.any() else "none"
        for down, strip in enumerate(seen.split(TILE))  # type: ignore[no-untyped-call]
        for across, part in enumerate(strip.split(TILE, dim=1))
    }
    meant = {
        "all": "every query sees every key",
        "part": "the diagonal runs through",
        "none": "every key comes later",
    }

    def table() -> Part:
        cell, left, top = 15.0, 112.0, 22.0
        side, marks = cell * TILE, ""
        for i, j in seen.nonzero().tolist():
            frame = Place(left + cell * j, top + cell * i, cell, cell)
            marks += rectangle(frame, "paper", fill="grey", opacity=0.3)
        for (down, across), kind in kinds.items():
            x, y = left + side * across, top + side * down
            marks += rectangle(Place(x, y, side, side), "grey")
            marks += label(x + side / 2, y + side / 2 + 5, kind, size=SMALL, bold=True)
        for number in range(TILES):
            middle, start = side * (number + 0.5), TILE * number
            marks += label(left + middle, top - 8, str(start), size=SMALL, colour="key")
            words = f"queries, top = {start}" if number == 0 else str(start)
            marks += label(left - 8, top + middle + 5, words, size=SMALL, colour="query", anchor="end")
        marks += label(left - 8, top - 8, "keys, left =", size=SMALL, colour="key", anchor="end")
        return over(left + side * TILES, top + side * TILES, marks)

    def meanings() -> Part:
        marks = ""
        for number, (kind, words) in enumerate(meant.items()):
            y = 14 + 22 * number
            marks += label(0, y, kind, size=SMALL, anchor="start", bold=True)
            marks += label(44, y, words, size=SMALL, colour="grey", anchor="start")
        return over(230, 20 + 22 * (len(meant) - 1), marks)

    def arrange(narrow: bool) -> Part:
        return column(table(), meanings(), gap=12) if narrow else row(table(), meanings(), gap=40)

    rows = [", ".join(kinds[down, across] for across in range(TILES)) for down in range(TILES)]
    draw(
        arrange,
        alt=f"A causal table of {TILE * TILES} queries and as many keys, cut into {TILES} × {TILES} tiles "
        f"that begin at 0, {TILE} and {2 * TILE}. What a tile shows, row by row: {'; '.join(rows)}. All: "
        "every query sees every key. Part: the diagonal runs through. None: every key comes later.",
    )
