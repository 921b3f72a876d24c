"""Run a model without one of its heads."""

import copy
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from attnlab import inside
from attnlab.attention import MultiHeadAttention
from attnlab.inside import averaged, heads_changed, zeroed
from bookkit.checking.answers import returned
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.mistakes import Mistakes, Part, in_parts
from chapters.looking_inside.circuits import (
    drawn,
)
from chapters.looking_inside.exercises.looks import _FIRST, _SECOND, _columns, _hooks, _own, _replaced, _words


def _in_a_copy(model: Any, words: Tensor, layer: int, head: int) -> Tensor:
    model = copy.deepcopy(model)
    attention = model.layers[layer].self_attention
    with torch.no_grad():
        _columns(attention, _own(attention, head))
    return model(words)  # type: ignore[no-any-return]


def _without(
    model: Any,
    words: Tensor,
    layer: int,
    head: int,
    *,
    silence: Part = lambda heads, head: zeroed(head)(heads),
    place: Part = lambda layer, head: (layer, head),
) -> Tensor:
    layer, head = place(layer, head)
    with heads_changed(model.layers[layer].self_attention, lambda heads: silence(heads, head)):
        return model(words)  # type: ignore[no-any-return]


def _none_at(*where: Any) -> Part:
    """`_none_at(slice(None), 0)` silences place 0 of what the heads found."""

    def silence(heads: Tensor, head: int) -> Tensor:
        return _replaced(heads, tuple(head if one == "head" else one for one in where), 0)

    return silence


def _flat(cut: Callable[[int, int, int], slice]) -> Part:
    """Silences a slice of all heads' numbers in a row: of the head, their count and their width."""

    def silence(heads: Tensor, head: int) -> Tensor:
        every = (..., cut(head, *heads.shape[2:]))
        return _replaced(heads.flatten(2), every, 0).view(heads.shape)

    return silence


def _with_weights(change: Callable[[MultiHeadAttention, slice], object]) -> Part:
    """Runs a copy of the model whose attention was written into."""

    def run(model: Any, words: Tensor, layer: int, head: int) -> Tensor:
        model = copy.deepcopy(model)
        _write(model, layer, head, change)
        return model(words)  # type: ignore[no-any-return]

    return run


def _write(model: Any, layer: int, head: int, change: Callable[[MultiHeadAttention, slice], object]) -> None:
    attention = model.layers[layer].self_attention
    with torch.no_grad():
        change(attention, _own(attention, head))


def _columns_and_bias(attention: MultiHeadAttention, own: slice) -> None:
    _columns(attention, own)
    attention.out_proj.bias.zero_()


def _columns_and_slice_of_bias(attention: MultiHeadAttention, own: slice) -> None:
    _columns(attention, own)
    attention.out_proj.bias[own] = 0


def _rows(attention: MultiHeadAttention, own: slice) -> None:
    attention.out_proj.weight[own] = 0


def _of_projection(part: int) -> Callable[[MultiHeadAttention, slice], None]:
    def change(attention: MultiHeadAttention, own: slice) -> None:
        attention.in_proj_weight.chunk(3)[part][own] = 0

    return change


def _query_and_bias(attention: MultiHeadAttention, own: slice) -> None:
    for tensor in (attention.in_proj_weight, attention.in_proj_bias):
        tensor.chunk(3)[0][own] = 0


def _while_recorded(model: Any, words: Tensor, layer: int, head: int) -> Tensor:
    model = copy.deepcopy(model)
    attention = model.layers[layer].self_attention
    with torch.enable_grad():
        _columns(attention, _own(attention, head))
    return model(words)  # type: ignore[no-any-return]


def _after_the_output(model: Any, words: Tensor, layer: int, head: int) -> Tensor:
    attention = model.layers[layer].self_attention
    own = _own(attention, head)
    hook = attention.out_proj.register_forward_hook(lambda _, __, made: _replaced(made, (..., own), 0))
    with_hook = model(words)
    hook.remove()
    return with_hook  # type: ignore[no-any-return]


def _hook_left(model: Any, words: Tensor, layer: int, head: int) -> Tensor:
    attention = model.layers[layer].self_attention
    own = _own(attention, head)
    attention.out_proj.register_forward_pre_hook(lambda _, given: _replaced(given[0], (..., own), 0))
    return model(words)  # type: ignore[no-any-return]


def _for_good(model: Any, words: Tensor, layer: int, head: int) -> Tensor:
    _write(model, layer, head, _columns)
    return model(words)  # type: ignore[no-any-return]


def _everywhere(model: Any, words: Tensor, layer: int, head: int) -> Tensor:
    model = copy.deepcopy(model)
    for place in range(len(model.layers)):
        _write(model, place, head, _columns)
    return model(words)  # type: ignore[no-any-return]


MISTAKES: Mistakes = (
    {
        "hook left behind": (
            "The logits are right, but afterwards the model still runs without that head: the hook is left "
            "on it. Keep what register_forward_pre_hook returns, and call its remove().",
            _hook_left,
        ),
        "zeroed for good": (
            "The logits are right, but the model has lost that head for good: its weights were written into. "
            "copy.copy and state_dict() share them with it; copy.deepcopy does not.",
            _for_good,
        ),
        "written while recorded": (
            "PyTorch forbids writing into a parameter while it records gradients. Write into `weight.data`, "
            "or `with torch.no_grad():`.",
            _while_recorded,
        ),
        "after the output matrix": (
            "You take the slice out of what comes from the output matrix, where the heads are mixed already. "
            "A head's own numbers are what goes *into* out_proj.",
            _after_the_output,
        ),
        "bias as well": (
            "The head is gone, and the output matrix's bias with it. That belongs to no head.",
            _with_weights(_columns_and_bias),
        ),
        "slice of the bias as well": (
            "The head is gone, and with it a slice of the output matrix's bias, which belongs to no head.",
            _with_weights(_columns_and_slice_of_bias),
        ),
        "rows of the output matrix": (
            "You zero rows of out_proj.weight. What it reads stands in its columns: weight[:, slice].",
            _with_weights(_rows),
        ),
        "value's bias left": (
            "The head's rows of the value matrix are zero, and its value bias is still there: every place "
            "still finds that. Zero what out_proj reads of it: columns of its weight.",
            _with_weights(_of_projection(2)),
        ),
        "queries zeroed": (
            "The head's queries are zero. Then it looks at all evenly, and still says what it finds there.",
            _with_weights(_query_and_bias),
        ),
        "queries' matrix zeroed": (
            "The first rows of in_proj_weight make the queries. With the head's rows at zero it looks "
            "elsewhere, and still says what it finds there.",
            _with_weights(_of_projection(0)),
        ),
        "in every layer": (
            "The head of this number is removed in every layer. Only the one layer's is meant.",
            _everywhere,
        ),
    }
    | in_parts(
        _without,
        silence={
            "only that head": (
                "All the other heads are gone, and this one is left. The other way round.",
                lambda heads, head: heads - zeroed(head)(heads),
            ),
            "averaged": (
                "The head gives every place its mean. That is a good experiment, too; asked for is zero.",
                lambda heads, head: averaged(head)(heads),
            ),
            "interleaved": (
                "You take every number whose place is the head's, a step of `heads` apart. A head's numbers "
                "are neighbours: d_k of them in a row.",
                _flat(lambda head, heads, width: slice(head, None, heads)),
            ),
            "heads for the width": (
                "Your slice is as wide as there are heads. A head has d_model / heads numbers.",
                _flat(lambda head, heads, width: slice(head * heads, (head + 1) * heads)),
            ),
            "not multiplied": (
                "Your slice begins at the head's number. As many heads stand before it, each of d_model / "
                "heads numbers.",
                _flat(lambda head, heads, width: slice(head, head + width)),
            ),
            "one number": (
                "One number is set to 0. A head has d_model / heads of them.",
                _flat(lambda head, heads, width: slice(head, head + 1)),
            ),
            "from there on": (
                "Everything from this head on is 0. The slice needs an end.",
                _flat(lambda head, heads, width: slice(head * width, None)),
            ),
            "a place": (
                "A place is silenced, and not a head: the axes are (B, T, heads, d_k).",
                _none_at(slice(None), "head"),
            ),
            "last place only": (
                "The head is silenced at the last place only. It must be gone from every place.",
                _none_at(slice(None), -1, "head"),
            ),
            "all heads": (
                "All heads of the layer are silenced. One of them is meant.",
                lambda heads, head: torch.zeros_like(heads),
            ),
            "nothing": (
                "These are the logits of the whole model. Was anything removed, and from the copy that runs?",
                lambda heads, head: heads,
            ),
        },
        place={
            "head counted from 1": (
                "The head before it is removed. Heads are counted from 0.",
                lambda layer, head: (layer, head - 1),
            ),
            "layer counted from 1": (
                "It is removed in the layer before. Layers are counted from 0.",
                lambda layer, head: (layer - 1, head),
            ),
        },
    )
    | {
        "probabilities": (
            "These are probabilities. Return the logits, before the softmax.",
            lambda *inputs: _without(*inputs).softmax(-1),
        ),
    }
)


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
