"""What can be seen in a wrong answer to any exercise, where none of its own mistakes fits.

A finding says what was tried and seen, so that it holds whatever the code looks like.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from types import FrameType, ModuleType
from typing import Any, NamedTuple

import torch
from torch import Tensor

from bookkit.checking.answers import close, other_dtype
from bookkit.checking.attempts import Attempt, Tried, described, gradients, is_floating
from bookkit.checking.wording import as_text, dtype, joined


class Finding(NamedTuple):
    """`Finding("transposed", "scores is turned on its side.")`: a name, and what the reader is told."""

    name: str
    sentence: str


# Each says of a wrong result and the right one whether it sees what it looks for.
Explanation = Callable[[Tensor, Tensor], bool]

SMALLER = 1 / 16  # brings two factors of a score down to a 256th


def first_finding(tried: Tried) -> Finding | None:
    """`first_finding(tried)` is the first finding that explains the wrong answer, or None where none does."""
    if tried.attempts[-1].stopped:
        return None
    return next(_all(tried), None)


def _all(tried: Tried) -> Iterator[Finding]:
    for look in (_large_numbers, _leading_axes, _dtype):
        yield from look(tried)
    for name, (sentence, explains) in EXPLANATIONS.items():
        if results := _results(tried, explains):
            yield Finding(name, f"{joined(results)}: {sentence}")
    for look in (_constant_factor, _constant_difference, _ignored_inputs):
        yield from look(tried)


# --- how a wrong answer comes from the right one ---


def _results(tried: Tried, explains: Explanation) -> list[str]:
    """The names of the results that are wrong, if in every case this explains them all."""
    if any(attempt.error is not None for attempt in tried.attempts):
        return []
    named = []
    for place, name in enumerate(tried.task.returns):
        pairs = [(attempt.answer[place], attempt.right[place]) for attempt in tried.attempts]
        wrong = [pair for pair in pairs if not close(*pair)]
        if not all(explains(*pair) for pair in wrong):
            return []
        named += [name] if wrong else []
    return named


def _turned(got: Tensor, right: Tensor) -> bool:
    return right.dim() > 1 and close(got, right.mT)


def _without_ones(shape: Sequence[int]) -> list[int]:
    return [size for size in shape if size != 1]


def _same_but_for_ones(got: Tensor, right: Tensor) -> bool:
    same_numbers = _without_ones(got.shape) == _without_ones(right.shape)
    return same_numbers and close(got.reshape(right.shape), right)


def _in_another_order(got: Tensor, right: Tensor) -> bool:
    if got.numel() != right.numel() or right.numel() < 3 or right.dtype is torch.bool:
        return False
    return close(got.flatten().sort().values, right.flatten().sort().values)


def _rounded(got: Tensor, right: Tensor) -> bool:
    if not right.is_floating_point() or right.abs().max() <= 1:  # of weights, nothing would be left
        return False
    return any(close(got, way(right)) for way in (torch.floor, torch.ceil, torch.round))


# Name: what is said of the results that are wrong, and what they have in common.
EXPLANATIONS: dict[str, tuple[str, Explanation]] = {
    "transposed": (
        "the right numbers, turned on their side. The last two axes have changed places.",
        _turned,
    ),
    "axis of length 1 too many": (
        "the right numbers, with an axis of length 1 too many. Does a keepdim=True or an unsqueeze keep it?",
        lambda got, right: got.dim() > right.dim() and _same_but_for_ones(got, right),
    ),
    "axis of length 1 missing": (
        "the right numbers, but an axis of length 1 is missing. Does a squeeze or an index take it away?",
        lambda got, right: got.dim() < right.dim() and _same_but_for_ones(got, right),
    ),
    "in other places": (
        "the right numbers, in other places. (reshape and view keep the numbers in their order, where a "
        "transpose moves them.)",
        lambda got, right: right.dim() > 1 and _in_another_order(got, right),
    ),
    "in another order": ("the right numbers, in another order.", _in_another_order),
    "upside down": (
        "this is 1 divided by the right answer.",
        lambda got, right: close(got, 1 / right),
    ),
    "squared": (
        "this is the square of the right answer.",
        lambda got, right: close(got, right**2),
    ),
    "root": (
        "this is the square root of the right answer.",
        lambda got, right: close(got, right**0.5),
    ),
    "rounded": (
        "right, but for the decimals: it is rounded to a whole number.",
        _rounded,
    ),
}


def _constant_factor(tried: Tried) -> Iterator[Finding]:
    def off(got: Tensor, right: Tensor) -> Tensor:
        place = right.abs().argmax()
        return got.flatten()[place] / right.flatten()[place]

    for name, factor in _constants(tried, off, lambda right, factor: right * factor):
        if close(factor, -torch.ones_like(factor)):
            yield Finding("sign reversed", f"{name} has the wrong sign, and is right otherwise.")
        else:
            times = as_text(factor).removesuffix(".0")
            words = f"{name} is {times} times what it should be, in every case."
            yield Finding("constant factor", words)


def _constant_difference(tried: Tried) -> Iterator[Finding]:
    def off(got: Tensor, right: Tensor) -> Tensor:
        return (got - right).flatten()[0]

    for name, gap in _constants(tried, off, lambda right, gap: right + gap):
        size = "larger" if gap > 0 else "smaller"
        words = f"{name} is {as_text(gap.abs())} {size} than it should be, in every case."
        yield Finding("constant difference", words)


def _constants(
    tried: Tried, off: Callable[[Tensor, Tensor], Tensor], undo: Callable[[Tensor, Tensor], Tensor]
) -> Iterator[tuple[str, Tensor]]:
    """The one result that is wrong, and by what, where that is the same in every case."""
    faulty = _results(tried, lambda got, right: got.shape == right.shape)
    if len(faulty) != 1 or len(tried.attempts) < 2:
        return
    place = tried.task.returns.index(faulty[0])
    pairs = [(attempt.answer[place], attempt.right[place]) for attempt in tried.attempts]
    if pairs[-1][1].dtype is torch.bool:
        return  # True and False are no amount apart
    constant = off(*pairs[-1])
    everywhere = not any(close(got, right) for got, right in pairs)
    # Where the right answer never changes, anything is a constant away from it.
    varied = not all(close(right, pairs[0][1]) for _, right in pairs)
    told = everywhere and varied and constant.isfinite() and constant != 0
    if told and all(close(undo(right, constant), got) for got, right in pairs):
        yield faulty[0], constant


# --- which cases come out wrong ---


def _leading_axes(tried: Tried) -> Iterator[Finding]:
    axes = [[_axes(value) for value in attempt.case.inputs] for attempt in tried.attempts]
    fewest = [min(column) for column in zip(*axes, strict=True)]
    tries = list(zip(tried.attempts, axes, strict=True))
    without = [attempt for attempt, own in tries if own == fewest]
    batched = [attempt for attempt, own in tries if own != fewest]
    # Else another dtype might be what makes the difference.
    same_dtypes = any(_dtypes(attempt) == _dtypes(other) for attempt in batched for other in without)
    right_without = all(attempt.passed for attempt in without)
    right_with_any = any(attempt.passed for attempt in batched)
    if same_dtypes and right_without and not right_with_any:
        yield Finding(
            "leading axes",
            "Right without axes in front, and wrong as soon as there is a batch. Count axes from the end: "
            "the last is -1 and the one before it -2, whatever stands in front. (key.T turns all axes, "
            "key.mT just the last two.)",
        )


def _axes(value: Any) -> int:
    return value.dim() if isinstance(value, Tensor) else 0


def _dtypes(attempt: Attempt) -> list[torch.dtype]:
    return [value.dtype for value in attempt.case.inputs if isinstance(value, Tensor)]


def _large_numbers(tried: Tried) -> Iterator[Finding]:
    """Where an answer is not finite, the same case with smaller numbers must come out right."""
    for attempt in tried.failed:
        if attempt.error is not None or not any(
            got.shape == right.shape and right.isfinite().all() and not got.isfinite().all()
            for got, right in zip(attempt.answer, attempt.right, strict=True)
        ):
            return
        inputs = [value * SMALLER if is_floating(value) else value for value in attempt.case.fresh()]
        smaller = tried.again(inputs)
        if smaller is None or not smaller.passed:
            return
    yield Finding(
        "large numbers",
        "Right, but not where the scores are large. There exp leaves the range of the numbers, and what is "
        "left is inf / inf or 0 / 0. Take each row's own largest score away first, or let torch.softmax do "
        "it.",
    )


def _dtype(tried: Tried) -> Iterator[Finding]:
    if all(attempt.equals(attempt.right) for attempt in tried.attempts):
        words = (
            "not always of the inputs' dtype. What torch.zeros, torch.tensor and their like make is of the "
            "default dtype, unless they are given dtype=…."
        )
        if not all(any(map(is_floating, attempt.case.inputs)) for attempt in tried.failed):
            (got, right), *_ = (
                pair
                for attempt in tried.failed
                for pair in zip(attempt.answer, attempt.right, strict=True)
                if other_dtype(*pair)
            )
            words = f"of {dtype(got)} where {dtype(right)} is expected: `.to(torch.{dtype(right)})`."
        yield Finding("another dtype", f"The numbers are right, but {words}")


def _ignored_inputs(tried: Tried) -> Iterator[Finding]:
    """Inputs that the right answer depends on, and the given one does not."""
    if not all(attempt.comparable for attempt in tried.attempts):
        return
    if not all(part.isfinite().all() for attempt in tried.attempts for part in attempt.answer):
        return
    if names := [name for place, name in enumerate(tried.task.takes) if _ignored(tried, place)]:
        yield Finding("ignored input", f"The answer is the same, whatever is given as {joined(names)}.")


def _ignored(tried: Tried, place: int) -> bool:
    matters = False
    for before in tried.attempts:
        inputs = before.case.fresh()
        for other in _others(tried, place, inputs[place]):
            after = tried.again([*inputs[:place], other, *inputs[place + 1 :]])
            if after is None:
                continue
            if not before.like(after):
                return False
            # The right answers are compared, too: some inputs play no part in some cases.
            matters = matters or not before.right_like(after)
    return matters


def _others(tried: Tried, place: int, value: Any) -> list[Any]:
    """Other values for one of the inputs, or none where they would be a guess."""
    if is_floating(value):
        # The second, because a probe with a bias, say, tells the same of 1 - value as of value.
        return [1 - value, value.roll(1)]
    if not isinstance(value, (bool, int, float)):
        return []
    values = [attempt.case.inputs[place] for attempt in tried.attempts]
    return [other for other in values if other != value][:1]


# --- right, but for the gradient ---


def gradient_fault(tried: Tried) -> Finding | None:
    """`gradient_fault(tried)` says what keeps a right answer from being trained through."""
    task, case = tried.task, tried.task.cases[-1]
    right = gradients(task, task.reference, case)
    outcome = tried.run(lambda: gradients(task, tried.work, case))
    if outcome.error is not None:
        return Finding(
            "fails with gradients",
            f"The numbers are right, but not with inputs that need gradients. {described(outcome.error)}",
        )
    given = outcome.value or {}
    if lost := [name for name in right if name not in given]:
        return Finding(
            "no gradient",
            f"The numbers are right, but no gradient reaches {joined(lost)}, and nothing before could train. "
            "detach(), item(), tolist(), numpy(), torch.tensor(…) and torch.no_grad() cut the path.",
        )
    if wrong := [name for name in right if not close(given[name], right[name])]:
        return Finding(
            "wrong gradient",
            f"The numbers are right, but the gradient of {joined(wrong)} is not: a part of the path is cut.",
        )
    return None


# --- right, but not the reader's own ---


def ready_made(tried: Tried) -> Finding | None:
    """`ready_made(tried)` says what the work calls, though the task is to write it without."""
    if not tried.task.without:
        return None
    # What the question itself calls, it calls for the reference, too.
    names = sorted(_called(tried, tried.work) - _called(tried, tried.task.reference))
    if not names:
        return None
    them, are = ("it", "is") if len(names) == 1 else ("them", "are")
    return Finding(
        "ready-made",
        f"The answers are right, but {joined(names)} {are} there already, and your code calls {them}. The "
        f"task is to write this without {them}.",
    )


def _called(tried: Tried, work: Any) -> set[str]:
    """The names of those functions and classes, of what the work is to do without, that it calls itself."""
    rooms = {f"{_full_name(thing)}.": thing for thing in tried.task.without}
    names: set[str] = set()

    def called(frame: FrameType | None) -> str | None:
        if frame is None:
            return None
        path = f"{frame.f_globals.get('__name__')}.{frame.f_code.co_qualname}."
        things = (thing for room, thing in rooms.items() if path.startswith(room))
        if (thing := next(things, None)) is None:
            return None
        # Of a module, what in it was called.
        return frame.f_code.co_qualname.partition(".")[0] if isinstance(thing, ModuleType) else thing.__name__

    def note(frame: FrameType, event: str, argument: object) -> None:
        if event == "call" and (name := called(frame)) and not called(frame.f_back):
            names.add(name)

    def run(inputs: Sequence[Any]) -> None:
        before = sys.getprofile()
        sys.setprofile(note)
        try:
            tried.task.ask(work, *inputs)
        finally:
            sys.setprofile(before)

    for case in tried.task.cases:
        tried.run(partial(run, case.fresh()))
    return names


def _full_name(thing: Any) -> str:
    return thing.__name__ if isinstance(thing, ModuleType) else f"{thing.__module__}.{thing.__qualname__}"


# --- right or wrong, but not alone ---


def changes(tried: Tried) -> Finding | None:
    """`changes(tried)` says what the work changed that belongs to whoever calls it."""
    inputs = dict.fromkeys(name for attempt in tried.attempts for name in attempt.changed)
    settings = dict.fromkeys(name for attempt in tried.attempts for name in attempt.touched)
    if not inputs and not settings:
        return None
    words = f"It changes {joined([*inputs, *settings])}: a caller does not expect that."
    given = dict(zip(tried.task.takes, tried.task.cases[0].inputs, strict=True))
    kinds = {type(given[name]) for name in inputs}
    if Tensor in kinds:
        words += " `+=`, `/=`, and methods that end in _, write into their tensor."
    if kinds - {Tensor}:
        words += " What is done to an object stays done: look at it, or work on a copy."
    return Finding("changes its inputs" if inputs else "changes settings", words)
