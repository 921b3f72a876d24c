"""The drawings of the exercises: heads that share, a mask, and bits."""

import torch

from bookkit.pictures.drawings import TINT, Part, column, draw, left_note, note, over, row
from bookkit.pictures.svg import SMALL, Place, label, line, rectangle
from chapters.fewer_keys_or_none.exercises import check_grouped, check_window_mask
from chapters.fewer_keys_or_none.exercises.smallest_cache_parts import FULL, LAYERS, LENGTH, LIMIT

HEADS, GROUPS, T, D_K = 6, 2, 3, 4
N, WIDTH, SINKS = 7, 3, 1
STRONG = 0.45


def heads_and_groups() -> None:
    """`heads_and_groups()` has the shapes of queries and keys, and a line from each head to what it reads."""
    # Without scores that differ, what comes back is the value itself: here, the number of the group.
    queries, keys = torch.zeros(1, HEADS, 1, 1), torch.zeros(1, GROUPS, 1, 1)
    groups = torch.arange(GROUPS).view(1, GROUPS, 1, 1).float()
    reads = [int(group) for group in check_grouped.reference(queries, keys, groups).flatten()]

    def sheet(left: float, top: float, colour: str, cell: float) -> str:
        marks = rectangle(Place(left, top, cell * D_K, cell * T), None, fill="paper")
        for i in range(T):
            for j in range(D_K):
                inside = Place(left + cell * j, top + cell * i, cell, cell)
                marks += rectangle(inside, colour, fill=colour, opacity=TINT)
        return marks

    def heads(cell: float, across: float, below: float) -> Part:
        wide, high, level = cell * D_K, cell * T, below + cell * T + 18
        marks = ""
        middles = [across * (group + 0.5) * HEADS / GROUPS for group in range(GROUPS)]
        for head, group in enumerate(reads):
            x = across * (head + 0.5)
            marks += line(x, 18 + high, middles[group], 18 + below, colour="query")
            marks += label(x, 12, str(head), size=SMALL, colour="query", bold=True)
            marks += sheet(x - wide / 2, 18, "query", cell)
        for group, x in enumerate(middles):
            marks += sheet(x - wide - 3, 18 + below, "key", cell) + sheet(x + 3, 18 + below, "value", cell)
            for side, colour in ((-1, "key"), (1, "value")):
                marks += label(x + side * (wide / 2 + 3), level + 16, str(group), size=SMALL, colour=colour,
                               bold=True)  # fmt: skip
        return over(across * HEADS, level + 20, marks)

    def arrange(narrow: bool) -> Part:
        asked, kept = f"query (B, {HEADS}, T, d_k)", f"key, value (B, {GROUPS}, T, d_k)"
        if narrow:
            return column(note(asked), heads(11, 54, 84), note(kept), gap=4)
        below = 100
        drawn = heads(13, 68, below)
        names = over(150, drawn.height, (note(asked), 0, 30), (note(kept), 0, below + 30))
        return row(names, drawn, gap=24)

    listed = "; ".join(
        f"heads {', '.join(str(head) for head in range(HEADS) if reads[head] == group)} read group {group}"
        for group in range(GROUPS)
    )
    draw(
        arrange,
        alt=f"{HEADS} tables of queries, (B, {HEADS}, T, d_k), numbered from 0. Below, {GROUPS} tables of "
        f"keys, and as many of values, (B, {GROUPS}, T, d_k). Lines show which head reads which: {listed}.",
    )


def mask_of_a_window() -> None:
    """`mask_of_a_window()` is a mask of seven places, in which a window and a sink have their colours."""
    seen = check_window_mask.reference(N, WIDTH, SINKS)
    near = check_window_mask.reference(N, WIDTH, 0)

    def table(wide: float, high: float, left: float) -> Part:
        top, marks = 20.0, label(left - 6, 13, "q \\ k", size=SMALL, colour="grey", anchor="end")
        for i in range(N):
            marks += label(left + wide * (i + 0.5), 13, str(i), size=SMALL, colour="key", bold=True)
            middle = top + high * (i + 0.5) + 4.5
            marks += label(left - 10, middle, str(i), size=SMALL, colour="query", bold=True, anchor="end")
            for j in range(N):
                inside = Place(left + wide * j, top + high * i, wide, high)
                may = bool(seen[i, j])
                colour = ("key" if near[i, j] else "output") if may else None
                marks += rectangle(inside, "faint", fill=colour, opacity=0.3)
                ink = "ink" if may else "grey"
                marks += label(left + wide * (j + 0.5), middle, str(may), size=12.5, colour=ink)
        return over(left + wide * N, top + high * N, marks)

    def arrange(narrow: bool) -> Part:
        width = 310 if narrow else 210
        words = (
            f"Orange: the last {WIDTH} places, its own included.",
            "Purple: a sink. It stays, however far back.",
            "False: it comes later, or it lies too far back.",
        )
        lines = column(*(left_note(each, width) for each in words), gap=0 if narrow else 10, align="left")
        if narrow:
            return column(table(41, 17, 38), lines, gap=5)
        return row(table(50, 24, 44), lines, gap=34)

    rows = "; ".join(f"query {i} sees {', '.join(str(j) for j in range(N) if seen[i, j])}" for i in range(N))
    draw(
        arrange,
        alt=f"A mask of {N} by {N}, a row for each query and a column for each key, of a window of {WIDTH} "
        f"and {SINKS} sink. Where it says True: {rows}.",
    )


def bits_allowed() -> None:
    """`bits_allowed()` has bits a place as bars: all, half of the places, fewer bits, and the limit."""
    half, few = LENGTH // 2, 4
    kinds = {
        f"all {LENGTH} places, 16 bits": FULL,
        f"a window of {half}": FULL * half // LENGTH,
        f"{few} bits for 16": FULL * few // 16,
        "both": FULL * half // LENGTH * few // 16,
    }

    def bars(width: float, left: float, step: float, *, named_above: bool) -> Part:
        tall, marks = 16.0 if named_above else 22.0, ""
        for place, (name, bits) in enumerate([*kinds.items(), ("allowed", LIMIT)]):
            level = step * (place + 1) - tall
            if named_above:
                marks += label(0, level - 5, name, size=SMALL, anchor="start")
            else:
                marks += label(left - 10, level + 16, name, size=SMALL, anchor="end")
            if name == "allowed":
                inside = Place(left, level, width * LIMIT / FULL, tall)
                marks += rectangle(inside, "ink", fill="grey", opacity=STRONG)
            else:
                part = width * bits / FULL / LAYERS / 2
                for each in range(2 * LAYERS):
                    role = ("key", "value")[each % 2]
                    inside = Place(left + part * each, level, part, tall)
                    marks += rectangle(inside, role, fill=role, opacity=0.3)
                    if part > 20:
                        letter = f"{role[0]}_{each // 2}"
                        marks += label(inside.left + part / 2, level + tall / 2 + 4, letter, size=SMALL)
            marks += label(inside.right + 8, level + tall / 2 + 5, f"{bits:,g}", size=SMALL, anchor="start")
        return over(left + width + 46, step * (len(kinds) + 1), marks)

    def arrange(narrow: bool) -> Part:
        drawn = bars(280, 0, 35, named_above=True) if narrow else bars(500, 180, 30, named_above=False)
        return column(drawn, note("k_0 and v_0 are keys and values of layer 0"), gap=4)

    listed = "; ".join(f"{name}: {bits:,}" for name, bits in kinds.items())
    draw(
        arrange,
        alt=f"Bits a place, as bars: {listed}. Allowed are {LIMIT:g}. Keys and values of "
        f"{LAYERS} layers share each of the other bars.",
    )
