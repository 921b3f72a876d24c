"""Repair a writer whose words stand at the wrong places, and whose cache outlives its text."""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from attnlab.attention import Cache
from attnlab.today.model import Today
from bookkit.checking.answers import returned
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.mistakes import Mistakes, Part, in_parts

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


def _from_0(before: int, length: int, new: Tensor) -> Tensor:
    """The colleague's."""
    return _behind(0, length, new)


def _of_written(before: int, length: int, new: Tensor) -> Tensor:
    return _behind(before - length if before else 0, length, new)


def _moved(steps: int) -> Any:
    return lambda before, length, new: _behind(before + steps if before else 0, length, new)


def _all_alike(before: int, length: int, new: Tensor) -> Tensor:
    return torch.zeros_like(new)


def _from_the_first_key(new: Tensor, before: int) -> Tensor | None:
    n = new.shape[1]
    return torch.ones(1, n, before + n, dtype=torch.bool, device="cpu").tril() if before else None


def _without_cache(model: Today, texts: Tensor, count: int) -> Tensor:
    rows = texts
    for _ in range(count):
        with torch.no_grad():
            rows = torch.cat([rows, model(rows)[:, -1:].argmax(-1)], dim=1)
    return rows


def _with_places_of_the_row(model: Today, texts: Tensor, count: int) -> Tensor:
    """One cache for all texts."""
    read = texts.shape[1] + count - 1  # of each text: its last word is not
    written: Tensor = _written(
        model, texts, count, kept=True, places=lambda before, length, new: _behind(before % read, length, new)
    )
    return written


MISTAKES: Mistakes = (
    {
        "still broken": (
            "Both faults are still there. Where does a new word stand, which the model reads alone? And what "
            "does the cache hold when the second text begins?",
            partial(_written, places=_from_0, kept=True),
        ),
    }
    | in_parts(
        _written,
        places={
            "places start again at 0": (
                "Each text has its own cache now. One fault is left: each new word is told to stand at place "
                "0. It stands behind all that the cache holds: `caches[0].length` of them.",
                _from_0,
            ),
            "places of the written words alone": (
                "The words written are counted from 0, as if nothing stood before them. The text that was "
                "given comes first.",
                _of_written,
            ),
            "one place too far": (
                "Each new word stands one place too far. Where 5 words are remembered, from 0 to 4, the next "
                "stands at 5.",
                _moved(1),
            ),
            "the place of the word before": (
                "Each new word stands at the place of the word before it. Where 5 words are remembered, from "
                "0 to 4, the next stands at 5.",
                _moved(-1),
            ),
            "all new words at one place": (
                "All new words stand at the same place, the first behind the text. Each next one stands one "
                "further: `caches[0].length` goes on counting.",
                lambda before, length, new: _behind(length if before else 0, length, new),
            ),
            "all at place 0": (
                "All words stand at place 0, those of the given text, too, and the model can't tell their "
                "order.",
                _all_alike,
            ),
        },
        kept={
            "the cache kept between texts": (
                "New words stand where they should. One fault is left: the second text begins with a cache "
                "that holds the first, and reads on behind it. Each text needs fresh ones.",
                True,  # type: ignore[dict-item]
            ),
        },
        caches={
            "one cache for all blocks": (
                "All blocks share one cache, and find each other's keys in it. Each needs its own: "
                "`[Cache() for _ in model.blocks]`, not `[Cache()] * n`.",
                lambda model: [Cache()] * len(model.blocks),
            ),
        },
        again={
            "a fresh cache for each word": (
                "Each word gets fresh caches, and the model sees it alone. They belong to a text: make them "
                "before its first word.",
                lambda caches, model: [Cache() for _ in caches],
            ),
        },
        visible={
            "the mask begins at the first key": (
                "Your mask is lined up at the first key, and a new word sees nothing but that. Line it up at "
                "the last, or give no mask: the model makes the right one.",
                _from_the_first_key,
            ),
        },
        next_to_read={
            "all read again": (
                "The whole row is read again for each word, behind a cache that holds it already: all stands "
                "there twice. Behind a cache only the new word is read.",
                lambda row, word: row,
            ),
            "one word behind": (
                "What is read next is the word before the new one, which the cache holds already. Give it "
                "the new word.",
                lambda row, word: row[:, -2:-1],
            ),
        },
        chosen={
            "the first place asked": (
                "You ask the *first* place what comes next. The last one knows: `[:, -1:]`.",
                lambda logits: logits[:, :1].argmax(-1),
            ),
        },
        handed={
            "only what was written": (
                "You hand over only the words that were written. Wanted is the whole text, (N, T + count).",
                lambda row, length: row[:, length:],
            ),
        },
    )
    | {
        "one word too many": (
            "You write one word more than `count`.",
            lambda model, texts, count: _written(model, texts, count + 1),
        ),
        "one word too few": (
            "You write one word fewer than `count`.",
            lambda model, texts, count: _written(model, texts, count - 1),
        ),
        "the cache kept, places by the row": (
            "Places are counted in each row, and that is right. One fault is left: the second text begins "
            "with a cache that holds the first, and its words look at those. Each text needs fresh ones.",
            _with_places_of_the_row,
        ),
        "without a cache": (
            "All words are right, and each step reads the whole text anew. Keep the cache: behind it only "
            "the new word is read.",
            _without_cache,
        ),
    }
)


def _case(label: str, seed: int, texts: int, length: int, count: int) -> Case:
    """With a model of random weights, so large that each word hangs on all before it, and on its place."""
    torch.manual_seed(seed)
    model = Today(24, d_model=16, heads=2, groups=1, hidden=32, layers=2, longest=64, spread=0.5).eval()
    source = torch.Generator().manual_seed(seed)
    return Case(label, model, torch.randint(24, (texts, length), generator=source, device="cpu"), count)


with torch.random.fork_rng(devices=[]):
    CASES = (
        _case("the first word of a text is right", 1, 1, 5, 1),
        _case("the words behind it are right", 8, 1, 4, 8),
        _case("so is the first word of a second text", 3, 3, 4, 1),
        _case("does all of this", 11, 3, 4, 8),
    )

check_repaired_writer = Exercise(
    "repaired_writer",
    difficulty=3,
    minutes=25,
    takes=("model", "texts", "count"),
    returns=("written", "read"),
    reference=_written,
    ask=by_cache,
    meanings={"read": CACHED},
    cases=CASES,
    mistakes=MISTAKES,
    trainable=False,
)
