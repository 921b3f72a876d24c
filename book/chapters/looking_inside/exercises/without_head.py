"""Run a model without one of its heads."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from attnlab import inside
from bookkit.checking.answers import returned
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from chapters.looking_inside.circuits import (
    drawn,
)
from chapters.looking_inside.exercises.looks import _FIRST, _SECOND, _hooks, _words
from chapters.looking_inside.exercises.without_head_mistakes import MISTAKES
from chapters.looking_inside.exercises.without_head_parts import _in_a_copy


def _and_again(work: Callable[..., Any], model: Any, words: Tensor, layer: int, head: int) -> Any:
    """What comes back, and then what the model makes of the same words when nobody asks for a change."""
    logits = returned(work(model, words, layer, head))
    with torch.no_grad():
        return logits, model(words), _hooks(model)


check_without_head = Exercise(
    "without_head",
    difficulty=2,
    minutes=15,
    takes=("model", "words", "layer", "head"),
    returns=("logits", "logits afterwards", "hooks left"),
    reference=_in_a_copy,
    ask=_and_again,
    cases=(
        Case("right in one layer", drawn(1, layers=1, heads=3, d_model=12), _FIRST, 0, 1),
        Case(
            "right for two sentences",
            drawn(2, layers=2, heads=2, d_model=10),
            _words([1, 2, 3], [6, 2, 8]),
            1,
            1,
        ),
        Case("right in the first of three", drawn(3, layers=3, heads=3, d_model=6), _SECOND, 0, 2),
        Case("right in the second of three", drawn(4, layers=3, heads=4, d_model=24), _FIRST, 1, 2),
    ),
    mistakes=MISTAKES,
    trainable=False,
    # The lesson's way, which the text asks to do without.
    without=(
        inside,
        nn.Module.register_forward_hook,
        nn.Module.register_forward_pre_hook,
    ),
)
