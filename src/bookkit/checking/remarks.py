"""What may be said, kindly, about code that is right: it passes all the same."""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from bookkit.checking.answers import Answer
from bookkit.checking.attempts import Case, Tried, is_floating

# Work that is worth doing once. Sums, differences and views cost next to nothing here.
WORK = {
    "matmul": "product",
    "mm": "product",
    "bmm": "product",
    "einsum": "product",
    "linear": "product",
    "exp": "exp",
    "tanh": "tanh",
    "softmax": "softmax",
    "log_softmax": "softmax",
    "cdist": "distance",
}
# Code without a loop calls PyTorch as often for large inputs as for small ones, whatever the version.
MORE_CALLS = 3
LARGER = 64.0


def remark(tried: Tried) -> str:
    """`remark(tried)` is a sentence on code whose answers are right; '' where there is nothing to say."""
    if not tried.task.trained:
        return ""
    return next((words for look in (_loop, _done_twice, _overflow) for words in look(tried)), "")


class _Calls(TorchFunctionMode):
    """`with _Calls() as calls:` counts them, and notes work that is done twice on the same numbers."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0
        self.twice: list[str] = []
        self._done: list[object] = []
        self._kept: list[Tensor] = []  # while a tensor lives, no other can take its place in memory

    def __torch_function__(
        self, function: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        self.count += 1
        kwargs = kwargs or {}
        if work := WORK.get(function.__name__):
            signature = work, [self._identity(value) for value in (*args, *kwargs.values())]
            self.twice += [work] if signature in self._done else []
            self._done.append(signature)
        return function(*args, **kwargs)

    def _identity(self, value: object) -> object:
        if not isinstance(value, Tensor):
            return repr(value)
        self._kept.append(value)
        return value.data_ptr(), value.shape, value.stride(), value.dtype, value._version


def _calls(tried: Tried, case: Case) -> _Calls:
    inputs, calls = case.fresh(), _Calls()

    def run() -> None:
        with torch.no_grad(), calls:
            tried.task.ask(tried.work, *inputs)

    tried.run(run)
    return calls


def _loop(tried: Tried) -> Iterator[str]:
    """Cases whose inputs and answers have the same axes and other sizes: there a loop shows."""
    counts = defaultdict(list)
    for attempt in tried.attempts:
        kinds = tuple(
            (value.dim(), value.dtype) if isinstance(value, Tensor) else type(value)
            for value in (*attempt.case.inputs, *attempt.right)
        )
        counts[kinds].append(_calls(tried, attempt.case).count)
    for own in counts.values():
        if max(own) >= min(own) + MORE_CALLS:
            yield (
                "A loop of Python's goes through the numbers here, and takes more steps the larger they are. "
                "Whole tensors at once, with `@` or new axes of length 1, give the same much faster."
            )


def _done_twice(tried: Tried) -> Iterator[str]:
    for work in _calls(tried, tried.task.cases[-1]).twice:
        yield f"The same {work} of the same numbers is computed twice. Give it a name, and use that."


def _overflow(tried: Tried) -> Iterator[str]:
    inputs = [value * LARGER if is_floating(value) else value for value in tried.task.cases[-1].fresh()]
    larger = tried.again(inputs)
    if larger and larger.error is None and _finite(larger.right) and not _finite(larger.answer):
        yield (
            f"With inputs {LARGER:g} times as large this is no longer finite. A softmax stays finite if each "
            "row's largest score is taken away before exp, as torch.softmax does."
        )


def _finite(answer: Answer) -> bool:
    return all(bool(part.isfinite().all()) for part in answer)
