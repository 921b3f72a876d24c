"""Looking inside a model of today: its stream, what it would say behind each block, its heads."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from attnlab import require
from attnlab.inside import heads_changed
from attnlab.masks import causal, for_heads
from attnlab.shapes import Mask, Weights
from attnlab.today.model import GroupedAttention, Today, turned


def attentions(model: Today) -> list[GroupedAttention]:
    """`attentions(model)[19].heads` is how many heads its layer 19 has."""
    return [module for module in model.modules() if isinstance(module, GroupedAttention)]


@contextmanager
def _kept(hooks: Iterable[Any]) -> Iterator[None]:
    hooks = list(hooks)
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


@torch.no_grad()
def streams(model: Today, ids: Tensor, visible: Mask | None = None) -> Tensor:
    """`streams(model, ids)` are the vectors of ids (B, T) before, between and behind the blocks.

    (layers + 1, B, T, d_model): the first are rows of the table.
    """
    found = [model.pieces(ids)]
    keep: Callable[..., None] = lambda _, __, stream: found.append(stream)  # noqa: E731
    with _kept(block.register_forward_hook(keep) for block in model.blocks):
        model(ids, visible=visible)
    return torch.stack(found)


@torch.no_grad()
def lens(model: Today, ids: Tensor) -> Tensor:
    """`lens(model, ids)` are logits behind the last of ids (1, T), as if the model ended after each block.

    (layers + 1, vocabulary).
    """
    require.one_row(ids)
    return F.linear(model.norm(streams(model, ids)[:, 0, -1]), (model.next or model.pieces).weight)


def weighed(attention: GroupedAttention, inputs: Tensor, angles: Tensor, visible: Mask) -> Weights:
    """`weighed(attention, inputs, angles, visible)` are the weights (B, heads, T, T) that it mixes by."""
    query = turned(attention.split(attention.query(inputs), attention.heads), angles)
    key = turned(attention.split(attention.key(inputs), attention.groups), angles)
    key = key.repeat_interleave(attention.heads // attention.groups, dim=1)  # (B, heads, T, d_k)
    scores = query @ key.mT / query.shape[-1] ** 0.5
    shares: Tensor = scores.masked_fill_(~for_heads(visible), -torch.inf).softmax(-1)
    return shares


@torch.no_grad()
def weights(model: Today, ids: Tensor, visible: Mask | None = None) -> Weights:
    """`weights(model, ids)` are those of all heads for one text (1, T): (layers, heads, T, T)."""
    require.one_row(ids)
    seen = causal(ids.shape[1], device=ids.device) if visible is None else visible
    found: list[Tensor] = []

    def weigh(attention: GroupedAttention, given: Any) -> None:
        found.append(weighed(attention, given[0], given[1], seen)[0])

    with _kept(attention.register_forward_pre_hook(weigh) for attention in attentions(model)):
        model(ids, visible=visible)
    return torch.stack(found)


@contextmanager
def without(model: Today, heads: Iterable[tuple[int, int]]) -> Iterator[None]:
    """`with without(model, [(19, 7), (17, 1)]): model(ids)` runs it without what these heads find."""
    gone: dict[int, list[int]] = {}
    every = attentions(model)
    for layer, head in heads:
        require.ids_below(len(every), [layer], "layers")
        require.ids_below(every[layer].heads, [head], "heads")
        gone.setdefault(layer, []).append(head)
    with ExitStack() as stack:
        for layer, ones in gone.items():
            stack.enter_context(heads_changed(every[layer], partial(_emptied, ones)))
        yield


def _emptied(heads: list[int], found: Tensor) -> Tensor:
    return found.index_fill(2, torch.tensor(heads, device=found.device), 0)  # (B, T, heads, d_k)
