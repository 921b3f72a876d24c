"""An experiment: find a start from which models learn without a divisor."""

import math
from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from attnlab.scores import dot
from attnlab.shapes import Weights
from bookkit.checking.answers import WrongTypeError
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.mistakes import Mistakes

_KEYS, _VALUES, _STARTS = 16, 8, 5


def _drawn(d_k: int, source: torch.Generator) -> tuple[Tensor, Tensor]:
    """Independent queries and keys with components of size 1: the start that the divisor is for."""
    query, key = torch.randn(2, _KEYS, d_k, generator=source, device="cpu")
    return query, key


def _one_query(d_k: int, source: torch.Generator) -> tuple[Tensor, Tensor]:
    query, key = _drawn(d_k, source)
    return query[:1].expand_as(query), key


def _slightly_apart(d_k: int, source: torch.Generator) -> tuple[Tensor, Tensor]:
    """Keys that share most of themselves: what is their own still grows with the width."""
    query, key = _drawn(d_k, source)
    return query, math.sqrt(1 - 0.25**2) * key[:1] + 0.25 * key


def _tied(d_k: int, source: torch.Generator) -> tuple[Tensor, Tensor]:
    query, _ = _drawn(d_k, source)
    return query, query


def _large_components(d_k: int, source: torch.Generator) -> tuple[Tensor, Tensor]:
    query, key = _drawn(d_k, source)
    return math.sqrt(d_k) * query, key


def _small(d_k: int, source: torch.Generator) -> tuple[Tensor, Tensor]:
    query, key = _drawn(d_k, source)
    return query / math.sqrt(d_k), key


MISTAKES: Mistakes = {
    "small components": (
        "The components of your queries or keys do not have a root mean square near 1. With small "
        "ones the scores are small, which is the divisor by another name. Keep the size, and find "
        "another way.",
        _small,
    ),
    "large components": (
        "The components of your queries or keys have a root mean square well above 1, which pulls the "
        "scores still further apart. Keep it near 1.",
        _large_components,
    ),
    "tied": (
        "This start has most answers right before anything is learned, like the tied queries and keys "
        "above. Find one that knows nothing at first.",
        _tied,
    ),
    "independent": (
        "At every width some queries never find their key. Look at the scores your start gives: how far "
        "apart are those of one query? That is all the softmax sees.",
        _drawn,
    ),
    "grows with the width": (
        "It learns at 16, and no longer at 64: the scores of one query still move apart as d_k grows. "
        "What would hold them together at every width?",
        _one_query,
    ),
    "grows slowly": (
        "It learns at 16 and 64, and no longer at 256. What holds the scores together must not wear off "
        "as d_k grows.",
        _slightly_apart,
    ),
}


def _share_right(weights: Weights, value: Tensor) -> Tensor:
    """For each start, the share of queries whose own value weighs most in what they fetch."""
    return ((weights.unsqueeze(1) @ value).argmax(-1) == value.argmax(-1)).double().mean((-2, -1))


def _values(batch: int, source: torch.Generator) -> Tensor:
    chosen = torch.randint(_VALUES, (_STARTS, batch, _KEYS), generator=source, device="cpu")
    return one_hot(chosen, _VALUES).double()  # (starts, batch, 16, 8)


def _start(work: Callable[..., object], d_k: int, seed: int) -> list[Tensor]:
    made = work(d_k, torch.Generator("cpu").manual_seed(seed))
    parts = list(made) if isinstance(made, tuple | list | Tensor) else []
    if len(parts) != 2 or not all(isinstance(part, Tensor) and part.shape == (_KEYS, d_k) for part in parts):
        raise WrongTypeError(f"Return two tensors, queries and keys, each of shape (16, d_k) = (16, {d_k}).")
    return [part.detach().double() for part in parts]


def _trained(work: Callable[..., object], d_k: int) -> tuple[int, int, int]:
    """How far a start gets: components of size 1? Still much to learn? And is it learned, undivided?"""
    starts = [_start(work, d_k, seed) for seed in range(_STARTS)]
    query, key = (torch.stack(each) for each in zip(*starts, strict=True))  # (starts, 16, d_k)
    sizes = [each.square().mean().sqrt().item() for each in (query, key)]
    if not all(0.8 <= size <= 1.25 for size in sizes):
        return (0 if min(sizes) < 0.8 else 2), 0, 0  # too small, too large
    source = torch.Generator("cpu").manual_seed(2)
    if _share_right(dot(query, key).softmax(-1), _values(64, source)).mean() > 0.5:
        return 1, 0, 0
    with torch.enable_grad():
        leaves = [each.clone().requires_grad_() for each in (query, key)]
        optimizer = torch.optim.Adam(leaves, lr=0.015, fused=True)
        for _ in range(200):
            value = _values(4, source)
            fetched = dot(*leaves).softmax(-1).unsqueeze(1) @ value  # (starts, batch, 16, 8)
            optimizer.zero_grad()
            (fetched - value).square().sum(-1).mean((-2, -1)).sum().backward()  # type: ignore[no-untyped-call]
            optimizer.step()
    with torch.no_grad():
        right = _share_right(dot(*leaves).softmax(-1), _values(64, source)).mean()
    return 1, 1, int(right >= 0.9)


def _apart(d_k: int, source: torch.Generator) -> tuple[Tensor, Tensor]:
    """Queries in one half of the components and keys in the other, so that all scores are 0."""
    query, key = _drawn(d_k, source)
    half = torch.arange(d_k, device="cpu") < d_k // 2
    return math.sqrt(2) * query * half, math.sqrt(2) * key * ~half


check_start_without_divisor = Exercise(
    "start_without_divisor",
    difficulty=4,
    minutes=40,
    takes=("d_k",),
    returns=("components of size 1", "still to be learned", "learned"),
    reference=_apart,
    cases=(
        Case("learned without a divisor at d_k = 16", 16),
        Case("learned without a divisor at d_k = 64", 64),
        Case("learned without a divisor at d_k = 256", 256),
    ),
    mistakes=MISTAKES,
    trainable=False,
    ask=_trained,
    meanings={
        "components of size 1": {0: "no, they are too small", 1: "yes", 2: "no, they are too large"},
        "still to be learned": {0: "no, the looks are right before any step", 1: "yes"},
        "learned": {0: "no, not in 200 steps", 1: "yes"},
    },
)
