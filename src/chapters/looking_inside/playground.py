"""The model with two layers that a reader can open in the page: what it is told, and its picture."""

from functools import cache

import torch
from torch import Tensor

from attnlab.inside import watched
from attnlab.runtime import generator
from attnlab.transformer import LanguageModel
from bookkit import weights
from bookkit.pictures.drawings import Part, as_text
from bookkit.pictures.svg import SMALL, SMALLEST, Place, label, rectangle
from bookkit.playground import EVERY_BENCH, Data, Openable, Picture
from chapters.looking_inside import models, tries

# In two all letters of a round differ; in the next t stands twice in it; in the last no letter does.
OFFERED = (
    "playgroundplaygr",
    "ThursdayThursdayThurs",
    "attentionattentionattent",
    "dermatoglyphics",
)
CELL, GAP = 44, 4  # pixels: as high, and between two


@cache
def loaded() -> LanguageModel:
    """`loaded()` has the stored weights, as 32-bit numbers."""
    model = models.reader(layers=2)
    weights.load("looking_inside/two-layers", model)
    return model


@cache
def induction() -> Data:
    """`induction()` has the symbols, texts to try, and the head of layer 2 that finds best what followed."""
    place, head = head_that_finds_what_followed(loaded())
    return {
        "kind": "Induction",
        "heads": models.HEADS,
        "layers": 2,
        "read": models.SYMBOLS,
        "longest": models.LENGTH,
        "offered": list(OFFERED),
        "shown": [place, head],
        "rounds": tries.rounds(),
    }


@torch.no_grad()
def head_that_finds_what_followed(model: LanguageModel) -> tuple[str, int]:
    """`head_that_finds_what_followed(model)` has the highest induction score: its place and number."""
    read = models.repeated(64, generator(5))
    with watched(model) as found:
        model(read.words)
    scores = {name: models.induction_scores(each, read) for name, each in found.items()}
    place = max(scores, key=lambda name: float(scores[name].max()))
    return place, int(scores[place].argmax())


@torch.no_grad()
def chances(text: str) -> Tensor:
    """`chances("playgroundplaygr")[-1]` is how likely each symbol is to come next: a row for each place."""
    logits: Tensor = loaded()(ids(text))
    return logits[0].softmax(-1)


def ids(text: str) -> Tensor:
    """`ids("play")` are the numbers of its symbols, (1, 4)."""
    return torch.tensor([[models.SYMBOLS.index(symbol) for symbol in text]])


# ---- the picture that stands in the page until the model is opened ----


@cache
def the_next_symbol() -> Picture:
    """`the_next_symbol()` has the rounds of a text below each other, each letter with its chance there."""
    text = OFFERED[0]
    round_ = text[: text.rindex(text[0])]
    rows = chances(text)
    shares = [float(row[models.SYMBOLS.index(symbol)]) for symbol, row in zip(text[1:], rows, strict=False)]
    said, sure = models.SYMBOLS[int(rows[-1].argmax())], float(rows[-1].max())
    cells = list(zip(text, [None, *shares], strict=True))
    most = max(shares[: len(round_) - 1])
    told = ", ".join(f"{symbol} {_percent(share)}" for symbol, share in cells[len(round_) :] if share)
    return Picture(
        f"After “{text}” it says",
        said,
        _rounds(cells, (said, sure), len(round_), 480),
        _rounds(cells, (said, sure), len(round_), 320),
        f"The letters of “{text}”, the second round below the first, each with the chance that the model "
        f"gave it where it stands. In the first round none has more than {_percent(most)}; in the second: "
        f"{told}. Behind them it says {said}, with {_percent(sure)}.",
        "Repeat a word of your own: does it foresee the second round?",
        "The fuller a letter’s ground, the surer the model was of it: it knows the second round.",
    )


def _percent(share: float) -> str:
    return f"{as_text(100 * share, 0)} %"


def _rounds(
    cells: list[tuple[str, float | None]], answer: tuple[str, float], period: int, width: float
) -> Part:
    wide = width / period
    marks = ""
    for place, (symbol, share) in enumerate([*cells, answer]):
        left, top = wide * (place % period), (CELL + GAP) * (place // period)
        last = place == len(cells)
        spot = Place(left + GAP / 2, top + 1, wide - GAP, CELL)
        marks += rectangle(
            spot, "output" if last else "grey", fill="output", opacity=0.5 * (share or 0), corner=3
        )
        middle = left + wide / 2
        marks += label(middle, top + 20, symbol, code=True, bold=last)
        if share is not None:
            marks += label(middle, top + 37, as_text(100 * share, 0), size=SMALLEST)
    rows = len(cells) // period + 1
    bottom = (CELL + GAP) * rows + 16
    marks += label(width / 2, bottom, "below each letter: its chance, in %", size=SMALL, colour="grey")
    return Part(width, bottom + 6, marks)


MODELS = {
    "induction": Openable(
        loaded, induction, the_next_symbol, files=(*EVERY_BENCH, "sentences.js", "symbols.js")
    )
}
