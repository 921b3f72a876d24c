"""A model of today that writes: with fewer keys, with a cache, and with guesses of a smaller one.

Nothing is trained: how long a word takes does not depend on what was learned.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attnlab.attention import Cache
from attnlab.decoding import speculated
from attnlab.today import opened
from attnlab.today.gguf import File
from attnlab.today.model import GroupedAttention, Today
from tools.bench.side_by_side import Comparison


@dataclass(frozen=True)
class Sizes:
    vocabulary: int = 2048
    d_model: int = 512
    heads: int = 8
    groups: int = 2
    hidden: int = 1408
    layers: int = 6
    behind: tuple[int, ...] = (128, 1024)  # words that stand before the one that is written
    count: int = 32
    guesses: int = 4
    read: int = 64  # words, of the same model and of SmolLM2
    real: bool = True


def comparisons(device: torch.device, sizes: Sizes) -> Iterator[Comparison]:
    for n in sizes.behind:
        yield Comparison("keys of a group / of each head", f"a word behind {n}", *grouped(device, sizes, n))
    for n in sizes.behind:
        title = "a written word, with a cache / without"
        yield Comparison(title, f"behind {n}", *cached(device, sizes, n), time_goal=1.0)
    for case, agrees in (("every guess kept", True), ("hardly any kept", False)):
        title = "guessed, then read at once / word by word"
        yield Comparison(title, case, *guessed(device, sizes, agrees))
    title = "a text read at once / written word by word"
    yield Comparison(title, f"{sizes.read} words", *read(untrained(device, sizes), device, sizes))
    if sizes.real:
        smollm2 = opened.model(File(opened.wheel())).to(device)
        yield Comparison(title, f"{sizes.read} pieces, SmolLM2", *read(smollm2, device, sizes))


Runs = tuple[Callable[[], Tensor], Callable[[], Tensor]]


def grouped(device: torch.device, sizes: Sizes, n: int) -> Runs:
    """What a group shares is read once, and not once for each of its heads."""
    layers = [
        GroupedAttention(sizes.d_model, sizes.heads, each).to(device) for each in (sizes.groups, sizes.heads)
    ]
    weights = layers[0].state_dict()
    for name in ("key.weight", "value.weight"):
        shared = weights[name].unflatten(0, (sizes.groups, -1))  # (groups, d_k, d_model)
        weights[name] = shared.repeat_interleave(sizes.heads // sizes.groups, dim=0).flatten(0, 1)
    layers[1].load_state_dict(weights)
    text, word = (torch.randn(1, length, sizes.d_model, device=device) for length in (n, 1))
    angles = torch.zeros(1, 1, 1, sizes.d_model // sizes.heads // 2, device=device)
    visible = torch.ones(1, 1, n + 1, dtype=torch.bool, device=device)
    caches = [Cache(), Cache()]

    @torch.no_grad()
    def run(layer: GroupedAttention, cache: Cache) -> Tensor:
        output: Tensor = layer(word, angles, visible, cache)
        cache.cut(n)  # so that the next run finds what this one found
        return output

    with torch.no_grad():
        for layer, cache in zip(layers, caches, strict=True):
            layer(text, angles, None, cache)
    ours, theirs = (partial(run, *each) for each in zip(layers, caches, strict=True))
    return ours, theirs


def cached(device: torch.device, sizes: Sizes, n: int) -> Runs:
    model = untrained(device, sizes)
    ids = torch.randint(sizes.vocabulary, (1, n + 1), device=device)
    caches = [Cache() for _ in model.blocks]

    @torch.no_grad()
    def ours() -> Tensor:
        logits: Tensor = model(ids[:, -1:], caches)
        for cache in caches:
            cache.cut(n)
        return logits

    @torch.no_grad()
    def theirs() -> Tensor:
        logits: Tensor = model(ids)[:, -1:]
        return logits

    with torch.no_grad():
        model(ids[:, :-1], caches)
    return ours, theirs


def guessed(device: torch.device, sizes: Sizes, agrees: bool) -> Runs:
    """Always the likeliest word, so that both write the same text.

    A helper that agrees is the model's first block, where the others add nothing to it.
    """
    model, helper = untrained(device, sizes), untrained(device, sizes, layers=1)
    if agrees:
        for name, weight in model.blocks[1:].named_parameters():
            if name.endswith(("write.weight", "narrow.weight")):
                nn.init.zeros_(weight)
        weights = model.state_dict()
        helper.load_state_dict({name: weights[name] for name in helper.state_dict()})
    start = torch.zeros(1, 1, dtype=torch.long, device=device)

    def ours() -> Tensor:
        source = torch.Generator().manual_seed(0)
        return speculated(model, helper, start, sizes.count, source, sizes.guesses, likeliest).ids

    @torch.no_grad()
    def theirs() -> Tensor:
        ids, caches = start, [Cache() for _ in model.blocks]
        for _ in range(sizes.count):
            logits = model(ids[:, caches[0].length :], caches)[:, -1:]  # (1, 1, words)
            ids = torch.cat([ids, logits.argmax(-1)], dim=1)
        return ids

    return ours, theirs


def read(model: Today, device: torch.device, sizes: Sizes) -> Runs:
    ids = torch.randint(sizes.vocabulary, (1, sizes.read), device=device)

    @torch.no_grad()
    def ours() -> Tensor:
        logits: Tensor = model(ids)
        return logits

    @torch.no_grad()
    def theirs() -> Tensor:
        caches = [Cache() for _ in model.blocks]
        return torch.cat([model(word, caches) for word in ids.T[:, None]], dim=1)

    return ours, theirs


def untrained(device: torch.device, sizes: Sizes, layers: int | None = None) -> Today:
    longest = max(*sizes.behind, sizes.count, sizes.read) + 1
    return Today(
        sizes.vocabulary, sizes.d_model, sizes.heads, sizes.groups, sizes.hidden,
        layers or sizes.layers, longest, spread=1 / math.sqrt(sizes.d_model),
    ).to(device)  # fmt: skip


def likeliest(logits: Tensor) -> Tensor:
    return F.one_hot(logits.argmax(-1), logits.shape[-1]).float()
