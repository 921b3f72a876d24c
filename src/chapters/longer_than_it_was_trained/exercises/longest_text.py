"""An experiment: make a model that was trained on 128 places read 512."""

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from attnlab.corpora import docstrings
from attnlab.corpora.pieces import Pieces
from attnlab.masks import causal
from attnlab.positions import stretched
from attnlab.runtime import generator
from attnlab.today.model import Today
from attnlab.training.run import row_of
from bookkit import weights
from bookkit.checking.answers import WrongTypeError, returned
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.mistakes import Mistakes
from bookkit.checking.wording import raised
from chapters.the_block_of_today.models import today

CONTEXT, VOCABULARY = 128, 2048  # of the stored model
LENGTH, WINDOWS, LAST = 512, 16, 64
FIRST = "does it read so many?"
# Nats a piece above the untouched model, which sees the same last 128 pieces of each window. From places
# interpolated by 4 it is .63 more, from a base 24 times as large .23, from pairs mixed by 4 .23 to .26.
BAR = 0.4
# Nats below the untouched model. A memory and counted 5-grams, mixed in, are worth about .4.
TOO_GOOD = 0.8

SAID = {
    # reads
    "still 128": (
        "It still refuses more than 128 pieces. Set `model.longest = 512` on the model that you hand over."
    ),
    "another vocabulary": "The last axis of your logits is not 2,048 long, as many as there are pieces.",
    # causal
    "another answer each time": (
        "Asked twice it gives two answers, although it was set to eval(). Is there dropout, or noise, that "
        "knows nothing of that?"
    ),
    "rows of a batch mixed": "What it says of a row depends on the other rows of the batch.",
    "sees later ids": "A later id changes earlier logits. Is there a causal mask, or is_causal=True?",
    # far
    "only what is near": (
        "The first 64 of 512 pieces change nothing at the last ones. A window of 128 is a good way to read "
        "on, and needs no remedy; here all 512 are to be seen."
    ),
    # level
    "no number": "What it gives are no finite numbers. Was the rate too high, or is a chance 0?",
    "as it is": (
        "It reads 512 places at the speeds it was trained with, at which slow pairs come to angles never "
        "seen. Slow them down."
    ),
    "interpolated alone": (
        "These are places interpolated by 4, and nothing else. The fast pairs, which had been at every "
        "angle, are slowed down with the slow ones. Leave them, or train a little."
    ),
    "not good enough": (
        "The last places still cost too much. Which pairs have been at every angle, and may stay? Try other "
        "factors on *other* texts, or train a hundred updates on long ones."
    ),
    "knows what it is judged by": (
        "It knows the held-out texts far better than anyone who has not read them. Has it trained on them?"
    ),
    "chances": (
        "What it gives are chances, which sum to 1. Let it give logits: the loss takes its own softmax."
    ),
}


@cache
def pieces() -> Pieces:
    """`pieces()` are those that the stored model reads."""
    return Pieces(weights.notes("a_gpt_of_your_own/gpt")["merges"].long().tolist())


@cache
def windows() -> Tensor:
    """`windows()` are 16 times 513 ids of networkx's held-out texts, from places evenly apart."""
    texts = docstrings.without_copies(docstrings.read("networkx", held_out=True))
    row = row_of(map(pieces().encode, texts), pieces().end)
    starts = torch.linspace(0, len(row) - LENGTH - 1, WINDOWS, device="cpu").long()
    return row[starts[:, None] + torch.arange(LENGTH + 1, device="cpu")]  # (16, 513)


@cache
def untouched(longest: int = CONTEXT) -> nn.Module:
    """`untouched()` is the stored model."""
    model = today()
    weights.load("the_block_of_today/today", model)
    model.longest = longest
    return model


def nats(model: nn.Module, length: int = LENGTH) -> float:
    """`nats(untouched(), 128)` is what the last 64 ids of each window cost, seen with 128 before the end."""
    cut = windows()[:, -length - 1 :]
    device = next((weight.device for weight in model.parameters()), cut.device)
    model.eval()
    found = []
    with torch.no_grad():
        for some in cut.to(device).split(4):  # type: ignore[no-untyped-call]
            logits = model(some[:, :-1])[:, -LAST:]  # (4, 64, vocabulary)
            found.append(F.cross_entropy(logits.flatten(0, 1).double(), some[:, -LAST:].flatten()))
    return float(torch.stack(found).mean())


@cache
def of_untouched() -> float:
    """`of_untouched()` is what they cost the stored model, which sees 128."""
    return nats(untouched(), CONTEXT)


def handed(work: Callable[..., Any]) -> nn.Module:
    """`handed(my_model)` is what it returns, or says what is wrong with that."""
    model = returned(work())
    if isinstance(model, type):
        raise WrongTypeError(f"{model.__name__} is a class. Hand over the model itself.")
    if not isinstance(model, nn.Module):
        raise WrongTypeError(f"A model is expected, and {type(model).__name__} came.")
    logits(model, windows()[:1, :2])
    return model


def logits(model: nn.Module, ids: Tensor) -> Tensor:
    """`logits(model, ids)` are those of ids, (B, T, 2048), or it is said why there are none."""
    device = next((weight.device for weight in model.parameters()), ids.device)
    model.eval()
    try:
        with torch.no_grad():
            made = model(ids.to(device))
    except (IndexError, RuntimeError, TypeError, ValueError) as error:
        if "at most 128 long" in str(error):
            raise WrongTypeError(SAID["still 128"]) from error
        words = f"The model can't read ids of shape {tuple(ids.shape)}. {raised(error)}"
        raise WrongTypeError(words) from error
    if isinstance(made, Tensor) and made.shape[:-1] == ids.shape and made.shape[-1] != VOCABULARY:
        raise WrongTypeError(SAID["another vocabulary"])
    if not isinstance(made, Tensor) or made.shape != (*ids.shape, VOCABULARY):
        came = tuple(made.shape) if isinstance(made, Tensor) else type(made).__name__
        wanted = (*ids.shape, VOCABULARY)
        raise WrongTypeError(f"Of ids {tuple(ids.shape)} the model must make logits {wanted}: it is {came}.")
    return made.detach().cpu().double()


def _differ(one: Tensor, other: Tensor) -> bool:
    """Whether a chance is another, by more than a fiftieth. (GPUs round, and rows of a batch otherwise.)"""
    first, second = one.softmax(-1), other.softmax(-1)
    return bool(((first - second).abs() > 0.02 * torch.maximum(first, second) + 1e-9).any())


def _unread(model: nn.Module) -> str:
    logits(model, windows()[:1, :-1])
    return ""


def _mixed_up(model: nn.Module) -> str:
    ids = windows()[:2, :32]
    made = logits(model, ids)
    if made.softmax(-1).isnan().any():
        return "no number"
    if _differ(made, logits(model, ids)):
        return "another answer each time"
    if _differ(made[1:], logits(model, ids[1:])):
        return "rows of a batch mixed"
    other = ids.clone()
    other[:, 16:] = (ids[:, 16:] + 1) % VOCABULARY
    return "sees later ids" if _differ(made[:, :16], logits(model, other)[:, :16]) else ""


def _short_sighted(model: nn.Module) -> str:
    if name := _mixed_up(model):
        return name
    ids = windows()[:1, :-1]
    other = ids.clone()
    other[:, :LAST] = (ids[:, :LAST] + 1) % VOCABULARY
    made, changed = (logits(model, each)[:, -LAST:] for each in (ids, other))
    return "" if _differ(made, changed) else "only what is near"


def _level(model: nn.Module) -> str:
    if name := _short_sighted(model):
        return name
    level, bar = nats(model), of_untouched()
    if not math.isfinite(level):
        return "no number"
    if level < bar + BAR:
        return "knows what it is judged by" if level < bar - TOO_GOOD else ""
    ids = windows()[:1, :-1]
    made, original = logits(model, ids), untouched(LENGTH)
    if not _differ(made, logits(original, ids)):
        return "as it is"
    places = torch.arange(LENGTH, device="cpu")[None] / 4
    with torch.no_grad():
        interpolated = original(ids, places=places).double()
    if not _differ(made, interpolated):
        return "interpolated alone"
    if made.min() >= 0 and (made.sum(-1) - 1).abs().max() < 1e-3:
        return "chances"
    return "not good enough"


def near(length: int = LENGTH, window: int = CONTEXT) -> Tensor:
    """`near()` shows each place the last 128, itself among them: (1, 512, 512)."""
    return causal(length).triu(1 - window)


def results(work: Callable[..., Any], question: str) -> Any:
    """`results(my_model, "is it below the bar?")` is 1 where there is nothing to say."""
    ask = {FIRST: _unread, "does it see later ids?": _mixed_up, "does it see what is far?": _short_sighted}
    ask["is it below the bar?"] = _level
    # Whoever makes a model draws its weights.
    with torch.random.fork_rng(devices=[]):
        name = ask[question](handed(work))
    if name:
        raise WrongTypeError(SAID[name])
    return 1


@cache
def long(how: str = "mixed", factor: float = 4, longest: int = LENGTH) -> Today:
    """`long("interpolated")` is the stored model with slower turns."""
    model = today()
    weights.load("the_block_of_today/today", model)
    model.frequencies = stretched(model.frequencies, factor, CONTEXT, how, slow=1, fast=16)
    model.longest = longest
    return model


class Changed(nn.Module):
    """`Changed(lambda model, ids: model(ids).softmax(-1))` says something else than the model."""

    def __init__(self, change: Callable[[Today, Tensor], Tensor]) -> None:
        super().__init__()
        self.model, self.change = long(), change

    def forward(self, ids: Tensor) -> Tensor:
        """`changed(ids)` are logits of ids, (B, T, …)."""
        return self.change(self.model, ids)


# Noise that is always on, by a chance of its own: PyTorch's belongs to the reader.
_CHANCE = generator(0)


def _noisy(model: Today, ids: Tensor) -> Tensor:
    logits: Tensor = model(ids)
    return logits + 0.1 * torch.randn(logits.shape, generator=_CHANCE, device="cpu")


def _near(model: Today, ids: Tensor) -> Tensor:
    return model(ids, visible=near(ids.shape[1]))  # type: ignore[no-any-return]


@cache
def _followers() -> dict[tuple[int, ...], int]:
    return {
        tuple(row[place - 4 : place]): row[place]
        for row in windows().tolist()
        for place in range(4, len(row))
    }


def _by_heart(model: Today, ids: Tensor) -> Tensor:
    """What followed the last four ids in the held-out texts is given most of the chances."""
    known = _followers()
    told = [
        [known.get(tuple(row[max(0, t - 3) : t + 1]), 0) for t in range(len(row))] for row in ids.tolist()
    ]
    return model(ids) + 9.0 * F.one_hot(torch.tensor(told, device="cpu"), VOCABULARY)  # type: ignore[no-any-return]


_MODELS: dict[str, Callable[[], nn.Module]] = {
    "reference": long,
    "still 128": lambda: long(longest=CONTEXT),
    "another vocabulary": lambda: Changed(lambda model, ids: model(ids)[..., 1:]),
    "another answer each time": lambda: Changed(_noisy),
    "rows of a batch mixed": lambda: Changed(lambda model, ids: model(ids).roll(1, 0)),
    "sees later ids": lambda: Changed(lambda model, ids: 9.0 * F.one_hot(ids.roll(-1, 1), VOCABULARY)),
    "only what is near": lambda: Changed(_near),
    "no number": lambda: Changed(lambda model, ids: model(ids) * math.nan),
    "as it is": lambda: long(factor=1),
    "interpolated alone": lambda: long("interpolated"),
    "not good enough": lambda: long("larger base"),
    "knows what it is judged by": lambda: Changed(_by_heart),
    "chances": lambda: Changed(lambda model, ids: model(ids).softmax(-1)),
}


def made(name: str) -> Callable[[], Any]:
    """`made("reference")` hands over a model that passes; other names hand over other models."""
    return cache(_MODELS[name])


MISTAKES: Mistakes = {name: (sentence, made(name)) for name, sentence in SAID.items()}


check_longest_text = Exercise(
    "longest_text",
    difficulty=4,
    minutes=45,
    takes=("question",),
    returns=("answer",),
    reference=made("reference"),
    ask=results,
    cases=(
        Case("it reads 512 pieces", FIRST),
        Case("it sees no later id", "does it see later ids?"),
        Case("what stands far back counts", "does it see what is far?"),
        Case("the last places cost little more than 128 pieces do", "is it below the bar?"),
    ),
    mistakes=MISTAKES,
    trainable=False,
)
