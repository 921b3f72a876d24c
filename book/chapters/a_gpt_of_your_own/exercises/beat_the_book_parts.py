"""What `check_beat_the_book` asks with: held-out docstrings, a ladder of rivals, and models made by hand."""

import contextlib
import math
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from attnlab.corpora import docstrings
from attnlab.training.run import losses, row_of
from bookkit.checking.answers import WrongTypeError, returned

# In bits a byte of these texts: about what 5-grams need that were counted in the training text. None of the
# chapter's networks came below.
BAR = 1.90
# The book's GPT, which has read ten times as much, needs 1.65.
TOO_GOOD = 1.2
LEEWAY = 0.03
BEHIND = (1, 2, 4, 8)
SPELLED = ("Return the neighbours of node_12345.\n", "naïve 🙂\r\n\t", "  ²½ हिन्दी  ")


class Handed(NamedTuple):
    """What a reader hands over: `bits` is what they measured."""

    model: nn.Module
    pieces: Any
    bits: float
    context: int


@cache
def held_out() -> list[str]:
    """`held_out()` are every fourth of networkx's held-out texts, since readers wait for the check."""
    return docstrings.without_copies(docstrings.read("networkx", held_out=True))[::4]


def handed(work: Callable[..., Any]) -> Handed:
    """The model, its pieces and the number, or what is wrong with them."""
    made = returned(work())
    if not isinstance(made, (tuple, list)) or len(made) != 3:
        raise WrongTypeError("Hand over three things: the model, its pieces, and your bits per byte.")
    model, pieces, bits = made
    if not isinstance(model, nn.Module):
        raise WrongTypeError(f"A model is expected first, and {type(model).__name__} came.")
    if not all(hasattr(pieces, name) for name in ("encode", "decode", "end", "__len__")):
        raise WrongTypeError("The pieces need encode, decode, end and a length, as attnlab's have.")
    ids = torch.tensor([pieces.encode(held_out()[0])[:8]], device="cpu")
    logits = None
    with contextlib.suppress(TypeError, ValueError, IndexError, RuntimeError), torch.no_grad():
        logits = model.eval()(ids)
    if not isinstance(logits, Tensor) or logits.shape != (*ids.shape, len(pieces)):
        raise WrongTypeError(
            f"The model must take ids (B, T) and return logits (B, T, {len(pieces)}), one for each piece."
        )
    try:
        return Handed(model, pieces, float(bits), int(getattr(model, "context", 128)))
    except (TypeError, ValueError, RuntimeError) as error:
        raise WrongTypeError("Your bits per byte are one number.") from error


def lossless(pieces: Any) -> int:
    """1 where every text comes back."""
    return int(all(pieces.decode(pieces.encode(text)) == text for text in SPELLED))


def sees_later(model: nn.Module, pieces: Any) -> bool:
    """Whether a later id changes an earlier logit."""
    ids = torch.tensor([pieces.encode(held_out()[0])[:12]], device="cpu")
    other = ids.clone()
    other[:, -1] = (ids[:, -1] + 1) % len(pieces)
    with torch.no_grad():
        return bool((model(ids) - model(other))[:, :-1].abs().max() > 1e-3)


class Measured(NamedTuple):
    """All that may be told of a model in the place of its bits per byte."""

    bits: float
    bits_a_piece: float
    nats_a_byte: float
    nats_a_piece: float


@cache
def measured(model: nn.Module, pieces: Any, context: int) -> Measured:
    """`measured(model, pieces, context).bits` are its bits per byte of the held-out texts."""
    row = row_of(map(pieces.encode, held_out()), pieces.end)
    nats = losses(model, row, context).double()
    text_bytes = len("".join(held_out()).encode())
    total = float(nats.sum())
    return Measured(
        total / math.log(2) / text_bytes,
        total / math.log(2) / len(nats),
        total / text_bytes,
        total / len(nats),
    )


def level(made: Handed, found: Measured) -> int:
    """1 where the bar is passed; else what is the matter."""
    if not math.isfinite(found.bits):
        return 2
    if found.bits < TOO_GOOD:
        return 3
    if found.bits < BAR:
        return 1
    row = row_of([made.pieces.encode(held_out()[0])], made.pieces.end)[None, : made.context]
    with torch.no_grad():
        logits = made.model(row)
    if (logits.argmax(-1) == row).double().mean() > 0.6:
        return 4
    if (logits.sum(-1) - 1).abs().max() < 1e-3:
        return 5
    return 6 if found.bits_a_piece > math.log2(len(made.pieces)) - 1 else 7


def claimed(made: Handed, found: Measured) -> int:
    """1 where the number is right; else which other number it is."""
    for place, number in enumerate(found, start=1):
        if abs(made.bits - number) < LEEWAY:
            return place
    raise WrongTypeError(
        f"You say {made.bits:.2f}, and here it is {found.bits:.2f} bits a byte: the nats of all held-out "
        "texts, by log 2 and by their bytes. Was the model in eval()?"
    )


def results(work: Callable[..., Any], question: str) -> Any:
    """The answer to one of the exercise's questions; what fails one is not asked the next."""
    made = handed(work)
    if question == "pieces":
        return lossless(made.pieces)
    if not lossless(made.pieces):
        return 0
    honest = 0 if sees_later(made.model, made.pieces) else 1
    if question == "causal":
        return honest
    if not honest:
        return 0
    found = measured(made.model, made.pieces, made.context)
    reached = level(made, found)
    if question == "level":
        return reached
    return claimed(made, found) if reached == 1 else 0


# ---- models made by hand ----


class Knowing(nn.Module):
    """`Knowing(pieces, sure=0.5)` has read the held-out texts: each right id gets so much.

    `shift` is which id it takes for the right one: 1 the next, 0 the one that it stands on. With `later` it
    reads the next one off its input.
    """

    def __init__(self, pieces: Any, sure: float, shift: int = 1, *, later: bool = False) -> None:
        super().__init__()
        self.size, self.sure, self.shift, self.later = len(pieces), sure, shift, later
        self.context = 128
        row = row_of(map(pieces.encode, held_out()), pieces.end).tolist()
        # What stands behind the last ids, for whoever knows the text.
        self.next: dict[tuple[int, ...], int] = {}
        for place in range(1, len(row)):
            for length in BEHIND:
                self.next[tuple(row[max(0, place - length) : place])] = row[place]

    def forward(self, ids: Tensor) -> Tensor:
        """`model(ids)` are logarithms of chances, (B, T, vocabulary)."""
        right = ids.clone()
        if self.shift:
            for row, told in zip(ids.tolist(), right, strict=True):
                for place in range(len(row)):
                    known = (
                        tuple(row[max(0, place + 1 - length) : place + 1]) for length in reversed(BEHIND)
                    )
                    told[place] = next((self.next[each] for each in known if each in self.next), 0)
        if self.later:
            right = torch.cat([ids[:, 1:], right[:, -1:]], dim=1)
        chances = F.one_hot(right, self.size) * self.sure + (1 - self.sure) / self.size
        return chances.log()
