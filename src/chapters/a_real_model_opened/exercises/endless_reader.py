"""Read without end in fixed memory: a window of keys that move up, behind sinks that stay."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode

from attnlab.attention import Cache
from attnlab.runtime import generator
from attnlab.today.model import Today, turned
from bookkit.checking.answers import returned
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.mistakes import Mistakes, Part, in_parts
from chapters.a_real_model_opened.exercises.patched_stream import small


def _moved_up(keys: Tensor, frequencies: Tensor) -> Tensor:
    return turned(keys, -frequencies)


def _made_room(
    cache: Cache, frequencies: Tensor, sinks: int, width: int, *,
    room: Part = lambda sinks, width: sinks + width,
    kept: Part = lambda sinks, held: (slice(sinks), slice(sinks + 1, None)),
    moved: Part = _moved_up,
    of_sinks: Part = lambda keys, frequencies: keys,
    of_values: Part = lambda values, frequencies: values,
) -> None:  # fmt: skip
    if cache.keys is None or cache.values is None or cache.length < room(sinks, width):
        return
    first, last = kept(sinks, cache.length)
    keys, values = cache.keys, cache.values
    both = of_sinks(keys[:, :, first], frequencies), moved(keys[:, :, last], frequencies)
    cache.keys = torch.cat(both, 2)
    cache.values = torch.cat([values[:, :, first], of_values(values[:, :, last], frequencies)], 2)


def _endless_reader(
    model: Today, ids: Tensor, sinks: int, width: int,
    *, place: Part = lambda time, held: held, **parts: Part,
) -> Tensor:  # fmt: skip
    caches, found = [Cache() for _ in model.blocks], []
    with torch.no_grad():
        for time in range(ids.shape[1]):
            for cache in caches:
                _made_room(cache, model.frequencies, sinks, width, **parts)
            places = torch.tensor([[place(time, caches[0].length)]], device="cpu")
            found.append(model(ids[:, time, None], caches, places=places)[0, 0])
    return torch.stack(found)


def _hidden(model: Today, ids: Tensor, sinks: int, width: int) -> Tensor:
    """All keys are held, and a mask hides those between sinks and window."""
    caches, found = [Cache() for _ in model.blocks], []
    with torch.no_grad():
        for time in range(ids.shape[1]):
            held = torch.arange(time + 1, device="cpu")
            visible = (held < sinks) | (held > time - width)
            place = torch.tensor([[min(time, sinks + width - 1)]], device="cpu")
            found.append(model(ids[:, time, None], caches, visible[None, None], place)[0, 0])
    return torch.stack(found)


def _read_anew(model: Today, ids: Tensor, sinks: int, width: int) -> Tensor:
    """Sinks and window are read from the start for each piece."""
    ends = range(1, ids.shape[1] + 1)
    rows = (torch.cat([ids[:, : min(sinks, end)], ids[:, max(sinks, end - width) : end]], 1) for end in ends)
    return torch.stack([model(row)[0, -1] for row in rows])


MISTAKES: Mistakes = in_parts(
    _endless_reader,
    room={
        "grows": (
            "Nothing ever goes: the cache grows until its places are more than the model knows. Make room "
            "before a piece is read, once sinks + width keys are held.",
            lambda sinks, width: 10**9,
        ),
        "one too many": (
            "One key too many is held. With the new piece there are sinks + width, so one must go when just "
            "as many are held *before* it is read.",
            lambda sinks, width: sinks + width + 1,
        ),
        "one too few": (
            "One key too few is held. With the new piece there may be sinks + width.",
            lambda sinks, width: sinks + width - 1,
        ),
    },
    kept={
        "sinks forgotten": (
            "The oldest key of all goes, and with it the sinks. The oldest *behind the sinks* goes.",
            lambda sinks, held: (slice(0), slice(1, None)),
        ),
        "the newest goes": (
            "The newest key goes, and the old ones stay for ever. The oldest behind the sinks goes.",
            lambda sinks, held: (slice(sinks), slice(sinks, held - 1)),
        ),
        "one sink too few": (
            "One sink goes with the rest: the first `sinks` places stay, from 0 on.",
            lambda sinks, held: (slice(sinks - 1), slice(sinks, None)),
        ),
    },
    moved={
        "keys not turned": (
            "The keys move up, and stay turned as at their old places. Each stands one place lower than "
            "before: turn it back by one place, `turned(keys, -model.frequencies)`.",
            lambda keys, frequencies: keys,
        ),
        "turned the wrong way": (
            "The keys that move up are turned on by one place. They stand one place *lower* now: turn them "
            "back.",
            lambda keys, frequencies: turned(keys, frequencies),
        ),
    },
    of_sinks={
        "sinks turned, too": (
            "The sinks are turned with the rest. They stay where they are, at the first places.",
            _moved_up,
        ),
    },
    of_values={
        "values turned, too": (
            "The values are turned as well. Only queries and keys are: a value says nothing of its place.",
            _moved_up,
        ),
    },
) | {
    "numbered by the text": (
        "Each piece has its place in the *text*, which runs past all places that the model knows. Number it "
        "by how many keys the cache holds; `model(ids, caches)` does so where no places are given.",
        lambda *inputs: _endless_reader(
            *inputs, place=lambda time, held: time, moved=lambda keys, frequencies: keys
        ),
    ),
    "read anew": (
        "You read sinks and window anew for each piece, without a cache. What a cache holds comes from when "
        "more was in sight, and costs nothing again: keep it.",
        _read_anew,
    ),
    "hidden, not forgotten": (
        "All keys are held, and a mask hides those that should go. Hidden keys take room as well: forget "
        "them.",
        _hidden,
    ),
}


class _Counting(TorchFunctionMode):
    """`with _Counting() as counting:` notes in `counting.most` the most keys that any query was shown."""

    most = 0

    def __torch_function__(
        self, function: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        if function is F.scaled_dot_product_attention:
            self.most = max(self.most, args[1].shape[-2])
        return function(*args, **kwargs or {})


def _logits_and_keys(work: Callable[..., Any], model: Today, ids: Tensor, sinks: int, width: int) -> Any:
    with _Counting() as counting:
        found = returned(work(model, ids, sinks, width))
    # Fewer show in the logits, and who reads without the model's own attention shows none.
    return found, max(counting.most, min(ids.shape[1], sinks + width))


def _text(label: str, seed: int, length: int, sinks: int, width: int) -> Case:
    ids = torch.randint(50, (1, length), generator=generator(seed), device="cpu")
    return Case(label, small(seed, 2, 2, 1, longest=12), ids, sinks, width)


check_endless_reader = Exercise(
    "endless_reader",
    difficulty=3,
    minutes=30,
    takes=("model", "ids", "sinks", "width"),
    returns=("logits", "most keys held"),
    reference=_endless_reader,
    ask=_logits_and_keys,
    cases=(
        _text("right while there is room", 41, 4, 1, 4),
        _text("right when the window has moved once", 42, 5, 1, 3),
        _text("right when it has moved often", 43, 11, 2, 4),
        _text("right far beyond the places that the model knows", 44, 50, 3, 7),
    ),
    mistakes=MISTAKES,
    trainable=False,
)
