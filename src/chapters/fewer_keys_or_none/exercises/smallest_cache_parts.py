"""What `check_smallest_cache` asks with: held-out text, the stored model, what a cache keeps and costs."""

import copy
import math
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from attnlab.attention import Cache
from attnlab.corpora import docstrings
from attnlab.shapes import Keys, Values
from attnlab.today.model import Today
from attnlab.training.run import row_of
from bookkit import weights
from bookkit.checking.answers import WrongTypeError, returned
from chapters.a_gpt_of_your_own import models
from chapters.the_block_of_today.models import today

LAYERS, GROUPS, D_K, LENGTH = 3, 2, 16, 128
FULL = LAYERS * 2 * GROUPS * D_K * 16  # bits a place, of all keys and values in 16 bits
LOST = 0.02  # nats a piece that a cache may cost
ROWS = 32  # crops of held-out text that are read side by side
# Bits of one number, by its kind; of whole numbers, those that tell the tensor's own apart.
WIDE = {torch.float64: 64, torch.float32: 32, torch.float16: 16, torch.bfloat16: 16}
FIRST = "is it a cache?"
LIMIT = 180.0

SAID = {
    "one for all layers": (
        "The same object comes back for every layer. Each layer has keys and values of its own: make a new "
        "one each time."
    ),
    "kept elsewhere": (
        "It remembers something outside itself: a copy of it goes on otherwise. Keep in its attributes all "
        "that depends on the text. There it is counted."
    ),
    "nothing kept": "It gives back the newest piece alone: what came before is forgotten.",
    "no number": "What it gives back is not finite. Is something divided by a scale that is 0?",
    "stored in full": (
        "It loses little, and what it keeps are whole floats: they are rounded only when they are read. Keep "
        "the small whole numbers."
    ),
    "rounded again": (
        "It loses too much, and what it gives back of an old place changes later. Is it rounded anew at each "
        "step, with one error on top of the last? Round each place once, when it comes."
    ),
    "too much lost": (
        f"It loses more than {LOST} nats a piece against the full cache. Which layer, keys or values, "
        "windows or steps? Spoil one at a time, and see what it costs."
    ),
    "too large": (
        f"It keeps more than {LIMIT:.0f} bits a place. Not every layer needs as many places, nor keys as "
        "many steps as values."
    ),
}


@cache
def stored() -> Today:
    """`stored()` is the model of *The block of today*."""
    model = today()
    weights.load("the_block_of_today/today", model)
    return model


@cache
def crops() -> Tensor:
    """`crops()` are pieces of held-out text, (ROWS, LENGTH + 1), from as many places."""
    texts = docstrings.without_copies(docstrings.read("networkx", held_out=True))
    row = row_of(map(models.pieces().encode, texts), models.pieces().end)
    return torch.stack([part[: LENGTH + 1] for part in row.chunk(ROWS)])


# ---- a reader's cache, in the place of attnlab's ----


class Asked(Cache):
    """`Asked(work(0))` is a cache whose answers are looked at before the model gets them."""

    def __init__(self, own: Any) -> None:
        super().__init__()
        self.own, self.before = own, torch.empty(0)
        # Whether it gives back more than the newest, other keys than it was given, and old ones anew.
        self.grew = self.rounds = self.changes = False

    def extended(self, keys: Keys, values: Values) -> tuple[Keys, Values]:
        """`asked.extended(keys, values)` are the reader's, of the shapes that attention can use."""
        answer = returned(self.own.extended(keys.clone(), values.clone()))
        if not isinstance(answer, (tuple, list)) or len(answer) != 2:
            raise WrongTypeError("`extended` gives back two tensors: keys and values.")
        for name, came in zip(("keys", "values"), answer, strict=True):
            _look_at(name, came, keys)
        read = tuple(each.detach().to(keys.dtype) for each in answer)
        if read[0].shape != read[1].shape:
            shapes = " and ".join(str(tuple(each.shape)) for each in read)
            raise WrongTypeError(f"There must be as many values as keys, and they are {shapes}.")
        self._compare(keys, read[0])
        return read[0], read[1]

    def _compare(self, given: Keys, read: Keys) -> None:
        count = read.shape[-2] - 1
        self.grew |= count > 0
        self.rounds |= bool((read[..., -1:, :] - given).abs().max() > 0.01 * given.abs().max())
        if self.before.dim() == 4 and self.before.shape[-2] == count:
            self.changes |= not read[..., :-1, :].equal(self.before)
        self.before = read


def _look_at(name: str, came: object, wanted: Tensor) -> None:
    if not isinstance(came, Tensor):
        raise WrongTypeError(f"`extended` gives back {name} as {type(came).__name__}: make it a tensor.")
    batch, groups, _, d_k = wanted.shape
    fits = came.dim() == 4 and (*came.shape[:2], came.shape[3]) == (batch, groups, d_k) and came.shape[2]
    if not fits:
        shape = f"({batch}, {groups}, m, {d_k})"
        raise WrongTypeError(f"`extended` must give back {name} {shape}, and they are {tuple(came.shape)}.")
    if not came.is_floating_point():
        raise WrongTypeError(f"`extended` gives back {name} of {came.dtype}: multiply by the scale first.")
    if not came.isfinite().all():
        raise WrongTypeError(SAID["no number"])


def asked(work: Callable[..., Any]) -> list[Asked]:
    """`asked(my_cache)` are new caches, one for each layer."""
    own = [returned(work(layer)) for layer in range(LAYERS)]
    for each in own:
        if isinstance(each, type) or not callable(getattr(each, "extended", None)):
            raise WrongTypeError("`my_cache(layer)` gives back an object that has `extended(keys, values)`.")
    if len({id(each) for each in own}) < LAYERS:
        raise WrongTypeError(SAID["one for all layers"])
    return [Asked(each) for each in own]


SEES_ALL = torch.ones(1, 1, 1, dtype=torch.bool, device="cpu")  # one query sees whatever a cache gives back


def step(ids: Tensor, place: int, caches: list[Asked]) -> Tensor:
    """`step(ids, 5, caches)` are the logits behind piece 5 of each row, (rows, vocabulary)."""
    places = torch.tensor([[place]], device="cpu")
    with torch.no_grad():
        logits: Tensor = stored()(ids[:, place, None], caches, SEES_ALL, places)
    return logits[:, 0]


# ---- how much it costs ----


def numbers_of(thing: object, seen: set[int] | None = None) -> Iterator[Tensor]:
    """`numbers_of(my_cache(0))` are all tensors in its attributes, and single numbers as tensors."""
    seen = set() if seen is None else seen
    if thing is None or isinstance(thing, (str, type)) or id(thing) in seen:
        return
    seen.add(id(thing))
    if isinstance(thing, (Tensor, np.ndarray, np.generic)):
        yield torch.as_tensor(thing).detach()
    elif isinstance(thing, (bool, int, float)):
        yield torch.tensor([float(thing)], dtype=torch.float64, device="cpu")
    elif isinstance(thing, dict):
        for each in thing.values():
            yield from numbers_of(each, seen)
    elif isinstance(thing, (list, tuple, set)):
        for each in thing:
            yield from numbers_of(each, seen)
    elif hasattr(thing, "__dict__") and not callable(thing):
        yield from numbers_of(vars(thing), seen)
    elif not callable(thing):
        words = f"It keeps something of the type {type(thing).__name__}, which can't be counted."
        raise WrongTypeError(f"{words} Keep tensors.")


def bits_of(tensor: Tensor) -> float:
    """`bits_of(torch.tensor([0, 3, 1]))` is 70: two bits tell four numbers apart.

    Of whole numbers those count that lie between its smallest and its largest, and these ends 32 bits each:
    else a tensor for each number alone would cost nothing.
    """
    if tensor.is_floating_point() and tensor.dtype in WIDE:
        return tensor.numel() * WIDE[tensor.dtype]
    if tensor.is_floating_point() or tensor.is_complex() or tensor.layout is not torch.strided:
        raise WrongTypeError(f"It keeps a tensor of {tensor.dtype}, which can't be counted.")
    if not tensor.numel():
        return 0.0
    low, high = (int(end) for end in tensor.aminmax())
    return 2 * 32 + tensor.numel() * math.log2(high - low + 1)


class Measured(NamedTuple):
    """`measured(my_cache)`: nats a piece that it loses, and bits that it keeps of each place."""

    lost: float
    bits: float


@cache
def full_loss() -> float:
    """`full_loss()` are the nats a piece with all keys and values, of the second half of each crop."""
    return _loss(lambda layer: Cache())[0]


def _loss(work: Callable[..., Any]) -> tuple[float, list[Asked]]:
    rows, caches, nats = crops(), asked(work), 0.0
    for place in range(LENGTH):
        logits = step(rows, place, caches)
        if place >= LENGTH // 2:
            nats += float(F.cross_entropy(logits, rows[:, place + 1]))
    return nats / (LENGTH - LENGTH // 2), caches


# What was measured for this check.
_MEASURED: dict[object, tuple[Measured, list[Asked]]] = {}


def looked_at(work: Callable[..., Any]) -> tuple[Measured, list[Asked]]:
    """`looked_at(my_cache)` is what it loses and keeps, and the caches at the end of the text."""
    if work not in _MEASURED:
        loss, caches = _loss(work)
        bits = sum(bits_of(each) for one in caches for each in numbers_of(one.own)) / ROWS / LENGTH
        _MEASURED[work] = Measured(loss - full_loss(), bits), caches
    return _MEASURED[work]


def measured(work: Callable[..., Any]) -> Measured:
    """`measured(my_cache)` is what the check measures: (nats a piece lost, bits a place)."""
    _MEASURED.clear()
    return looked_at(work)[0]


# ---- the questions ----


def _elsewhere(work: Callable[..., Any]) -> str:
    """Text 0 is read to the end by a copy, after what was copied has gone on with another text."""
    ids, turn, end = crops()[:2, : LENGTH // 8], LENGTH // 16, LENGTH // 8
    alone, first = asked(work), asked(work)
    for place in range(turn):
        step(ids[:1], place, first)
    copies = copy.deepcopy(first)
    for place in range(turn, end):
        step(ids[1:], place, first)
    whole = torch.stack([step(ids[:1], place, alone) for place in range(end)])
    parted = torch.stack([step(ids[:1], place, copies) for place in range(turn, end)])
    return "" if torch.allclose(whole[turn:], parted, atol=1e-4) else "kept elsewhere"


def _forgets(work: Callable[..., Any]) -> str:
    caches = asked(work)
    for place in range(4):
        step(crops()[:2], place, caches)
    return "" if any(each.grew for each in caches) else "nothing kept"


def _too_much(work: Callable[..., Any]) -> str:
    found, caches = looked_at(work)
    if found.lost <= LOST:
        return ""
    return "rounded again" if any(each.changes for each in caches) else "too much lost"


def _too_large(work: Callable[..., Any]) -> str:
    found, caches = looked_at(work)
    if found.bits <= LIMIT:
        return ""
    whole = any(
        each.is_floating_point() and each.numel() >= ROWS * GROUPS * D_K
        for one in caches
        for each in numbers_of(one.own)
    )
    return "stored in full" if whole and all(each.rounds for each in caches) else "too large"


ASK = {
    FIRST: _forgets,
    "does it keep all in itself?": _elsewhere,
    "does it lose little?": _too_much,
    "is it small?": _too_large,
}


def results(work: Callable[..., Any], question: str) -> Any:
    """`results(my_cache, "is it small?")` is 1 where there is nothing to say."""
    if question == FIRST:
        _MEASURED.clear()
    with torch.random.fork_rng(devices=[]):
        name = ASK[question](work)
    if name:
        raise WrongTypeError(SAID[name])
    return 1
