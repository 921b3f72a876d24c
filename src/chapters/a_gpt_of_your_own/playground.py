"""The GPT that a reader can open in the page, to complete a docstring: what it is told, and its picture."""

from functools import cache

import torch
from torch import Tensor

from attnlab.transformer import GPT
from bookkit import weights
from bookkit.pictures.drawings import Part, as_text
from bookkit.pictures.svg import SMALL, Place, label, rectangle, width_of
from bookkit.playground import EVERY_BENCH, Data, Openable, Picture, letters, rounded
from chapters.a_gpt_of_your_own import models

# Starts that the page offers. A piece has the space before it, so none ends with one.
OFFERED = (
    "Return the number of nodes in the",
    "Parameters\n----------\nx :",
    "Raise an error if",
    ">>> import numpy as np\n>>>",
)
SHADES = (1, 3, 6, 9)  # bits: with each a piece is a shade darker, as in gpt_bench.js
OPACITIES = (0, 0.12, 0.22, 0.32, 0.42)  # of the shades, as in gpt.css
LIKELIEST = 5
ROW, GAP = 28, 4  # pixels


@cache
def loaded() -> GPT:
    """`loaded()` has the stored weights, rounded as the page has them."""
    model = models.gpt()
    weights.load("a_gpt_of_your_own/gpt", model)
    rounded(model)
    return model


@cache
def gpt() -> Data:
    """`gpt()` has the merges that make its pieces, its sizes, and starts to try."""
    model = loaded()
    return {
        "kind": "GPT",
        "heads": model.blocks[0].attention.heads,  # type: ignore[union-attr]
        "layers": len(model.blocks),
        "context": model.context,
        "merges": [list(pair) for pair in models.pieces().merges],
        "offered": list(OFFERED),
        "shown": ["blocks.0.attention", 0],
        "heldOut": held_out(),
    }


def held_out() -> Data:
    """`held_out()["texts"]` are the first pieces of 24 texts, `bytes` long in all, that were held out.

    They were stored with the model, since it was made to go on with them. What was written is behind them.
    """
    written = weights.notes("a_gpt_of_your_own/gpt")["written"]  # (ways, 24, 112)
    texts = written[0, :, : models.GIVEN].long().tolist()
    cut = models.pieces()
    return {
        "start": cut.end,
        "texts": texts,
        "bytes": sum(len(cut.bytes[number]) for text in texts for number in text),
    }


@torch.no_grad()
def expected(text: str) -> tuple[list[int], Tensor]:
    """`ids, chances = expected("Return the")`: row t is of what may stand in the t-th place, (T + 1, pieces).

    The last row is of the place behind the text.
    """
    ids = models.pieces().encode(text)
    start = models.pieces().end  # behind it a text begins
    return ids, loaded()(torch.tensor([[start, *ids]]))[0].softmax(-1)


def named(number: int) -> str:
    """`named(number)` is a piece with signs for what can't be seen: “·the”."""
    return models.pieces().decode([number]).replace(" ", "·").replace("\n", "↵") or "end of text"


# ---- the picture that stands in the page until the model is opened ----


@cache
def the_next_pieces() -> Picture:
    """`the_next_pieces()` has a start's pieces, shaded by their surprise, and bars for what may come next."""
    ids, chances = expected(OFFERED[0])
    bits = [-float(row[number].log2()) for number, row in zip(ids, chances[:-1], strict=True)]
    likeliest = chances[-1].topk(LIKELIEST)
    bars = list(zip(map(named, likeliest.indices.tolist()), likeliest.values.tolist(), strict=True))
    pieces = list(zip(map(named, ids), bits, strict=True))
    cost = ", ".join(f"{piece} {as_text(each, 1)}" for piece, each in pieces)
    said = ", ".join(f"{piece} {as_text(100 * chance, 0)} %" for piece, chance in bars)
    return Picture(
        f"After “{OFFERED[0]}” the likeliest piece is",
        bars[0][0].replace("·", " ").strip(),
        _drawn(pieces, bars, 520),
        _drawn(pieces, bars, 320),
        f"A text in its pieces, each the darker the more it surprised the model, in bits: {cost}. Below, "
        f"bars show how likely the model takes each piece to come next: {said}.",
        "Begin a docstring, and it goes on.",
        "The darker a piece, the less the model expected it; the bars are its chances for the next.",
    )


def _drawn(pieces: list[tuple[str, float]], bars: list[tuple[str, float]], width: float) -> Part:
    lines: list[list[tuple[str, float, float]]] = [[]]
    for piece, bits in pieces:
        wide = max(width_of(piece, 15, code=True), width_of(f"{bits:.1f}", SMALL)) + 12
        if lines[-1] and sum(each + GAP for _, _, each in lines[-1]) + wide > width - 60:
            lines.append([])
        lines[-1].append((piece, bits, wide))
    marks, top = "", 0.0
    for line in lines:
        left = (width - sum(wide + GAP for *_, wide in line) + GAP) / 2
        if line is lines[0]:
            marks += label(left - 8, top + ROW + 15, "bits", size=SMALL, colour="grey", anchor="end")
        for piece, bits, wide in line:
            shade = OPACITIES[sum(bits >= least for least in SHADES)]
            marks += rectangle(
                Place(left, top, wide, ROW), "grey", fill="output" if shade else None, opacity=shade, corner=3
            )
            marks += label(left + wide / 2, top + ROW / 2 + 5, piece, code=True)
            marks += label(left + wide / 2, top + ROW + 15, as_text(bits, 1), size=SMALL, colour="grey")
            left += wide + GAP
        top += ROW + 24
    top += 4
    room = 0.5 * width
    for piece, chance in bars:
        marks += label(0.32 * width - 10, top + ROW / 2 + 5, piece, anchor="end", code=True)
        long = room * chance / bars[0][1]
        place = Place(0.32 * width, top + 5, long, ROW - 10)
        marks += rectangle(place, None, fill="output", opacity=0.5, corner=3)
        share = f"{as_text(100 * chance, 0)} %"
        marks += label(place.right + 10, top + ROW / 2 + 5, share, size=SMALL, anchor="start")
        top += ROW
    return Part(width, top, marks)


MODELS = {
    "gpt": Openable(
        loaded,
        gpt,
        the_next_pieces,
        letters,
        files=(*EVERY_BENCH, "pieces.js"),
    )
}
