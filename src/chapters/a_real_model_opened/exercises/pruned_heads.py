"""An experiment: as many heads of the real model as can go together at little cost."""

import math
from collections.abc import Callable, Iterable
from functools import cache, partial
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from attnlab.corpora import docstrings
from attnlab.runtime import generator
from attnlab.today import looks
from attnlab.training.run import row_of
from bookkit.checking.answers import WrongTypeError, returned
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.mistakes import Mistakes
from chapters.a_real_model_opened.models import real

LAYERS, HEADS = 30, 9
LOST = 0.05  # bits a byte that they may cost together
# In the order of what each costs alone on three rows of 128 pieces, 38 and no 40 can go; drawn at random, 10.
FEWEST = 35
ROWS, LENGTH = 6, 128
WHOLE = 1.29167  # bits a byte of the check's texts with all heads, to the fifth digit on any processor
LARGE = 0.5  # bits a byte: 40 heads drawn at random cost about as much
QUESTIONS = "are they heads, and enough?", "do they cost little?"
Heads = list[tuple[int, int]]

SAID = {
    "numbers": "These are numbers. Each head is a pair, (layer, head), such as (19, 7).",
    "counted from 1": (
        f"There is no layer {LAYERS}, nor a head {HEADS}: both are counted from 0, and yours from 1."
    ),
    "head first": f"The layer comes first. In your pairs the first number is never over {HEADS - 1}.",
    "no such head": f"Layers go from 0 to {LAYERS - 1} and heads from 0 to {HEADS - 1}. Some are neither.",
    "twice": "A head is listed twice. It can go but once.",
    "too few": (
        f"At least {FEWEST} heads must go. Many cost next to nothing alone: begin with these, and see how "
        "many can go together."
    ),
    "the most needed": (
        f"Together they cost more than {LARGE} bits a byte, more than heads drawn at random. Are those first "
        "that cost *least*?"
    ),
    "too much lost": (
        f"Together they cost more than {LOST} bits a byte on texts that you have not seen. What heads cost "
        "alone does not add up. Take fewer, or measure the next ones when the first are gone; and a few "
        "hundred pieces tell little of a single head."
    ),
}


def rows_of(texts: Iterable[str], rows: int) -> Tensor:
    """`rows_of(texts, 6)` are crops of 129 pieces from as many places, (6, 129)."""
    _, pieces = real()
    row = row_of(map(pieces.encode, texts), pieces.special["<|endoftext|>"])
    return torch.stack([part[: LENGTH + 1] for part in row.chunk(rows)])


@cache
def held_out() -> Tensor:
    """`held_out()` are those that the check reads, (ROWS, LENGTH + 1)."""
    return rows_of(docstrings.without_copies(docstrings.read("networkx", held_out=True)), ROWS)


def bits(heads: Heads, rows: Tensor) -> float:
    """`bits([(19, 7)], rows_of(texts, 6))` are bits a byte of these rows without the heads."""
    model, pieces = real()
    nats = 0.0
    with torch.no_grad(), looks.without(model, heads):
        for row in rows:  # one at a time: 128 logits for each of 49,152 pieces are 25 MB
            nats += float(F.cross_entropy(model(row[None, :-1])[0], row[1:], reduction="sum"))
    return nats / math.log(2) / sum(len(pieces.bytes[each]) for each in rows[:, 1:].flatten().tolist())


@cache
def _lost(heads: tuple[tuple[int, int], ...]) -> float:
    return bits(list(heads), held_out()) - WHOLE


class Measured(NamedTuple):
    """`measured(heads)`: how many go, what they cost in bits a byte, and what as many at random cost."""

    gone: int
    lost: float
    at_random: float


def measured(heads: Heads) -> Measured:
    """`measured([(19, 7), (17, 1)])` is measured on the texts of the check."""
    pairs = sorted(heads)
    drawn = torch.randperm(LAYERS * HEADS, generator=generator(0), device="cpu")[: len(pairs)]
    by_chance = sorted(divmod(number, HEADS) for number in drawn.tolist())
    return Measured(len(pairs), _lost(tuple(pairs)), _lost(tuple(by_chance)))


# ---- what came back ----


def _pairs(work: Callable[..., Any]) -> Heads:
    """The heads, in order; or what is wrong with them."""
    found = returned(work())
    found = found.tolist() if isinstance(found, Tensor) else found
    if not isinstance(found, (list, tuple, set)):
        raise WrongTypeError(f"Return a list of pairs (layer, head). It returns {type(found).__name__}.")
    found = [tuple(each) if isinstance(each, (list, tuple)) else each for each in found]
    if not all(isinstance(each, tuple) for each in found):
        raise WrongTypeError(SAID["numbers"])
    if not all(len(each) == 2 and all(hasattr(number, "__index__") for number in each) for each in found):
        raise WrongTypeError("Each head is a pair of two whole numbers, (layer, head).")
    if name := _fault(found):
        raise WrongTypeError(SAID[name])
    return sorted((int(layer), int(head)) for layer, head in found)


def _fault(heads: Heads) -> str:
    if len(heads) < FEWEST:
        return "too few"
    layers, own = zip(*heads, strict=True)
    if max(own) > HEADS and max(layers) < HEADS and max(own) < LAYERS:
        return "head first"
    if (max(layers), max(own)) == (LAYERS, HEADS) and min(*layers, *own) >= 0:
        return "counted from 1"
    if max(layers) >= LAYERS or max(own) >= HEADS or min(*layers, *own) < 0:
        return "no such head"
    return "twice" if len(set(heads)) < len(heads) else ""


def results(work: Callable[..., Any], question: str) -> int:
    """`results(my_heads, QUESTIONS[1])` is 1 where there is nothing to say."""
    # What is right can be said where the wheel is missing, too. Tests hand these heads in as a reader would.
    if work is passing:
        return 1
    heads = tuple(_pairs(work))
    if question == QUESTIONS[0]:
        return 1
    try:
        lost = _lost(heads)
    except (FileNotFoundError, ValueError) as error:  # of the wheel: it says which command brings it
        if any(work is known for _, known in MISTAKES.values()):
            return 1  # else a mistake that can't be tried, either, would be taken for the reader's
        raise WrongTypeError(str(error)) from None
    if lost > LOST:
        raise WrongTypeError(SAID["the most needed" if lost > LARGE else "too much lost"])
    return 1


# ---- those that pass, and those that don't ----

# Those that cost least alone on three rows of texts that are not held out.
_OF_LAYERS = {
    1: "6", 3: "15", 5: "3", 6: "0", 7: "158", 8: "5", 9: "2", 10: "2", 12: "1", 13: "04", 14: "23", 15: "6",
    16: "3", 17: "015", 18: "48", 19: "0", 20: "015", 21: "4", 22: "3", 23: "78", 25: "6", 27: "2", 28: "34",
}  # fmt: skip
CHOSEN: Heads = [(layer, int(head)) for layer, own in _OF_LAYERS.items() for head in own]


def passing() -> Heads:
    """`passing()` are heads that can go together."""
    return CHOSEN


_HANDED: dict[str, Any] = {
    "numbers": [0, 5, 7],
    "counted from 1": [(layer + 1, head + 1) for layer, head in [*CHOSEN, (LAYERS - 1, HEADS - 1)]],
    "head first": [(head, layer) for layer, head in CHOSEN],
    "no such head": [(-1, 8), *CHOSEN],
    "twice": [*CHOSEN, CHOSEN[0]],
    "too few": CHOSEN[: FEWEST - 1],
    "the most needed": [(layer, head) for layer in range(5) for head in range(HEADS)],
    "too much lost": [(layer, head) for layer in range(25, LAYERS) for head in range(HEADS)],
}
MISTAKES: Mistakes = {
    name: (SAID[name], partial(lambda heads: heads, each)) for name, each in _HANDED.items()
}


check_pruned_heads = Exercise(
    "pruned_heads",
    difficulty=4,
    minutes=45,
    takes=("question",),
    returns=("answer",),
    reference=passing,
    ask=results,
    cases=(
        Case(f"names {FEWEST} heads of the model, or more", QUESTIONS[0]),
        Case(f"costs at most {LOST} bits a byte on texts not seen", QUESTIONS[1]),
    ),
    mistakes=MISTAKES,
    trainable=False,
    again=False,
    seconds=60.0,  # on a busy machine, with the model to be read first
)
