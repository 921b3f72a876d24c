"""What `check_linear_recurrence` asks with, in parts that can be mistaken, and how it looks for tables."""

from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from bookkit.checking.answers import WrongTypeError
from bookkit.checking.mistakes import Part


class Read(NamedTuple):
    """`Read(state, total)` is what is kept of the words so far: (d, d_v) and (d,)."""

    state: Tensor
    total: Tensor


def _state(before: Tensor, key: Tensor, value: Tensor, decay: float, place: int) -> Tensor:
    return decay * before + torch.outer(key, value)


def _total(before: Tensor, key: Tensor, decay: float) -> Tensor:
    return decay * before + key


def _found(query: Tensor, now: Read, before: Read) -> Tensor:
    return query @ now.state / (query @ now.total)


def _linear_recurrence(
    query: Tensor, key: Tensor, value: Tensor, decay: float,
    *, state: Part = _state, total: Part = _total, found: Part = _found,
) -> Tensor:  # fmt: skip
    """What each word finds in a state that is added to word by word, (T, d_v)."""
    now = Read(key.new_zeros(key.shape[-1], value.shape[-1]), key.new_zeros(key.shape[-1]))
    outputs = []
    for place, (one, its_key, its_value) in enumerate(zip(query, key, value, strict=True)):
        before, now = (
            now,
            Read(state(now.state, its_key, its_value, decay, place), total(now.total, its_key, decay)),
        )
        outputs.append(found(one, now, before))
    return torch.stack(outputs)


class _Tables(TorchFunctionMode):
    """`with _Tables(words) as made:` sees whether any result has the words on two of its axes."""

    def __init__(self, words: int) -> None:
        super().__init__()
        self.words, self.found = words, False

    def __torch_function__(
        self, function: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        result = function(*args, **kwargs or {})
        if isinstance(result, Tensor):
            self.found |= result.shape.numel() > 0 and list(result.shape).count(self.words) > 1
        return result


def without_a_table(work: Part, query: Tensor, *more: Any) -> Any:
    """`without_a_table(work, query, key, value, decay)` is its answer, unless it makes a table on the way."""
    with _Tables(len(query)) as made:
        answer = work(query, *more)
    if made.found:
        raise WrongTypeError(f"It makes a table of T × T numbers, here {len(query)} × {len(query)}.")
    return answer
