"""Which head reads which keys, what windows reach through layers, and what a place takes."""

import torch

from attnlab import masks
from bookkit.pictures.drawings import TINT, Part, column, draw, grid, over, row, text
from bookkit.pictures.svg import SMALL, Place, label, line, rectangle, vector

HEADS, D_K, LAYERS = 6, 16, 3  # of the stored model
GROUPS = (6, 2, 1)
TITLES = {6: "each head has its own", 2: "three heads share", 1: "all share one"}


def numbers(groups: int) -> int:
    """`numbers(2)` are those that a cache keeps of each place: keys and values of all layers."""
    return 2 * groups * D_K * LAYERS


def shared() -> None:
    """`shared()` has six heads three times: with a key head each, with two, and with one."""

    def panel(groups: int) -> Part:
        across, wide, high, below = 36.0, 28.0, 26.0, 74.0
        marks = ""
        for head in range(HEADS):
            group = head // (HEADS // groups)
            middle = across * ((group + 0.5) * HEADS / groups)
            x = across * (head + 0.5)
            marks += line(x, high, middle, below, colour="query", width=1.5)
            frame = Place(x - wide / 2, 0, wide, high)
            marks += rectangle(frame, "query", fill="query", opacity=TINT, corner=4)
            marks += label(x, 18, "q", size=SMALL, colour="query", bold=True)
        for group in range(groups):
            middle = across * ((group + 0.5) * HEADS / groups)
            for level, (letter, role) in enumerate((("k", "key"), ("v", "value"))):
                frame = Place(middle - wide / 2, below + (high + 3) * level, wide, high)
                marks += rectangle(frame, None, fill="paper", corner=4)
                marks += rectangle(frame, role, fill=role, opacity=TINT, corner=4)
                marks += label(middle, frame.top + 18, letter, size=SMALL, colour=role, bold=True)
        cells = Part(across * HEADS, below + 2 * high + 3, marks)
        kept = f"{numbers(groups)} numbers a place"
        return column(text(TITLES[groups], size=SMALL, bold=True), cells, text(kept, size=SMALL), gap=8)

    def arrange(narrow: bool) -> Part:
        panels = [panel(groups) for groups in GROUPS]
        return column(*panels, gap=24) if narrow else row(*panels, gap=34)

    kept = "; ".join(f"{TITLES[groups]}: {numbers(groups)}" for groups in GROUPS)
    draw(
        arrange,
        alt=f"Six heads, drawn three times, each with a query of its own. Below them the keys and values "
        f"that they read. Numbers that a cache of {LAYERS} layers keeps of each place: {kept}.",
    )


def reach() -> None:
    """`reach()` follows a window of three back through three layers, from the last place."""
    width, places = 3, 9
    back = LAYERS * (width - 1)

    def arrange(narrow: bool) -> Part:
        across, high, gap = (30.0, 20.0, 30.0) if narrow else (44.0, 22.0, 30.0)
        left = 57.0 if narrow else 76.0
        marks, last = "", places - 1

        def x(place: int) -> float:
            return left + across * (place + 0.5)

        for level in range(LAYERS + 1):  # the last layer on top, what is read at the bottom
            depth = level * (width - 1)  # how far back the last place has reached at this level
            top = (high + gap) * level
            name = "pieces" if level == LAYERS else f"layer {LAYERS - level}"
            marks += label(left - 8, top + high / 2 + 4, name, size=SMALL, anchor="end")
            for place in range(places):
                met = place >= last - depth
                if level < LAYERS and met:
                    for key in range(place - width + 1, place + 1):
                        foot = top + high + gap
                        marks += line(x(place), top + high, x(key), foot, colour="key", width=1.5)
                frame = Place(x(place) - across / 2 + 4, top, across - 8, high)
                ends = met and level in (0, LAYERS)
                colour = "output" if level == 0 else "key"
                marks += rectangle(frame, colour if met else "faint", corner=4)
                marks += rectangle(
                    frame, None, fill=colour if met else "faint", opacity=0.45 if ends else TINT, corner=4
                )
        bottom = (high + gap) * LAYERS + high + 10
        marks += vector(x(last), bottom + 4, x(last - back), bottom + 4, colour="key", width=1.5)
        said = f"{LAYERS} · ({width} − 1) = {back} places back"
        marks += label((x(last) + x(last - back)) / 2, bottom + 20, said, size=SMALL, colour="key")
        return over(left + across * places, bottom + 28, marks)

    draw(
        arrange,
        alt=f"A row of {places} pieces, and three layers above it. Each place of a layer reads three places "
        f"of the row below: its own and the two before. From the last place of the top layer, lines fan "
        f"out to the last {back + 1} of the {places} pieces: {back} places back, and no further.",
    )


def all_three() -> None:
    """`all_three()` has what a place takes as bars: six key heads, two, half of the places, four bits."""
    kept = {"six key heads": numbers(6), "two key heads": numbers(2)}
    kept["half of the places"] = kept["two key heads"] // 2
    kept["4 bits for 16"] = kept["half of the places"] * 4 // 16

    def arrange(narrow: bool) -> Part:
        left, wide, step, tall, marks = 128.0, 150.0 if narrow else 400.0, 30.0, 20.0, ""
        for place, (name, count) in enumerate(kept.items()):
            frame = Place(left, step * place, wide * count / kept["six key heads"], tall)
            marks += label(left - 10, frame.top + 15, name, size=SMALL, anchor="end")
            marks += rectangle(frame, "key", fill="key", opacity=0.45)
            marks += label(left + frame.width + 8, frame.top + 15, str(count), size=SMALL, anchor="start")
        return over(left + wide + 40, step * len(kept) - step + tall, marks)

    listed = "; ".join(f"{name}: {count}" for name, count in kept.items())
    draw(arrange, alt=f"Bars, each a step further: what a place takes, in numbers of 16 bits. {listed}.")


def within_the_cache() -> None:
    """`within_the_cache()` numbers a sink and three last places twice: in the text, and in the cache."""
    held = masks.window(10, 3, sinks=1)[0, 9].nonzero().flatten().tolist()
    ways = {"places in the text": held, "places within the cache": [*range(len(held))]}

    def arrange(narrow: bool) -> Part:
        cell = (34, 30) if narrow else (44, 30)
        grids = [
            column(text(name, size=SMALL), grid([each], digits=0, colour="key", cell=cell), gap=6)
            for name, each in ways.items()
        ]
        return row(*grids, gap=18 if narrow else 60)

    listed = "; ".join(f"{name}: {', '.join(map(str, each))}" for name, each in ways.items())
    draw(arrange, alt=f"What a cache of a sink and three last places holds at place 9. {listed}.")


def going_round() -> None:
    """`going_round()` has the six key heads that two become: neighbours alike, and round and round."""
    groups = 2
    kept = torch.arange(groups)
    right = kept.repeat_interleave(HEADS // groups).tolist()
    ways = {"repeat_interleave": right, "repeat": kept.repeat(HEADS // groups).tolist()}
    wrong = [head for head in range(HEADS) if ways["repeat"][head] != right[head]]

    def copied(name: str, across: float) -> Part:
        wide, high, copies, below, marks = across - 5, 24.0, 32.0, 104.0, ""
        for head, group in enumerate(ways[name]):
            x, missed = across * (head + 0.5), group != right[head]
            foot = across * (group + 0.5) * HEADS / groups
            marks += line(x, copies + high, foot, below, colour="ink" if missed else "key", dashed=missed)
            for top, words, role in ((0.0, str(head), "query"), (copies, str(group), "key")):
                frame = Place(x - wide / 2, top, wide, high)
                marks += rectangle(frame, role, fill=role, opacity=TINT, corner=4)
                marks += label(x, top + 17, words, size=SMALL, colour=role, bold=True)
            if missed:
                frame = Place(x - wide / 2 - 2, copies - 2, wide + 4, high + 4)
                marks += rectangle(frame, "ink", corner=5)
                marks += label(x, copies + high + 18, "×", bold=True)
        for group in range(groups):
            x = across * (group + 0.5) * HEADS / groups
            frame = Place(x - wide / 2, below, wide, high)
            marks += rectangle(frame, "key", fill="key", opacity=0.45, corner=4)
            marks += label(x, below + 17, str(group), size=SMALL, bold=True)
        cells = over(across * HEADS, below + high, marks)
        return column(text(name, size=SMALL, code=True), cells, gap=8)

    def arrange(narrow: bool) -> Part:
        return row(*(copied(name, 26 if narrow else 44) for name in ways), gap=14 if narrow else 60)

    read = "; ".join(f"with `{name}`, {', '.join(map(str, each))}" for name, each in ways.items())
    draw(
        arrange,
        alt=f"Six heads that ask, and below each the key head that it reads, one of {groups}: {read}. "
        f"With `repeat`, heads {', '.join(map(str, wrong))} are marked: they read another's keys.",
    )
