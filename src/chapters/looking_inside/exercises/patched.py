"""Run a model with what one head finds in another sentence."""

from collections.abc import Callable
from typing import Any, TypeAlias

import torch
from torch import Tensor
from torch.nn import functional as F

from attnlab.inside import heads_changed, watched, zeroed
from bookkit.checking.answers import WrongTypeError, returned
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.mistakes import Mistakes, Part, in_answer, in_parts, swapped
from chapters.looking_inside.circuits import (
    drawn,
)
from chapters.looking_inside.exercises.looks import _FIRST, _SECOND, _hooks, _own, _replaced, _words

_Pair: TypeAlias = tuple[int, int]


def _found(model: Any, words: Tensor, layer: int) -> Tensor:
    """What the layer's heads find, (B, n, heads, d_k)."""
    kept: list[Tensor] = []

    def keep(heads: Tensor) -> Tensor:
        kept.append(heads.detach().clone())
        return heads

    with heads_changed(model.layers[layer].self_attention, keep), torch.no_grad():
        model(words)
    return kept[0]


def _difference(logits: Tensor, first: int, second: int) -> Tensor:
    return logits[0, -1, first] - logits[0, -1, second]


def _patched(
    model: Any,
    words: Tensor,
    other: Tensor,
    layer: int,
    head: int,
    pair: _Pair,
    *,
    put: Part = lambda heads, found, head: _replaced(heads, (..., head, slice(None)), found[:, :, head]),
    read: Part = _difference,
    runs: Part = lambda words, other: (words, other),
    place: Part = lambda layer, head: (layer, head),
) -> tuple[Tensor, Tensor]:
    words, other = runs(words, other)
    layer, head = place(layer, head)
    found = _found(model, other, layer)
    with torch.no_grad():
        before = read(model(words), *pair)
        with heads_changed(model.layers[layer].self_attention, lambda heads: put(heads, found, head)):
            return before, read(model(words), *pair)


def _slice_exchanged(
    model: Any, words: Tensor, other: Tensor, layer: int, head: int, pair: _Pair
) -> tuple[Tensor, Tensor]:
    """Exchanges the slice of what comes out of the output matrix."""
    attention = model.layers[layer].self_attention
    own, kept = _own(attention, head), []
    with torch.no_grad():
        hook = attention.out_proj.register_forward_hook(lambda _, __, made: kept.append(made))
        before = model(words)
        model(other)
        hook.remove()
        hook = attention.out_proj.register_forward_hook(
            lambda _, __, made: _replaced(made, (..., own), kept[1][..., own])
        )
        after = model(words)
        hook.remove()
    return _difference(before, *pair), _difference(after, *pair)


def _looks_exchanged(
    model: Any, words: Tensor, other: Tensor, layer: int, head: int, pair: _Pair
) -> tuple[Tensor, Tensor]:
    """The head looks as in the other sentence, at its own values."""
    attention, kept = model.layers[layer].self_attention, []
    with watched(model) as weights, torch.no_grad():
        model(other)
    hook = attention.register_forward_pre_hook(lambda _, given: kept.append(given[0]))
    with torch.no_grad():
        model(words)
        hook.remove()
        matrix, bias = attention.in_proj_weight.chunk(3)[2], attention.in_proj_bias.chunk(3)[2]
        own = _own(attention, head)
        values = F.linear(kept[0], matrix, bias)[..., own]  # (B, T, d_k)
        looks = [*weights.values()][layer][:, head]  # (B, T, T)
        mixed = looks @ values
    return _patched(
        model,
        words,
        other,
        layer,
        head,
        pair,
        put=lambda heads, found, head: _replaced(heads, (..., head, slice(None)), mixed),
    )


def _other_alone(
    model: Any, words: Tensor, other: Tensor, layer: int, head: int, pair: _Pair
) -> tuple[Tensor, Tensor]:
    with torch.no_grad():
        return _difference(model(words), *pair), _difference(model(other), *pair)


MISTAKES: Mistakes = (
    in_parts(
        _patched,
        put={
            "all heads": (
                "All heads of the layer are exchanged. One of them is meant.",
                lambda heads, found, head: found,
            ),
            "all the others": (
                "Every head is exchanged but the one that is meant.",
                lambda heads, found, head: _replaced(found, (..., head, slice(None)), heads[:, :, head]),
            ),
            "last place only": (
                "The head is exchanged at the last place only. Here every place is.",
                lambda heads, found, head: _replaced(heads, (slice(None), -1, head), found[:, -1, head]),
            ),
            "a place": (
                "A place is exchanged, and not a head: the axes are (B, T, heads, d_k).",
                lambda heads, found, head: _replaced(heads, (slice(None), head), found[:, head]),
            ),
            "added": (
                "What the head found in the other sentence is added. It should take the place of what it "
                "found in this one.",
                lambda heads, found, head: _replaced(
                    heads, (..., head, slice(None)), heads[:, :, head] + found[:, :, head]
                ),
            ),
            "removed": (
                "The head is set to 0, and nothing put in its place: that is removing it.",
                lambda heads, found, head: zeroed(head)(heads),
            ),
            "interleaved": (
                "You exchange every number a step of `heads` apart. A head's numbers are neighbours: d_k of "
                "them in a row.",
                lambda heads, found, head: _replaced(
                    heads.flatten(2),
                    (..., slice(head, None, heads.shape[2])),
                    found.flatten(2)[..., head :: heads.shape[2]],
                ).view(heads.shape),
            ),
            "nothing returned": (
                "What is done to the heads must return them: changed or, by what only keeps them, as they "
                "are.",
                lambda heads, found, head: None,
            ),
            "from the same sentence": (
                "Nothing changes: the head is given what it finds in this sentence anyway. Keep what it "
                "finds in the other one.",
                lambda heads, found, head: heads,
            ),
        },
        read={
            "turned": (
                "The differences are second minus first. Take the first of the pair minus the second.",
                lambda logits, first, second: logits[0, -1, second] - logits[0, -1, first],
            ),
            "sign lost": (
                "The differences have lost their sign, which says what the model prefers.",
                lambda logits, first, second: _difference(logits, first, second).abs(),
            ),
            "first place": (
                "The differences are read off at the first place. What comes next is told at the last.",
                lambda logits, first, second: logits[0, 0, first] - logits[0, 0, second],
            ),
            "over all places": (
                "The differences are means over all places. Read them off at the last.",
                lambda logits, first, second: (logits[0, :, first] - logits[0, :, second]).mean(),
            ),
            "probabilities": (
                "These are differences of probabilities. Of logits they are not squeezed between 0 and 1.",
                lambda logits, first, second: (lambda shares: shares[first] - shares[second])(
                    logits[0, -1].softmax(-1)
                ),
            ),
            "one logit": (
                "This is the first word's logit alone. A logit means something next to another: take the "
                "second's away.",
                lambda logits, first, second: logits[0, -1, first],
            ),
        },
        runs={
            "the other way round": (
                "You run on the other sentence, with what the head found in this one.",
                lambda words, other: (other, words),
            ),
        },
        place={
            "head counted from 1": (
                "The head before it is exchanged. Heads are counted from 0.",
                lambda layer, head: (layer, head - 1),
            ),
            "layer counted from 1": (
                "It is exchanged in the layer before. Layers are counted from 0.",
                lambda layer, head: (layer - 1, head),
            ),
        },
    )
    | {
        "the other sentence": (
            "The second number is the other sentence's own. Run on `words`, with one head of the other's.",
            _other_alone,
        ),
        "after, on the other": (
            "The first number is right. The second is the other sentence's, with what the head found in this "
            "one.",
            lambda model, words, other, *rest: (
                _patched(model, words, other, *rest)[0],
                _patched(model, other, words, *rest)[1],
            ),
        ),
        "after the output matrix": (
            "You exchange a slice of what comes out of the output matrix, where the heads are mixed already. "
            "A head's own numbers are what goes *into* out_proj.",
            _slice_exchanged,
        ),
        "looks exchanged": (
            "The head looks as it does in the other sentence, but at this one's values. Exchange what it "
            "finds: weights times values.",
            _looks_exchanged,
        ),
    }
    | in_answer(
        _patched,
        {
            "change alone": (
                "The first number is right. The second is by how much it changes: return the difference "
                "itself.",
                lambda differences: (differences[0], differences[1] - differences[0]),
            ),
        },
    )
    | swapped(_patched, "before", "after")
)


def _two_differences(work: Callable[..., Any], model: Any, *inputs: Any) -> Any:
    found = returned(work(model, *inputs))
    if not isinstance(found, (tuple, list)) or len(found) != 2:
        raise WrongTypeError(
            "Return two numbers: the difference before, and the one with the head exchanged."
        )
    return *found, _hooks(model)


def _exchange(
    label: str, seed: int, words: Tensor, other: Tensor, place: tuple[int, int], pair: _Pair, **sizes: int
) -> Case:
    return Case(label, drawn(seed, **sizes), words, other, *place, pair)


check_patched = Exercise(
    "patched",
    difficulty=3,
    minutes=20,
    takes=("model", "words", "other", "layer", "head", "pair"),
    returns=("before", "after", "hooks left"),
    reference=_patched,
    ask=_two_differences,
    cases=(
        _exchange("right in one layer", 11, _FIRST, _SECOND, (0, 1), (2, 7), layers=1, heads=3, d_model=12),
        _exchange(
            "right in the second layer", 12, _SECOND, _FIRST, (1, 1), (3, 1), layers=2, heads=2, d_model=8
        ),
        _exchange(
            "right in the first layer",
            13,
            _words([1, 2, 3, 4, 5]),
            _words([6, 2, 0, 4, 8]),
            (0, 2),
            (0, 5),
            layers=2,
            heads=3,
            d_model=12,
        ),
    ),
    mistakes=MISTAKES,
    trainable=False,
)
