"""Checks a reader's function, and where it is wrong, looks for the mistake that explains it.

An exercise holds a reference, inputs on which mistakes can be told apart, and the mistakes it knows, each as
code that commits it. The reader's function and every mistake run on the same inputs: where all their answers
agree, the mistake has a name.
"""

import dis
import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import zip_longest
from numbers import Real
from types import FunctionType
from typing import Any, Literal, TypeAlias

import torch
from torch import Tensor, nn

from bookkit import guard
from bookkit.wording import WRITTEN_OUT, arrow, dtype, joined, line_of, raised, shown, written

# Of the largest number in the answer. Correct answers that compute in another order differ by about 1e-6 of
# it in float32; the mildest mistake in the catalogue, by more than 1e-2.
TOLERANCE = 1e-4

State: TypeAlias = Literal["passed", "not yet", "not written yet"]
Answer: TypeAlias = tuple[Tensor, ...]  # one tensor for each name in an exercise's `returns`


@dataclass(frozen=True)
class Case:
    """`Case("one query", {"query": torch.ones(1, 4)})`: inputs by name, and the property that they test."""

    label: str
    inputs: dict[str, Any]

    def copies(self) -> list[Any]:
        """`function(*case.copies())` may do to its inputs what it likes: the case stays as it is."""
        return [value.clone() if isinstance(value, Tensor) else value for value in self.inputs.values()]


@dataclass(frozen=True)
class Mistake:
    """`Mistake("not scaled", "These are not scaled.", lambda query, key: query @ key.mT)`: a known fault.

    The reader sees the sentence. The code commits the mistake: whoever's answers equal its answers made it.
    """

    name: str
    sentence: str
    code: Callable[..., object]


@dataclass(frozen=True)
class Exercise:
    """`Exercise("scaled_scores", difficulty=1, minutes=5, …)` is all that `check` and the catalogue need.

    `returns` names the results. `cases` go from the smallest to the largest: the first that fails is shown.
    `trainable` asks for gradients, too.
    """

    name: str
    difficulty: int
    minutes: int
    reference: Callable[..., Any]
    returns: tuple[str, ...]
    cases: tuple[Case, ...]
    mistakes: tuple[Mistake, ...]
    trainable: bool = True

    def trials(self) -> list[tuple[Mistake, "Report"]]:
        """`exercise.trials()` makes every known mistake, and has each judged."""
        return [(known, judge(self, known.code)) for known in self.mistakes]


class Text(str):
    """`Text("as it is")` shows itself without quotes, in a notebook and in a terminal."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


@dataclass(frozen=True)
class Report:
    """`check_scaled_scores(my_function).passed` is True or False; shown, the report is plain text."""

    exercise: str
    state: State
    lines: tuple[str, ...]
    mistake: str | None = None

    @property
    def passed(self) -> bool:
        """`report.passed` is True when every property holds."""
        return self.state == "passed"

    def __repr__(self) -> str:
        return "\n".join([f"{self.exercise}: {self.state}", *self.lines])


# The latest report on each exercise in this kernel.
latest: dict[str, Report] = {}


def check(exercise: Exercise, function: object) -> Report:
    """`check(SCALED_SCORES, my_function)` judges the function and keeps the report for the summary."""
    return kept(judge(exercise, function), function)


def kept(report: Report, work: object) -> Report:
    """`kept(report, my_function)` is the report, which the chapter's summary will know of.

    A function called `solution` is the book's own: it must not hand in the exercise for the reader, nor look
    as if it had.
    """
    if type(work) is FunctionType and work.__name__ == "solution":
        return replace(report, lines=("  (the book's solution, not yours)", *report.lines))
    latest[report.exercise] = report
    return report


def judge(exercise: Exercise, function: object) -> Report:
    """`judge(SCALED_SCORES, my_function)` runs the function on every case and tells how it went."""
    try:
        return _judge(exercise, function)
    except Exception as error:
        # Its calls ran under guard, so the function must have replaced a part of PyTorch or Python itself.
        words = f"The check could not go on ({type(error).__name__}). Restart the kernel and try again."
        return Report(exercise.name, "not yet", arrow(words))


class _WrongTypeError(Exception):
    """The answer can't be compared with the right one; the message says why."""


class _UnwrittenError(Exception):
    """The answer is still a stub's `...`."""


@dataclass(frozen=True)
class _Attempt:
    """What a function did with one case: its answer, or the error in its place; and what else it did."""

    answer: Answer
    error: BaseException | None
    changed: tuple[str, ...]
    printed: bool

    @property
    def trouble(self) -> str:
        return "" if self.error is None else described(self.error)

    @property
    def unwritten(self) -> bool:
        """Whether a stub's `...` came back or was reckoned with, or it says itself that nothing is there."""
        if isinstance(self.error, (TypeError, AttributeError)):
            return "ellipsis" in self.trouble
        # PyTorch raises NotImplementedError, too, but says what is not implemented.
        bare = isinstance(self.error, NotImplementedError) and not self.error.args
        return bare or isinstance(self.error, _UnwrittenError)


def described(error: BaseException) -> str:
    """`described(ValueError("short"))` is 'It raises ValueError: short'; our own errors say it all."""
    return str(error) if isinstance(error, (_WrongTypeError, guard.TimeUpError)) else raised(error)


def _judge(exercise: Exercise, function: object) -> Report:
    if function is None or function is ... or _is_stub(function):
        return _unwritten(exercise)
    if not callable(function):
        words = f"Give the check the function itself, without calling it: check_{exercise.name}(my_function)."
        return Report(exercise.name, "not yet", arrow(words))
    # The right answers come first: the function may do anything, even to PyTorch.
    right = [_right(exercise, case) for case in exercise.cases]
    attempts: list[_Attempt] = []
    for case, answer in zip(exercise.cases, right, strict=True):
        attempts.append(_attempt(exercise, function, case, answer))
        if isinstance(attempts[-1].error, guard.TimeUpError):
            break  # one wait is enough
    if any(attempt.unwritten for attempt in attempts):
        return _unwritten(exercise)
    # Shorter than the cases where one of them was stopped.
    faults = [_fault(exercise, function, *pair) for pair in zip(attempts, right, strict=False)]
    mistake = _known_mistake(exercise, attempts, right) if any(faults) else None
    reasons: tuple[str, ...] = ()
    if any(faults):
        reasons += arrow(mistake.sentence) if mistake else _smallest_failure(exercise, faults)

    # Each is True, False, or None where it could not be tried.
    properties: dict[str, bool | None] = {}
    for case, fault in zip_longest(exercise.cases, faults):
        if properties.get(case.label, True):
            properties[case.label] = None if fault is None else not fault
    if exercise.trainable:
        gradient_fault = None if any(faults) else _gradient_fault(exercise, function)
        reasons += arrow(gradient_fault or "")
        label = f"gradients reach {joined(exercise.cases[-1].inputs)}"
        properties[label] = None if gradient_fault is None else not gradient_fault
    changed = dict.fromkeys(name for attempt in attempts for name in attempt.changed)
    if changed:
        in_place = " `/=`, and methods that end in _, write into their tensor."
        hint = in_place if changed.keys() & exercise.cases[0].inputs.keys() else ""
        reasons += arrow(f"It changes {joined(changed)}: whoever calls it does not expect that.{hint}")
    properties["leaves its inputs and all settings as they were"] = not changed
    if any(attempt.printed for attempt in attempts):
        reasons += ("  (What a function prints is not shown while it is checked.)",)

    marks = {True: "✓", False: "✗", None: "·"}
    lines = tuple(f"  {marks[holds]} {label}" for label, holds in properties.items())
    state: State = "passed" if all(properties.values()) else "not yet"
    return Report(exercise.name, state, lines + reasons, mistake.name if mistake else None)


def _is_stub(function: object) -> bool:
    """True where the body is `...`, `pass` or a docstring and nothing else."""
    if type(function) is not FunctionType:
        return False
    operations = [step.opname for step in dis.get_instructions(function)]
    empty = [step.opname for step in dis.get_instructions(lambda: None)]
    return operations == empty and set(function.__code__.co_consts) <= {None, ..., function.__doc__}


def _unwritten(exercise: Exercise) -> Report:
    words = "Put your code in the place of the `...`, and run the cell again."
    return Report(exercise.name, "not written yet", arrow(words))


def _right(exercise: Exercise, case: Case) -> Answer:
    answer = exercise.reference(*case.copies())
    parts = answer if isinstance(answer, tuple) else (answer,)
    return tuple(part if isinstance(part, Tensor) else _number(part) for part in parts)


def _attempt(exercise: Exercise, function: Callable[..., object], case: Case, right: Answer) -> _Attempt:
    inputs = case.copies()
    outcome = guard.guarded(lambda: _read(exercise, function(*inputs), right))
    changed = tuple(
        name
        for (name, before), after in zip(case.inputs.items(), inputs, strict=True)
        if isinstance(before, Tensor) and not (before.dtype == after.dtype and torch.equal(before, after))
    )
    return _Attempt(outcome.value or (), outcome.error, changed + outcome.touched, outcome.printed)


def _read(exercise: Exercise, answer: object, right: Answer) -> Answer:
    """Turn whatever came back into tensors of our own that can be compared with the right ones."""
    parts = answer if isinstance(answer, (tuple, list)) and len(right) > 1 else (answer,)
    if any(part is ... for part in parts):
        raise _UnwrittenError
    if answer is None:
        raise _WrongTypeError("It returns None. Is there a `return` at its end?")
    if inspect.iscoroutine(answer):
        answer.close()  # else Python warns, some time later, that nobody awaited it
    if len(parts) != len(right):
        expected = f"{len(right)} results, {joined(exercise.returns)}, are expected"
        raise _WrongTypeError(f"It returns {type(answer).__name__} where {expected}.")
    return tuple(_read_part(part, wanted) for part, wanted in zip(parts, right, strict=True))


def _read_part(part: object, right: Tensor) -> Tensor:
    if right.dim() == 0:
        if isinstance(part, Tensor) and part.numel() == 1:
            part = part.item()
        if isinstance(part, bool) or not isinstance(part, Real):
            raise _WrongTypeError(f"It returns {type(part).__name__} where a number is expected.")
        return _number(part)
    # Subclasses of Tensor may redefine anything, even what a comparison means.
    if not (type(part) is Tensor or type(part) is nn.Parameter):
        raise _WrongTypeError(f"It returns {type(part).__name__} where a tensor is expected.")
    if part.layout is not torch.strided or part.device != right.device:
        raise _WrongTypeError("It returns a tensor of another kind, or on another device, than its inputs.")
    if part.is_floating_point() != right.is_floating_point():
        raise _WrongTypeError(f"It returns {dtype(part)} numbers where {dtype(right)} ones are expected.")
    return part.detach().clone()


def _number(value: Real) -> Tensor:
    return torch.tensor(float(value), dtype=torch.float64, device="cpu")


def _known_mistake(exercise: Exercise, attempts: list[_Attempt], right: list[Answer]) -> Mistake | None:
    """The mistake whose answers, in every case, are the reader's."""
    if isinstance(attempts[-1].error, guard.TimeUpError):
        return None  # what was stopped is no answer
    tried = list(zip(attempts, exercise.cases, right, strict=True))
    for mistake in exercise.mistakes:
        if all(_alike(mine, _attempt(exercise, mistake.code, case, answer)) for mine, case, answer in tried):
            return mistake
    return None


def _alike(mine: _Attempt, known: _Attempt) -> bool:
    return mine.trouble == known.trouble and all(map(_close, mine.answer, known.answer))


def _close(got: Tensor, expected: Tensor) -> bool:
    if got.shape != expected.shape:
        return False
    got, expected = got.double(), expected.double()
    # The inputs are of about unit size: an answer far below that is zero, but for rounding.
    scale = max(0.01, expected.nan_to_num(nan=0, posinf=0, neginf=0).abs().max().item())
    return torch.allclose(got, expected, rtol=0, atol=TOLERANCE * scale, equal_nan=True)


def _fault(exercise: Exercise, function: object, attempt: _Attempt, right: Answer) -> tuple[str, ...]:
    """What is wrong with one attempt, in lines; nothing where it is right."""
    if attempt.error is not None:
        return attempt.trouble, *line_of(attempt.error, function)
    for name, got, expected in zip(exercise.returns, attempt.answer, right, strict=True):
        if got.shape != expected.shape:
            return (f"{name} has shape {tuple(got.shape)}, expected {tuple(expected.shape)}",)
        if got.dtype != expected.dtype:
            return (f"{name} is {dtype(got)}, expected {dtype(expected)}, as the inputs are",)
        if not _close(got, expected):
            return _difference(name, got, expected)
    return ()


def _difference(name: str, got: Tensor, expected: Tensor) -> tuple[str, ...]:
    gaps = (got.double() - expected.double()).abs().nan_to_num(nan=math.inf, posinf=math.inf)
    largest = gaps.max().item()
    # Among gaps that are equal but for rounding the first, so that every machine points at the same place.
    place = (gaps >= largest * (1 - TOLERANCE)).nonzero()[0].tolist()
    if not place:
        return (f"{name}: expected {written(expected)}, got {written(got)}",)
    lines = []
    if got.numel() <= WRITTEN_OUT:
        lines += [f"expected {name} = {written(expected)}", f"     got {name} = {written(got)}"]
    here = tuple(place)
    gap = f"largest difference {written(gaps[here])}" if math.isfinite(largest) else "not a finite number"
    return *lines, f"{gap}, at {place}: expected {written(expected[here])}, got {written(got[here])}"


def _smallest_failure(exercise: Exercise, faults: list[tuple[str, ...]]) -> tuple[str, ...]:
    case, fault = next((case, fault) for case, fault in zip(exercise.cases, faults, strict=False) if fault)
    inputs = [shown(name, value) for name, value in case.inputs.items()]
    return (
        "→ The smallest input that fails:",
        *(f"    {line}" for line in inputs),
        *(f"  {line}" for line in fault),
    )


def _gradient_fault(exercise: Exercise, function: Callable[..., Any]) -> str:
    """What keeps the answer from being trained through; empty where nothing does."""
    case = exercise.cases[-1]
    right = _gradients(exercise.reference, case)
    outcome = guard.guarded(lambda: _gradients(function, case))
    if outcome.error is not None:
        return f"The numbers are right, but not with inputs that need gradients. {described(outcome.error)}"
    found = outcome.value or {}
    lost = [name for name in right if name not in found]
    if lost:
        return (
            f"The numbers are right, but no gradient reaches {joined(lost)}, and nothing before could train. "
            "detach(), item(), tolist(), numpy(), torch.tensor(…) and torch.no_grad() cut the path."
        )
    wrong = [name for name in right if not _close(found[name], right[name])]
    if wrong:
        return (
            f"The numbers are right, but the gradient of {joined(wrong)} is not: a part of the path is cut."
        )
    return ""


def _gradients(function: Callable[..., Any], case: Case) -> dict[str, Tensor]:
    """The gradients of the inputs that any gradient reaches."""
    with torch.enable_grad():
        leaves = [value.clone().requires_grad_() for value in case.inputs.values()]
        # Copies go in: PyTorch forbids writing into a leaf, which is the business of another property.
        answer = function(*(leaf.clone() for leaf in leaves))
        parts = answer if isinstance(answer, (tuple, list)) else (answer,)
        # Another factor for each number, so that gradients can't cancel.
        factors = [torch.arange(1, part.numel() + 1, device="cpu").cos().view_as(part) for part in parts]
        total = sum((part * factor).sum() for part, factor in zip(parts, factors, strict=True))
        if not total.requires_grad:
            return {}
        found = torch.autograd.grad(total, leaves, allow_unused=True)
    return {name: gradient for name, gradient in zip(case.inputs, found, strict=True) if gradient is not None}
