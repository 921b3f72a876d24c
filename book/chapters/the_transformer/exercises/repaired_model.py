"""Repair a language model that trains, with three faults."""

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from attnlab.runtime import generator
from bookkit.checking.answers import WrongTypeError
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from chapters.the_transformer.exercises.repaired_model_mistakes import MISTAKES
from chapters.the_transformer.exercises.repaired_model_parts import (
    _CUT,
    _DEAF,
    _LEAK,
    _LIST,
    _LOOSE,
    _LOUD,
    _NO_NUMBERS,
    _OPEN,
    _SOFTENED,
    _TURNED,
    _TWO_ANSWERS,
    _Patient,
)
from chapters.the_transformer.models import WORDS

_BAR, _STEPS = 0.5, 40


def _random_texts(batch: int, length: int, seed: int) -> tuple[Tensor, Tensor]:
    source = generator(seed)
    previous, targets = (
        torch.randint(1, len(WORDS), (batch, length), generator=source, device="cpu") for _ in range(2)
    )
    return previous, targets


def _loss(model: Any, previous: Tensor, targets: Tensor) -> Tensor:
    logits = model(previous)
    if not isinstance(logits, Tensor) or logits.shape != (*previous.shape, len(WORDS)):
        came = tuple(logits.shape) if isinstance(logits, Tensor) else type(logits).__name__
        raise WrongTypeError(
            f"For words {tuple(previous.shape)} the logits must be {(*previous.shape, len(WORDS))}, "
            f"not {came}."
        )
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


_SILENT = "The logits are the same, whatever the words are."


_SLOW = (
    "One batch is not learned by heart, though a gradient arrives at all parameters. What keeps the logits "
    "small, or noisy?"
)


# Each test says what it finds; "" is as it should be.
def _starts(model: Any) -> str:
    with torch.no_grad():
        gap = _loss(model, *_random_texts(32, 10, seed=1)).item() - math.log(len(WORDS))
    if not math.isfinite(gap):
        return _NO_NUMBERS
    return "" if gap < 1 else _LOUD


def _leaks(model: Any) -> str:
    words, length = _random_texts(1, 8, seed=2)[0], 8
    model.eval()
    with torch.no_grad():
        for parameter in model.parameters():  # an output that starts at 0 would hide everything
            parameter += 0.1 * torch.randn_like(parameter)
        before, again = model(words)[0], model(words)[0]
        moved = torch.zeros(length, length, dtype=torch.bool, device="cpu")  # (logits of i, word j)
        for place in range(length):
            other = words.clone()
            other[0, place] = words[0, place] % (len(WORDS) - 1) + 1
            moved[:, place] = ((model(other)[0] - before).abs() > 1e-5).any(-1)
    if not before.isfinite().all():
        return _NO_NUMBERS
    if not torch.equal(before, again):
        return _TWO_ANSWERS
    if not moved.any():
        return _SILENT
    if moved.all():
        return _OPEN
    if moved.triu(1).any():
        return _LEAK if moved.tril(-1).any() else _TURNED
    return "" if moved.tril(-1).any() else _DEAF


def _learns_by_heart(model: Any) -> str:
    batch, parameters = _random_texts(16, 12, seed=3), list(model.parameters())
    if type(getattr(model, "word", None)) is Tensor:
        return _LOOSE
    with torch.enable_grad():
        gives_chances = (model(batch[0]).sum(-1) - 1).abs().max() < 1e-3
        optimizer = torch.optim.Adam(parameters, lr=0.01, fused=True)
        for _ in range(_STEPS):
            loss = _loss(model, *batch)
            if not loss.requires_grad:
                return _CUT
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
    if loss < _BAR:
        return ""
    if gives_chances:
        return _SOFTENED
    if isinstance(getattr(model, "layers", None), list | tuple):
        return _LIST
    return _CUT if any(each.grad is None for each in parameters) else _SLOW


_TESTS: dict[str, Callable[[Any], str]] = {
    "first loss": _starts,
    "leak": _leaks,
    "one batch": _learns_by_heart,
}


def _examined(work: Any, test: str) -> int:
    """1 where the test finds nothing."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        if found := _TESTS[test](work(len(WORDS))):
            raise WrongTypeError(found)
    return 1


check_repaired_model = Exercise(
    "repaired_model",
    difficulty=3,
    minutes=30,
    takes=("test",),
    returns=("outcome",),
    reference=_Patient,
    ask=_examined,
    trainable=False,
    cases=(
        Case("its first loss is that of guessing", "first loss"),
        Case("no later word changes what comes before", "leak"),
        Case("learns one batch by heart", "one batch"),
    ),
    mistakes=MISTAKES,
)
