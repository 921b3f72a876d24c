"""Put one text's stream into the run of another, behind each layer in turn."""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from attnlab.runtime import generator
from attnlab.today.looks import streams
from attnlab.today.model import Today
from bookkit.checking.answers import returned
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.mistakes import Mistakes, Part, in_parts


def _replaced(stream: Tensor, vectors: Tensor, place: int) -> Tensor:
    stream = stream.clone()
    stream[:, place] = vectors[:, place]
    return stream


def _patched_stream(
    model: Today, ids: Tensor, other: Tensor, place: int, *,
    runs: Part = lambda ids, other: (ids, other),
    put: Part = _replaced,
    removed: bool = True,
    source: Part = lambda layer, layers: layer + 1,  # of the streams, the first is before all blocks
    read: Part = lambda logits: logits[0, -1],
) -> Tensor:  # fmt: skip
    ids, other = runs(ids, other)
    kept, layers = streams(model, other), len(model.blocks)  # (layers + 1, 1, T, d_model)

    def hook(layer: int) -> Callable[..., Tensor]:
        return lambda _, __, stream: put(stream, kept[source(layer, layers)], place)

    rows = []
    for layer, block in enumerate(model.blocks):
        handle = block.register_forward_hook(hook(layer))
        with torch.no_grad():
            rows.append(read(model(ids)))
        if removed:
            handle.remove()
    return torch.stack(rows)


def _piece_exchanged(model: Today, ids: Tensor, other: Tensor, place: int) -> Tensor:
    row = _replaced(ids, other, place)
    return torch.stack([model(row)[0, -1]] * len(model.blocks))


MISTAKES: Mistakes = in_parts(
    _patched_stream,
    runs={
        "the other way round": (
            "You run `other`, with a vector of `ids` in it. Run `ids`, and put in what `other` has.",
            lambda ids, other: (other, ids),
        ),
        "its own vector": (
            "Nothing changes: what you put in comes from the same text. Keep the stream of `other`.",
            lambda ids, other: (ids, ids),
        ),
    },
    put={
        "all places": (
            "The whole stream is exchanged, so that every row is what `other` says by itself. Exchange one "
            "place.",
            lambda stream, vectors, place: vectors,
        ),
        "added": (
            "The other's vector is added. It should stand in the place of this one's.",
            lambda stream, vectors, place: _replaced(stream, stream + vectors, place),
        ),
        "the last place": (
            "The vector is exchanged at the last place. Exchange it at `place`, and *read* the last.",
            lambda stream, vectors, place: _replaced(stream, vectors, -1),
        ),
    },
    source={
        "the stream before the block": (
            "Behind block l you put in what `other` has *before* block l. `streams` begins with the rows of "
            "the table: what stands behind block l is number l + 1.",
            lambda layer, layers: layer,
        ),
        "the last layer's vector": (
            "Every row is given the vector from behind the last block. A function made in a loop looks its "
            "variables up when it is called: hand it the vector when it is made.",
            lambda layer, layers: layers,
        ),
    },
    read={
        "the first place read": (
            "The logits are those behind the first place. What comes next is told at the last.",
            lambda logits: logits[0, 0],
        ),
        "probabilities": (
            "These are probabilities. Return the logits, before the softmax.",
            lambda logits: logits[0, -1].softmax(-1),
        ),
    },
) | {
    "hooks that stay": (
        "The hooks of earlier rows are still at work, so that row 2 has the vector exchanged behind blocks "
        "0, 1 and 2. Remove each hook before the next run.",
        partial(_patched_stream, removed=False),
    ),
    "the piece exchanged": (
        "You exchange the piece itself, before the first block, so that all rows are alike. Exchange the "
        "vector in the stream, behind one block.",
        _piece_exchanged,
    ),
}


def _logits_and_hooks(work: Callable[..., Any], model: Today, *inputs: Any) -> Any:
    found = returned(work(model, *inputs))
    hooks = sum(len(each._forward_hooks) + len(each._forward_pre_hooks) for each in model.modules())
    return found, hooks


def small(seed: int, layers: int, heads: int = 4, groups: int = 2, longest: int = 64) -> Today:
    """`small(1, layers=3)` is a model with drawn weights, of 50 pieces."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        # A spread so wide that what is far off in a stream moves the logits, too.
        return Today(50, 8 * heads, heads, groups, 64, layers, longest, spread=0.3).requires_grad_(False)


def _texts(label: str, seed: int, layers: int, length: int, place: int) -> Case:
    ids, other = torch.randint(50, (2, 1, length), generator=generator(seed), device="cpu")
    return Case(label, small(seed, layers), ids, other, place)


check_patched_stream = Exercise(
    "patched_stream",
    difficulty=3,
    minutes=25,
    takes=("model", "ids", "other", "place"),
    returns=("logits", "hooks left"),
    reference=_patched_stream,
    ask=_logits_and_hooks,
    cases=(
        _texts("right with two blocks", 31, 2, 4, 1),
        _texts("right with three", 32, 3, 7, 3),
        _texts("right with four", 33, 4, 9, 2),
    ),
    mistakes=MISTAKES,
    trainable=False,
)
