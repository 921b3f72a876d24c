"""What grows with n × n and what with n, the three ways out, and what a word has to bring past itself."""

from bookkit.pictures.drawings import TINT, Part, column, draw, left_note, over, row
from bookkit.pictures.svg import SMALL, Place, label, line, rectangle, vector

SHORT, LONG = 4, 8  # words
CELL, STRIP = 12.0, 9.0  # pixels of a pair's cell, and of what stands beside the table
WINDOW, TILE = 3, 4  # words
FAINT, FULL = 0.1, 0.45
BATCH = 4  # rows


def _strips(words: int, queries: range | None = None, keys: range | None = None) -> str:
    """Queries beside a table and keys above it; those that a step needs are strong."""
    marks, start = "", STRIP + 3
    for place in range(words):
        strong = FULL if queries is None or place in queries else FAINT
        frame = Place(0, start + CELL * place, STRIP, CELL)
        marks += rectangle(frame, "query", fill="query", opacity=strong)
        strong = FULL if keys is None or place in keys else FAINT
        frame = Place(start + CELL * place, 0, CELL, STRIP)
        marks += rectangle(frame, "key", fill="key", opacity=strong)
    return marks


def _table(words: int, seen: set[tuple[int, int]], marks: str) -> Part:
    """A cell for each pair; those that are made at a time are filled."""
    start = STRIP + 3
    for query in range(words):
        for key in range(words):
            frame = Place(start + CELL * key, start + CELL * query, CELL, CELL)
            there = (query, key) in seen
            marks += rectangle(
                frame, "grey" if there else "faint", fill="ink" if there else None, opacity=0.3
            )
    return over(start + CELL * words, start + CELL * words, marks)


def _all_pairs(words: int) -> Part:
    return _table(words, {(query, key) for query in range(words) for key in range(words)}, _strips(words))


def _tiled() -> Part:
    now = range(TILE, 2 * TILE), range(TILE)
    made = {(query, key) for query in now[0] for key in now[1]}
    return _table(LONG, made, _strips(LONG, *now))


def _windowed() -> Part:
    met = {(query, key) for query in range(LONG) for key in range(max(0, query - WINDOW + 1), query + 1)}
    return _table(LONG, met, _strips(LONG))


def _carried() -> Part:
    """Keys go into one small matrix, and queries ask that."""
    start, side, cells = STRIP + 3, 3 * CELL + 3, 3
    left, top = start + 2.5 * CELL, start + 2.5 * CELL
    size, marks = side / cells, _strips(LONG)
    for i in range(cells):
        for j in range(cells):
            frame = Place(left + size * j, top + size * i, size, size)
            marks += rectangle(frame, "value", fill="value", opacity=FULL)
    middle = left + side / 2
    marks += vector(middle, STRIP + 4, middle, top - 3, colour="key", width=1.5)
    marks += vector(STRIP + 4, middle, left - 3, middle, colour="query", width=1.5)
    return over(start + CELL * LONG, start + CELL * LONG, marks)


def ways_out() -> None:
    """`ways_out()` has a table of all pairs for 4 words and for 8, and the three ways around it."""
    panels = (
        (f"{SHORT} words", _all_pairs(SHORT), f"{SHORT} queries, {SHORT} keys,\n{SHORT * SHORT} pairs"),
        (f"{LONG} words", _all_pairs(LONG), f"{LONG} queries, {LONG} keys,\n{LONG * LONG} pairs"),
        ("tiles", _tiled(), "all pairs, but only a\nfew at a time"),
        ("fewer keys", _windowed(), "each query meets\nonly some"),
        ("no table", _carried(), "one small matrix carries\nwhat was read"),
    )

    def words_of(title: str, said: str) -> Part:
        marks = label(0, 14, title, anchor="start", bold=True)
        for place, each in enumerate(said.split("\n")):
            marks += label(0, 33 + 17 * place, each, size=SMALL, colour="grey", anchor="start")
        return over(190, 54, marks)

    def arrange(narrow: bool) -> Part:
        if narrow:
            rows = []
            for title, picture, said in panels:
                beside = over(112, picture.height, (picture, 0, 0))
                rows.append(row(beside, words_of(title, said), gap=16))
            return column(*rows, gap=14, align="left")
        tall = max(picture.height for _, picture, _ in panels)
        placed: list[tuple[Part, float, float] | str] = []
        for (title, picture, said), left in zip(panels, (0, 134, 300, 440, 578), strict=True):
            placed += [(picture, left, tall - picture.height), (words_of(title, said), left, tall + 8)]
        placed.append(line(280, 0, 280, tall + 58, colour="faint"))
        return over(736, tall + 62, *placed)

    draw(
        arrange,
        alt="Tables with a query for each row, in blue, and a key for each column, in orange. "
        f"{SHORT} words make {SHORT * SHORT} pairs, {LONG} words {LONG * LONG}. Three ways out: tiles, where "
        f"{TILE * TILE} of the {LONG * LONG} pairs are there at a time; fewer keys, here a window of "
        f"{WINDOW}; and no table, where keys go into one small matrix that queries ask.",
    )


def _weights(across: int = 8, down: int = 5) -> Part:
    cell, marks = 15.0, ""
    for i in range(down):
        for j in range(across):
            marks += rectangle(Place(cell * j, cell * i, cell, cell), "grey", fill="grey", opacity=TINT)
    return over(cell * across, cell * down, marks)


def _rows(count: int, numbers: int = 8) -> Part:
    cell, high, marks = 15.0, 9.0, ""
    for i in range(count):
        for j in range(numbers):
            frame = Place(cell * j, (high + 3) * i, cell, high)
            marks += rectangle(frame, "query", fill="query", opacity=FULL)
    return over(cell * numbers, (high + 3) * count - 3, marks)


def _caches(count: int) -> Part:
    """For each row of the batch keys and values of its own, and an arrow from them to it."""
    wide, cell, marks = 26.0, 6.5, ""
    for number in range(count):
        left = (wide + 6) * number
        for i in range(10):
            for j, colour in enumerate(("key", "key", "value", "value")):
                frame = Place(left + cell * j, 7.5 * i, cell, 7.5)
                marks += rectangle(frame, colour, fill=colour, opacity=0.3)
        middle = left + wide / 2
        marks += vector(middle, 80, middle, 106, colour="grey", width=3)
        for j in range(4):
            frame = Place(left + cell * j, 110, cell, 9)
            marks += rectangle(frame, "query", fill="query", opacity=FULL)
    return over((wide + 6) * count - 6, 119, marks)


def _brought(rows: int) -> Part:
    """All weights come down one way, to so many rows."""
    weights, below = _weights(), _rows(rows)
    middle = weights.width / 2
    arrow = vector(middle, 80, middle, 106, colour="grey", width=6)
    return over(weights.width, 110 + below.height, (weights, 0, 0), (below, 0, 110), arrow)


def traffic() -> None:
    """`traffic()` has weights on their way to one row, to four, and caches, of which each row has its own."""
    panels = (
        ("one row", _brought(1), "Every weight comes past, for one row: 2 operations."),
        (f"{BATCH} rows", _brought(BATCH), f"Every weight comes past once, for all: {2 * BATCH} operations."),
        (
            f"{BATCH} caches",
            _caches(BATCH),
            "Each row brings keys and values of its own: 2 operations each, as alone.",
        ),
    )

    def arrange(narrow: bool) -> Part:
        parts = []
        for number, (title, picture, said) in enumerate(panels):
            name = over(100, 16, label(0, 13, title, anchor="start", bold=True))
            below = left_note(said, 165 if narrow else 205)
            if narrow:
                beside = over(130, picture.height, (picture, 0, 0))
                parts.append(row(beside, column(name, below, gap=6, align="left"), gap=18, align="top"))
                continue
            marks = ""
            for y, where in ((40, "in memory"), (97, "on the way"), (119, "at work")) if not number else ():
                marks += label(128, y, where, size=SMALL, colour="grey", anchor="start")
            parts.append(column(name, over(210, 155, (picture, 0, 0), marks), below, gap=8, align="left"))
        return column(*parts, gap=18, align="left") if narrow else row(*parts, gap=30, align="top")

    draw(
        arrange,
        alt="Three pictures of what has to come from memory. A grid of weights comes past for one row: 2 "
        f"operations a weight. The same grid comes past once for {BATCH} rows: {2 * BATCH} operations a "
        f"weight. {BATCH} caches of keys and values come past for {BATCH} rows, each for its own: 2 "
        "operations a number, as for one row.",
    )
