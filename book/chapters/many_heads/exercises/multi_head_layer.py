"""Write the whole layer of many heads, from an empty page."""

from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

import attnlab
from attnlab.masks import causal, combine, padding
from attnlab.shapes import Mask
from bookkit.checking.answers import WrongTypeError
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.inputs import draw, whole
from chapters.many_heads.exercises.heads import _NAMES
from chapters.many_heads.exercises.multi_head_layer_mistakes import (
    _MISTAKEN,
    _NOT_REFUSED,
    _asserted,
    _never,
)
from chapters.many_heads.exercises.multi_head_layer_parts import _Layer


def _asked(work: Any, query: Tensor, key: Tensor, value: Tensor, mask: Mask | None, heads: int) -> Any:
    """What the reader's class, with our numbers in its four matrices, makes of the inputs."""
    d_model = query.shape[-1]
    with torch.random.fork_rng(devices=[]):  # its first numbers are drawn, and replaced by ours
        if d_model % heads:
            return _refusal(work, d_model, heads)
        layer = work(d_model, heads)
    for place, name in enumerate(_NAMES):
        linear = getattr(layer, name, None)
        if not isinstance(linear, nn.Linear) or linear.weight.shape != (d_model, d_model):
            raise WrongTypeError(
                f"The layer needs four nn.Linear(d_model, d_model), called {', '.join(_NAMES)}; {name} is "
                f"{_in_a_word(linear)}."
            )
        weight, bias = draw(100 + 2 * place, (d_model, d_model), (d_model,))
        linear.weight.data = weight.to(query) / 2
        if linear.bias is not None:
            linear.bias.data = bias.to(query)
    return layer(query, key, value) if mask is None else layer(query, key, value, mask)


def _in_a_word(found: object) -> str:
    if found is None:
        return "missing"
    return repr(found) if isinstance(found, nn.Linear) else f"{type(found).__name__} instead"


def _refusal(work: Any, d_model: int, heads: int) -> tuple[Tensor, Tensor]:
    """An answer of no numbers where the layer is refused, of one where it is made, of two by an assert."""
    try:
        work(d_model, heads)
        numbers = 1
    except ValueError:
        numbers = 0
    except AssertionError:
        numbers = 2
    return torch.zeros(numbers, device="cpu"), torch.zeros(numbers, device="cpu")


_THREE = (2, 3, 4), (2, 3, 4), (2, 3, 4)


_EACH = combine(causal(3), padding(whole(3, 2)))  # (2, 3, 3)


_ACROSS = (2, 3, 6), (2, 5, 6), (2, 5, 6)


# As the text says, (B, n, m): each query's row is there, though all are the same.
_PADDED = padding(whole(5, 2)).repeat(1, 3, 1)  # (2, 3, 5)


check_multi_head_layer = Exercise(
    "multi_head_layer",
    difficulty=3,
    minutes=30,
    takes=("query", "key", "value", "mask", "heads"),
    returns=("output", "weights"),
    reference=_Layer,
    ask=_asked,
    without=(attnlab, nn.MultiheadAttention),
    cases=(
        Case("right for one head", *draw(41, *_THREE), None, 1),
        Case("right for two heads", *draw(44, *_THREE), None, 2),
        Case("right for keys from another sentence", *draw(47, *_ACROSS), None, 3),
        Case("refuses 3 heads for 4 numbers", *draw(50, *_THREE), None, 3),
        Case("right with padding", *draw(53, *_ACROSS), _PADDED, 3),
        # As many heads as sentences: a mask on the wrong axis fits.
        Case("right with a mask for each sentence", *draw(56, *_THREE), _EACH, 2),
        Case("right in float64", *draw(59, *_ACROSS, dtype=torch.float64), None, 2),
    ),
    # Who has one thing wrong has often not come to refusing anything yet.
    mistakes=_MISTAKEN
    | {
        f"{name}, does not refuse": (
            f"{sentence[:-1]}; besides, {_NOT_REFUSED}",  # without its full stop
            partial(code, refuse=_never),
        )
        for name, (sentence, code) in _MISTAKEN.items()
    }
    | {
        "does not refuse": (f"All is right but one thing: {_NOT_REFUSED}", partial(_Layer, refuse=_never)),
        "refuses by an assert": (
            "`python -O` leaves out every `assert`, and then nothing is refused. Raise a ValueError.",
            partial(_Layer, refuse=_asserted),
        ),
    },
)
