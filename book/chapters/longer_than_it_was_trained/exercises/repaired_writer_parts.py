"""What `check_repaired_writer` asks with, in parts that can be mistaken."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from attnlab.attention import Cache
from attnlab.today.model import Today
from bookkit.checking.answers import returned
from bookkit.checking.mistakes import Part

CACHED = {0: "ids are read again, although a cache remembers them", 1: "each id is read once"}


def by_cache(work: Callable[..., Any], model: Today, texts: Tensor, count: int) -> tuple[Any, Tensor]:
    """`by_cache(my_writer, model, texts, 5)` is what it wrote, and 1 where the model read no id twice."""
    read = []

    def noted(module: object, given: tuple[Tensor, ...], named: dict[str, Tensor]) -> None:
        read.append((given[0] if given else named["ids"]).numel())

    hook = model.register_forward_pre_hook(noted, with_kwargs=True)
    try:
        written = returned(work(model, texts, count))
    finally:
        hook.remove()
    each_once = texts.shape[0] * (texts.shape[1] + count)
    return written, torch.tensor(int(sum(read) <= each_once), device="cpu")


def _fresh(model: Today) -> list[Cache]:
    return [Cache() for _ in model.blocks]


def _behind(before: int, length: int, new: Tensor) -> Tensor:
    """Where the new words stand, (1, T): behind those that the cache holds. The text given has a length."""
    return torch.arange(before, before + new.shape[1], device="cpu")[None]


def _written(
    model: Today,
    texts: Tensor,
    count: int,
    *,
    caches: Part = _fresh,
    again: Part = lambda caches, model: caches,
    kept: bool = False,
    places: Part = _behind,
    visible: Part = lambda new, before: None,
    next_to_read: Part = lambda row, new: new,
    chosen: Part = lambda logits: logits[:, -1:].argmax(-1),
    handed: Part = lambda row, length: row,
) -> Tensor:
    """All texts with `count` words more, (N, T + count), each the likeliest behind those before it."""
    rows, cached = [], caches(model)
    for text in texts:
        row = new = text[None]  # (1, T)
        cached = cached if kept else caches(model)
        for _ in range(count):
            cached = again(cached, model)
            before = cached[0].length
            stand = places(before, len(text), new)
            with torch.no_grad():
                logits = model(new, cached, visible=visible(new, before), places=stand)
            word = chosen(logits)  # (1, 1)
            row = torch.cat([row, word], dim=1)
            new = next_to_read(row, word)
        rows.append(handed(row, len(text)))
    return torch.cat(rows)
