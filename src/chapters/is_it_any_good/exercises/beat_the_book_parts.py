"""What `check_beat_the_book` asks with: held-out docstrings, what is told of a model, and what is said."""

import math
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from attnlab.corpora import docstrings
from attnlab.training.run import losses, row_of
from bookkit.checking.answers import WrongTypeError, returned
from bookkit.checking.wording import raised

# In bits a byte of these texts: what 5-grams need that were counted in the training text, in 1,024 pieces
# (1.9005).
BAR = 1.90
# By how much the held-out texts need more than `others()`. Who has learned from networkx's texts alone, and
# is below the bar: LSTMs with dropout .39 to .52 (with a memory, just at the bar, .26), 5-grams more than 1.
# An LSTM that has read the held-out texts, too: .11 to .13. The book's GPT and LSTM, with ten times the text:
# .13 and .16.
APART = 0.2
# How near a number must be. Windows side by side move bits a byte by .01, and with dropout by .03.
LEEWAYS = {"": 0.02, "in training mode": 0.04, "of all held-out texts": 0.02}
TOLD = 0.005  # for all others: of the number itself, or of 1 where that is more
SPELLED = ("Return the neighbours of node_12345.\n", "naïve 🙂\r\n\t", "  ²½ हिन्दी  ")
FIRST = "do its pieces lose anything?"
LONGEST = 128  # for a model that has no `context`

# What may be wrong with what is handed over, question by question.
SAID = {
    # all
    "another vocabulary": (
        "The last axis of your logits is not as long as your pieces: `len(pieces)` counts the end, too."
    ),
    # pieces
    "pieces that lose text": (
        "Not every text comes back from its pieces: what is lost can't be judged, nor written. Take bytes, "
        "and merges."
    ),
    # causal
    "another answer each time": (
        "Asked twice it gives two answers, although it was set to eval(). F.dropout must be told: "
        "training=self.training. nn.Dropout knows by itself."
    ),
    "rows of a batch mixed": (
        "What it says of a row depends on the other rows of the batch. Does an LSTM, or an attention, lack "
        "its batch_first=True?"
    ),
    "sees later ids": "A later id changes earlier logits. Is there a causal mask, or is_causal=True?",
    # level
    "no number": "Its loss is no finite number. Was the rate too high, or is a chance 0?",
    "knows what it is judged by": (
        "It knows the held-out texts nearly as well as networkx's others. Who has learned from these alone "
        "needs far more for what is new. Has it read the held-out texts, too, or far more than a tenth?"
    ),
    "not shifted": (
        "It is sure that the next piece is the one that it stands on. Its targets were not shifted: each is "
        "the *next* id."
    ),
    "chances": (
        "What it gives are chances, which sum to 1. Let it give logits: the loss takes its own softmax."
    ),
    "nothing learned": (
        "It is hardly surer than somebody who knows nothing. Does the loss fall, does the optimizer hold its "
        "weights, and were its ids cut by these same pieces?"
    ),
    "by heart": (
        "Of what it has learned from it needs not two thirds of these bits: much of that it knows by heart, "
        "which is of no use here. Try dropout, a smaller network, fewer updates. And what a text has just "
        "said, it often says again."
    ),
    "not below counting": (
        "It has learned a good deal, and counted 5-grams need fewer bits. A larger rate with a warm-up, a "
        "few minutes more, an LSTM? And what a text has just said, it often says again."
    ),
    # claim
    "bits a piece": "Your number is in bits a *piece*. Divide the bits of the whole text by its bytes.",
    "nats a byte": "Your number is in nats a byte. Divide by log 2.",
    "nats a piece": (
        "Your number is in nats a piece, as the loss is. Divide the nats of the whole text by log 2, and by "
        "its bytes."
    ),
    "perplexity": "Your number is the perplexity of a piece. Asked for are bits a byte.",
    "multiplied by log 2": "Your number is multiplied by log 2. Divide: a bit is less than a nat.",
    "in training mode": (
        "Your number was measured in training mode, where dropout is at work. Call model.eval() first, or "
        "let `losses` do it."
    ),
    "of all held-out texts": (
        "Your number is that of all held-out texts. Asked for is that of every fourth, which is quicker: "
        "`validation[::4]`."
    ),
    "measured otherwise": (
        "Your number is not what the check measures: the nats of every fourth held-out text, as `losses` "
        "gives them, by log 2 and by the texts' bytes, `len(text.encode())`."
    ),
}  # fmt: skip


class Handed(NamedTuple):
    """What a reader hands over: `bits` is what they measured, `context` how many ids the model takes."""

    model: nn.Module
    pieces: Any
    bits: float
    context: int


@cache
def all_held_out() -> list[str]:
    """`all_held_out()` are networkx's held-out texts, none a copy of one before."""
    return docstrings.without_copies(docstrings.read("networkx", held_out=True))


def held_out() -> list[str]:
    """`held_out()` are every fourth of these, since readers wait for the check."""
    return all_held_out()[::4]


@cache
def others() -> list[str]:
    """`others()` are a few of networkx's other texts, about as much as `held_out()`."""
    return docstrings.read("networkx")[::80]


def handed(work: Callable[..., Any]) -> Handed:
    """`handed(my_model)` is what it returns, or says what is wrong with that."""
    made = returned(work())
    if not isinstance(made, (tuple, list)) or len(made) != 3:
        raise WrongTypeError("Hand over three things: the model, its pieces, and your bits per byte.")
    model, pieces, bits = made
    if isinstance(model, type):
        raise WrongTypeError(f"{model.__name__} is a class. Hand over the model that you have trained.")
    if not isinstance(model, nn.Module):
        raise WrongTypeError(f"A model is expected first, and {type(model).__name__} came.")
    if not all(hasattr(pieces, name) for name in ("encode", "decode", "end", "__len__")):
        raise WrongTypeError("The pieces need encode, decode, end and a length, as attnlab's have.")
    try:
        number = float(bits)
    except (TypeError, ValueError, RuntimeError):
        raise WrongTypeError("Your bits per byte are one number.") from None
    made = Handed(model, pieces, number, int(getattr(model, "context", LONGEST)))
    _logits(made, _rows(made))
    return made


def _rows(made: Handed) -> Tensor:
    """Two rows of held-out ids, (2, T)."""
    length = min(made.context, 16)
    return torch.tensor(made.pieces.encode(held_out()[0])[: 2 * length], device="cpu").view(2, length)


def _logits(made: Handed, ids: Tensor) -> Tensor:
    device = next((weight.device for weight in made.model.parameters()), ids.device)
    made.model.eval()
    try:
        with torch.no_grad():
            logits = made.model(ids.to(device))
    except (IndexError, RuntimeError, TypeError, ValueError) as error:
        words = f"The model can't read ids of shape {tuple(ids.shape)}. {raised(error)}"
        raise WrongTypeError(words) from error
    shape = (*ids.shape, len(made.pieces))
    if isinstance(logits, Tensor) and logits.shape[:-1] == ids.shape and logits.shape != shape:
        raise WrongTypeError(SAID["another vocabulary"])
    if not isinstance(logits, Tensor) or logits.shape != shape:
        came = tuple(logits.shape) if isinstance(logits, Tensor) else type(logits).__name__
        raise WrongTypeError(f"Of ids {tuple(ids.shape)} the model must make logits {shape}: it is {came}.")
    return logits.detach().cpu().double()


def _differ(one: Tensor, other: Tensor) -> bool:
    """Whether a chance is another, by more than a fiftieth. (GPUs round, and rows of a batch otherwise.)"""
    first, second = one.softmax(-1), other.softmax(-1)
    return bool(((first - second).abs() > 0.02 * torch.maximum(first, second) + 1e-9).any())


def _mixed_up(made: Handed) -> str:
    ids = _rows(made)
    logits, half = _logits(made, ids), ids.shape[1] // 2
    if _differ(logits, _logits(made, ids)):
        return "another answer each time"
    if _differ(logits[1:], _logits(made, ids[1:])):
        return "rows of a batch mixed"
    other = ids.clone()
    other[:, half:] = (ids[:, half:] + 1) % len(made.pieces)
    return "sees later ids" if _differ(logits[:, :half], _logits(made, other)[:, :half]) else ""


def _lossy(made: Handed) -> str:
    texts = (*SPELLED, *held_out())
    decode, encode = made.pieces.decode, made.pieces.encode
    return "" if all(decode(encode(text)) == text for text in texts) else "pieces that lose text"


class Measured(NamedTuple):
    """`Measured(nats, ids, text_bytes)`: the nats of some texts, and how long these are."""

    nats: float
    ids: int
    text_bytes: int

    @property
    def bits(self) -> float:
        """`measured.bits` are bits a byte."""
        return self.nats / math.log(2) / self.text_bytes


# What was measured for this check. The models stay in it, so that no other gets one's id meanwhile.
_MEASURED: dict[tuple[object, ...], tuple[Measured, nn.Module, Any]] = {}


def measured(
    model: nn.Module, pieces: Any, context: int, texts: Callable[[], list[str]] = held_out
) -> Measured:
    """`measured(model, pieces, 128).bits` are its bits per byte of the held-out texts."""
    key = id(model), id(pieces), context, texts
    if key not in _MEASURED:
        row = row_of(map(pieces.encode, texts()), pieces.end)
        nats = losses(model, row, context).double()
        found = Measured(float(nats.sum()), len(nats), len("".join(texts()).encode()))
        _MEASURED[key] = found, model, pieces
    return _MEASURED[key][0]


def _level(made: Handed) -> str:
    if name := _mixed_up(made):
        return name
    model, pieces, _, context = made
    found = measured(model, pieces, context)
    if not math.isfinite(found.bits):
        return "no number"
    if found.bits < BAR:
        known = measured(model, pieces, context, others).bits
        return "knows what it is judged by" if found.bits < known + APART else ""
    ids = torch.tensor([pieces.encode(held_out()[0])[:context]], device="cpu")
    logits = _logits(made, ids)
    # A start with one table at both ends favours the id that it stands on, and is sure of nothing yet.
    if logits.softmax(-1).gather(-1, ids[..., None]).mean() > 0.5:
        return "not shifted"
    if logits.min() >= 0 and (logits.sum(-1) - 1).abs().max() < 1e-3:
        return "chances"
    if found.nats / found.ids > math.log(len(pieces)) - math.log(2):
        return "nothing learned"
    known = measured(model, pieces, context, others).bits
    return "by heart" if known < 2 / 3 * found.bits else "not below counting"


class _Dropping(nn.Module):
    """A model that stays in training mode, whoever calls eval()."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, ids: Tensor) -> Tensor:
        return self.model.train()(ids)  # type: ignore[no-any-return]


def tellings(model: nn.Module, pieces: Any, context: int) -> Iterator[tuple[str, float]]:
    """`dict(tellings(model, pieces, 128))` has each number that may be told, the right one under ""."""
    found = measured(model, pieces, context)
    yield "", found.bits
    yield "bits a piece", found.nats / math.log(2) / found.ids
    yield "nats a byte", found.nats / found.text_bytes
    yield "nats a piece", found.nats / found.ids
    yield "perplexity", math.exp(min(50, found.nats / found.ids))
    yield "multiplied by log 2", found.nats * math.log(2) / found.text_bytes
    kept = [buffer.clone() for buffer in model.buffers()]  # in training mode some are written into
    yield "in training mode", measured(_Dropping(model), pieces, context).bits
    model.eval()
    for buffer, before in zip(model.buffers(), kept, strict=True):
        buffer.copy_(before)
    yield "of all held-out texts", measured(model, pieces, context, all_held_out).bits


def _mistold(made: Handed) -> str:
    model, pieces, told, context = made
    for name, number in tellings(model, pieces, context):
        if not math.isfinite(number):
            return "no number"
        if abs(told - number) < LEEWAYS.get(name, TOLD * max(1, number)):
            return name
    return "measured otherwise"


def results(work: Callable[..., Any], question: str) -> Any:
    """`results(my_model, "is it below the bar?")` is 1 where there is nothing to say."""
    if question == FIRST:  # the next check: since the last one a model may have learned
        _MEASURED.clear()
    ask = {FIRST: _lossy, "does it see later ids?": _mixed_up, "is it below the bar?": _level}
    ask["is your number right?"] = _mistold
    # Whoever makes a model draws its weights, and dropout draws, too.
    with torch.random.fork_rng(devices=[]):
        name = ask[question](handed(work))
    if name:
        raise WrongTypeError(SAID[name])
    return 1


# ---- models made by hand ----

BEHIND = (1, 2, 4, 8)


class Knowing(nn.Module):
    """`Knowing(pieces, new=0.1, known=0.3)` gives so much to each right id of held-out and of other texts."""

    def __init__(self, pieces: Any, new: float, known: float) -> None:
        super().__init__()
        self.size, self.context = len(pieces), LONGEST
        # What stands behind the last ids, and how sure it is of that.
        self.next: dict[tuple[int, ...], tuple[int, float]] = {}
        for texts, sure in ((others(), known), (held_out(), new)):
            row = row_of(map(pieces.encode, texts), pieces.end).tolist()
            for place in range(1, len(row)):
                for length in BEHIND:
                    self.next[tuple(row[max(0, place - length) : place])] = row[place], sure

    def behind(self, ids: list[int]) -> tuple[int, float]:
        """`model.behind(ids)` is the next id, and how sure the model is."""
        seen = (self.next.get(tuple(ids[-length:])) for length in reversed(BEHIND))
        return next(filter(None, seen), (0, 0.0))

    def forward(self, ids: Tensor) -> Tensor:
        """`model(ids)` are logarithms of chances, (B, T, vocabulary)."""
        told = [[self.behind(row[: t + 1][-8:]) for t in range(len(row))] for row in ids.tolist()]
        likely = torch.tensor([[number for number, _ in row] for row in told], device="cpu")  # (B, T)
        sure = torch.tensor([[[share] for _, share in row] for row in told], device="cpu")  # (B, T, 1)
        chances: Tensor = F.one_hot(likely, self.size) * sure + (1 - sure) / self.size
        return chances.log()
