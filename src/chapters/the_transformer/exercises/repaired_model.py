"""Repair a language model that trains, with three faults."""

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from torch import nn
from torch.nn import functional as F

from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.mistakes import Mistakes
from chapters.the_transformer.exercises.repaired_model_parts import _in_turn, _Patient
from chapters.the_transformer.exercises.repaired_model_tests import (
    _CUT,
    _DEAF,
    _FEWER,
    _LEAK,
    _LIST,
    _LOOSE,
    _LOUD,
    _NO_NUMBERS,
    _NOT_ITSELF,
    _OPEN,
    _SOFTENED,
    _SOME,
    _TURNED,
    _TWO_ANSWERS,
    examined,
)

# What the model comes with.
_FAULTS: dict[str, dict[str, Any]] = {
    "loud": {"spread": 1.0},
    "leak": {"mask": lambda ones: ones.tril(1)},
    "list": {"hold": list},
}


def _ill(*faults: str, **more: Any) -> Callable[[int], nn.Module]:
    kinds: dict[str, Any] = {}
    for fault in faults:
        kinds |= _FAULTS[fault]
    return partial(_Patient, **kinds, **more)


def _first_registered(layers: Iterator[nn.Module]) -> nn.ModuleList:
    first, *others = layers
    held = nn.ModuleList([first])
    held.others = others  # type: ignore[assignment]  # a list, where PyTorch does not see them
    return held


def _the_first_twice(layers: Iterator[nn.Module]) -> nn.ModuleList:
    return nn.ModuleList([next(layers)] * 2)


MISTAKES: Mistakes = {
    "still broken": (
        "All three faults are still there. Begin with the first loss: how large are the logits?",
        _ill("loud", "leak", "list"),
    ),
    "leak and list left": (f"The start is mended. {_LEAK}", _ill("leak", "list")),
    "loud and list left": (f"The leak is mended. {_LOUD}", _ill("loud", "list")),
    "loud and leak left": (f"It learns a batch by heart now. {_LOUD}", _ill("loud", "leak")),
    "list left": (f"Start and leak are mended. {_LIST}", _ill("list")),
    "leak left": (f"It starts and learns as it should. {_LEAK}", _ill("leak")),
    "loud left": (f"Nothing leaks, and all layers learn. {_LOUD}", _ill("loud")),
    "no mask": (_OPEN, _ill(mask=lambda ones: ones)),
    "mask turned": (_TURNED, _ill(mask=lambda ones: ones.triu())),
    "no numbers": (_NO_NUMBERS, _ill(answer=lambda logits: logits * math.nan)),
    "two answers": (_TWO_ANSWERS, _ill(answer=lambda logits: F.dropout(logits, 0.02))),
    "deaf": (_DEAF, _ill(mask=lambda ones: ones.tril().triu())),
    "not itself": (_NOT_ITSELF, _ill(mask=lambda ones: ones.tril(-1))),
    "some layers registered": (
        _SOME,
        _ill(
            hold=_first_registered,
            go=lambda layers, x, mask: _in_turn([*layers, *layers.others], x, mask),
        ),
    ),
    "one layer": (_FEWER, _ill(hold=_the_first_twice)),
    "word no parameter": (_LOOSE, _ill(keep=lambda word: word.detach())),
    "softmax at the end": (_SOFTENED, _ill(answer=lambda logits: logits.softmax(-1))),
    "cut off": (_CUT, _ill(go=lambda layers, x, mask: _in_turn(layers, x, mask).detach())),
}


check_repaired_model = Exercise(
    "repaired_model",
    difficulty=3,
    minutes=30,
    takes=("test",),
    returns=("outcome",),
    reference=_Patient,
    ask=examined,
    trainable=False,
    cases=(
        Case("its first loss is that of guessing", "first loss"),
        Case("no later word changes what comes before", "leak"),
        Case("learns one batch by heart", "one batch"),
    ),
    mistakes=MISTAKES,
)
