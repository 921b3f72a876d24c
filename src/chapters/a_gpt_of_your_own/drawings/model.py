"""The GPT as a whole, and how many weights each of its parts has learned."""

import torch

from attnlab.transformer import GPT
from bookkit.pictures.drawings import TINT, Part, draw, over
from bookkit.pictures.svg import (
    SMALL,
    Place,
    arrowhead,
    circle,
    curve,
    label,
    line,
    rectangle,
    vector,
)

VOCABULARY, WIDTH, HEADS, LAYERS, CONTEXT = 2048, 96, 3, 3, 128
STREAM, LEFT = 34.0, 12.0  # where the residual stream runs, and where tables begin
BLOCK = 124.0  # how high one is


def _count(gpt: GPT, *parts: str) -> int:
    return sum(weight.numel() for name, weight in gpt.named_parameters() if name.startswith(parts))


def _learned(place: Place, words: str, colour: str) -> str:
    ground = rectangle(place, None, fill="paper", corner=6)
    frame = rectangle(place, colour, fill=colour, corner=6, opacity=TINT)
    middle = place.left + place.width / 2, place.top + place.height / 2 + 4.5
    return ground + frame + label(*middle, words, size=SMALL)


def _plus(level: float) -> str:
    return circle(STREAM, level, 8, fill="paper") + label(STREAM, level + 5, "+")


def _reads_and_adds(top: float, name: str, colour: str, norm: Place, part: Place) -> str:
    """A part beside the stream: it reads what passes, through a norm, and adds to it."""
    norm = Place(norm.left, top, norm.width, norm.height)
    part = Place(part.left, top, part.width, part.height)
    middle, reads, adds = part.left + part.width / 2, top + norm.height / 2, top + 36
    return (
        line(STREAM + 3, reads, norm.left, reads)
        + vector(norm.right, reads, part.left, reads, colour="grey", width=1.5)
        + curve([(middle, part.bottom), (middle, adds), (STREAM + 17, adds)], width=1.5)
        + arrowhead(STREAM + 17, adds, (-1, 0), 8, "grey")
        + _learned(norm, "norm", "grey")
        + _learned(part, name, colour)
        + _plus(adds)
    )


def model() -> None:
    """`model()` follows the residual stream from the table of pieces to the same table again."""
    with torch.device("meta"):  # counted only: nothing is drawn, and the reader's seed stays as it was
        gpt = GPT(VOCABULARY, d_model=WIDTH, heads=HEADS, layers=LAYERS, context=CONTEXT)
    pieces, places, norm, total = (_count(gpt, name) for name in ("pieces", "places", "norm", ""))
    attention = _count(gpt, "blocks.0.attention")
    network = _count(gpt, "blocks.0.widen", "blocks.0.narrow")

    def arrange(narrow: bool) -> Part:
        right, numbers = (226.0, 330.0) if narrow else (300.0, 404.0)
        small = Place(60, 0, 50, 24) if narrow else Place(76, 0, 60, 24)
        part = Place(124, 0, 96, 24) if narrow else Place(164, 0, 130, 24)

        def beside(level: float, weights: str, *lines: str) -> str:
            """How many weights, and where there is room what they do."""
            said = label(numbers, level + 4.5, weights, size=SMALL, anchor="end")
            start = level + 4.5 - 9 * (len(lines) - 1)
            for place, words in enumerate(() if narrow else lines):
                below = start + 18 * place
                said += label(numbers + 26, below, words, size=SMALL, colour="grey", anchor="start")
            return said

        first, second = (
            Place(LEFT, 36, right - LEFT, 34),
            Place(part.left - 40, 104, right - part.left + 40, 30),
        )
        marks = label(LEFT, 13, "numbers of pieces", size=SMALL, anchor="start")
        marks += beside(9, "weights", f"T of them, at most {CONTEXT}")
        marks += vector(STREAM, 19, STREAM, 36, colour="grey", width=1.5)
        marks += _learned(first, "table of pieces", "query")
        marks += beside(53, f"{pieces:,}", f"a row of {WIDTH} for each of {VOCABULARY:,} pieces")
        marks += label(
            STREAM + 12, 92, f"residual stream, (T, {WIDTH})", size=SMALL, colour="query", anchor="start"
        )
        marks += vector(second.left, 119, STREAM + 9, 119, colour="grey", width=1.5)
        marks += _learned(second, "table of places", "query") + _plus(119)
        marks += beside(119, f"{places:,}", f"a row of {WIDTH} for each of {CONTEXT} places")
        grounds, y = "", second.bottom + 16
        for layer in range(LAYERS):
            ground = Place(LEFT, y, right - LEFT, BLOCK)
            grounds += rectangle(ground, None, fill="grey", corner=8, opacity=0.09)
            title = f"block {layer + 1}"
            marks += label(ground.right - 8, y + 16, title, size=12, colour="grey", anchor="end")
            marks += _reads_and_adds(y + 24, "attention", "key", small, part)
            marks += _reads_and_adds(y + 74, "network", "value", small, part)
            looks = f"looks back, with {HEADS} heads,", "and adds what it finds"
            thinks = f"thinks, {4 * WIDTH} numbers wide,", "each place by itself, and adds"
            again = ("the same, with weights of its own",)
            marks += beside(y + 36, f"{norm} + {attention:,}", *(again if layer else looks))
            marks += beside(y + 86, f"{norm} + {network:,}", *(() if layer else thinks))
            y += BLOCK + 12
        marks += _learned(Place(LEFT, y, right - LEFT, 28), "norm", "grey") + beside(y + 14, f"{norm}")
        last = Place(LEFT, y + 44, right - LEFT, 34)
        level, end = last.top + 17, last.bottom + 34
        marks += _learned(last, "the same table of pieces", "query")
        marks += beside(level, "0 more", "how far the stream points the way", "of each piece’s row")
        marks += vector(STREAM, last.bottom, STREAM, last.bottom + 18, colour="grey", width=1.5)
        logits = f"{VOCABULARY:,} logits" if narrow else f"{VOCABULARY:,} logits at each place"
        marks += label(LEFT, end, logits, size=SMALL, anchor="start")
        marks += line(numbers - 90, last.bottom + 14, numbers, last.bottom + 14, width=1)
        marks += label(numbers, end, f"{total:,}", size=SMALL, anchor="end", bold=True)
        # Both tables are one.
        tie = curve([(LEFT, 53), (1, 53), (1, level), (LEFT, level)], colour="query", width=1.5)
        stream = line(STREAM, first.bottom, STREAM, last.top, colour="query", width=6)
        return over(numbers if narrow else 690, end + 8, grounds, tie, stream, marks)

    draw(
        arrange,
        alt=f"A GPT with {total:,} weights. Numbers of pieces fetch rows of the table of pieces, {pieces:,} "
        f"weights, and the rows of a table of places, {places:,}, are added. That is the residual stream. "
        f"{LAYERS} blocks follow. In each, attention reads the stream through a norm and adds to it, "
        f"{norm} + {attention:,} weights, and then a network does, {norm} + {network:,}. After a last norm, "
        f"{norm}, the same table of pieces makes {VOCABULARY:,} logits at each place, with no more weights.",
    )
