"""Trying somebody's code on the cases of a task: what it answers, and what it does besides."""

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from bookkit.checking import guard
from bookkit.checking.answers import (
    Answer,
    UnwrittenError,
    WrongTypeError,
    all_close,
    difference,
    other_dtype,
    read,
    returned,
    right_answer,
)
from bookkit.checking.wording import dtype, line_of, raised
from checkup.limits import TimeUpError

# What runs somebody's code, or ours, and tells how it went.
Run: TypeAlias = Callable[[Callable[[], Any]], guard.Outcome[Any]]


class Case:
    """`Case("right for one query", torch.ones(1, 4), 2.0)`: what is tested, and the inputs that test it."""

    def __init__(self, label: str, *inputs: Any) -> None:
        self.label, self.inputs = label, inputs

    def fresh(self) -> tuple[Any, ...]:
        """`function(*case.fresh())` may do to its inputs what it likes: the case stays as it is."""
        return tuple(
            value.clone() if isinstance(value, Tensor) else copy.deepcopy(value) for value in self.inputs
        )


def call(work: Callable[..., object], *inputs: Any) -> object:
    """`call(function, 1, 2)` is what most exercises ask: what the function makes of the inputs."""
    return work(*inputs)


class _Refusing(TorchFunctionMode):
    """`with _Refusing("enable_gqa"):` no function of PyTorch is called with that argument, but for False."""

    def __init__(self, argument: str) -> None:
        super().__init__()
        self.argument = argument

    def __torch_function__(
        self, function: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        if kwargs and kwargs.get(self.argument):
            raise WrongTypeError(f"It calls for `{self.argument}`, which does what the task is to write.")
        return function(*args, **kwargs or {})


def refusing(argument: str) -> Callable[..., object]:
    """`Exercise(…, ask=refusing("enable_gqa"))` asks as `call` does, and that argument may not help."""

    def ask(work: Callable[..., object], *inputs: Any) -> object:
        with _Refusing(argument):
            return work(*inputs)

    return ask


@dataclass(frozen=True, eq=False, kw_only=True)
class Task:
    """`Task(takes=("query", "key"), returns=("scores",), reference=dot, cases=…)`: what a function has to do.

    `takes` and `returns` name the inputs and the results. `cases` go from the smallest to the largest: the
    first that fails is shown. `trainable=False` asks for no gradients. `ask` is for work that is no plain
    function: what it makes of the work (a class, say) and a case's inputs is the answer. `without` are the
    modules, classes and functions, written in Python, that the work may not call: `without=(attnlab,)`.
    `meanings={"verdict": {0: "honest", 1: "leaks"}}` says what the numbers of a result stand for. With
    `again=False`, for work that trains, it is tried on the cases' inputs alone. After `seconds` of work it
    is stopped.
    """

    takes: tuple[str, ...]
    returns: tuple[str, ...]
    reference: Callable[..., Any]
    cases: Sequence[Case]
    trainable: bool = True
    ask: Callable[..., object] = call
    without: tuple[Any, ...] = ()
    meanings: Mapping[str, Mapping[int, str]] = field(default_factory=dict)
    again: bool = True
    seconds: float = guard.TIME_LIMIT

    @property
    def trained(self) -> tuple[str, ...]:
        """`task.trained` names the inputs that a gradient has to reach."""
        inputs = zip(self.takes, self.cases[-1].inputs, strict=True)
        return tuple(name for name, value in inputs if self.trainable and is_floating(value))

    @property
    def modules_may_draw(self) -> bool:
        """`task.modules_may_draw`: who counts what nn.Linear learns makes one, and that draws numbers.

        Other questions than plain calls may hand a generator, and then all is to be drawn from it.
        """
        return self.ask is call or isinstance(self.reference, type)

    def right(self, inputs: Sequence[Any]) -> Answer:
        """`task.right(case.fresh())` is the right answer."""
        return right_answer(self.ask(self.reference, *inputs))

    def attempt(self, work: Any, case: Case, right: Answer, run: Run = guard.guarded) -> "Attempt":
        """`task.attempt(my_function, case, right)` runs the function on a case, under guard."""
        inputs = case.fresh()
        outcome = run(lambda: read(self.ask(work, *inputs), right, self.returns))
        named = zip(self.takes, case.inputs, inputs, strict=True)
        changed = tuple(name for name, before, after in named if not _same(before, after))
        touched = outcome.touched
        if outcome.made_modules and self.modules_may_draw:
            touched = tuple(name for name in touched if name != guard.DRAWN)
        error = outcome.error
        if guard.PARTS in outcome.touched:  # so its answer was read by functions of its own
            error = WrongTypeError(f"It replaces {guard.PARTS}. They are put back.")
        answer = outcome.value if error is None else ()
        return Attempt(self, case, right, answer or (), error, changed, touched, outcome.printed)


def is_floating(value: object) -> bool:
    """`is_floating(torch.ones(1))` is True: a gradient could reach it."""
    return isinstance(value, Tensor) and value.is_floating_point()


def _same(before: object, after: object) -> bool:
    """Whether a copy, which somebody's code has had in its hands, still holds what the original holds."""
    if type(before) is not type(after):
        return False
    if isinstance(before, Tensor) and isinstance(after, Tensor):
        kinds = [(tensor.dtype, tensor.device, tensor.requires_grad) for tensor in (before, after)]
        return kinds[0] == kinds[1] and torch.equal(before, after)
    if isinstance(before, nn.Module):
        return _same(vars(before), vars(after))
    if isinstance(before, dict) and isinstance(after, dict):
        return before.keys() == after.keys() and all(_same(before[key], after[key]) for key in before)
    if isinstance(before, (list, tuple)) and isinstance(after, (list, tuple)):
        return len(before) == len(after) and all(map(_same, before, after))
    return before == after


@dataclass(frozen=True)
class Attempt:
    """`task.attempt(work, case, right)`: the answer, or the error in its place, and what was changed."""

    task: Task
    case: Case
    right: Answer
    answer: Answer
    error: BaseException | None
    changed: tuple[str, ...]
    touched: tuple[str, ...]
    printed: bool

    @property
    def trouble(self) -> str:
        """`attempt.trouble` says what was raised; '' where nothing was."""
        return "" if self.error is None else described(self.error)

    @property
    def unwritten(self) -> bool:
        """Whether a stub's `...` came back or was reckoned with, or it says itself that nothing is there."""
        if isinstance(self.error, (TypeError, AttributeError)):
            return "ellipsis" in self.trouble
        # PyTorch raises NotImplementedError, too, but says what is not implemented.
        bare = isinstance(self.error, NotImplementedError) and not self.error.args
        return bare or isinstance(self.error, UnwrittenError)

    @property
    def stopped(self) -> bool:
        """Whether its time was up."""
        return isinstance(self.error, TimeUpError)

    @property
    def comparable(self) -> bool:
        """Whether there are numbers to look at: no error, and no result of which only the shape was kept."""
        return self.error is None and not any(part.is_meta for part in self.answer)

    @property
    def passed(self) -> bool:
        """Whether the answer is right, whatever else was done."""
        return (
            self.error is None
            and not any(map(other_dtype, self.answer, self.right))
            and self.equals(self.right)
        )

    def right_like(self, other: "Attempt") -> bool:
        """`before.right_like(after)` where both have the same right answer."""
        return all_close(self.right, other.right)

    def equals(self, answer: Answer) -> bool:
        """`attempt.equals(right)` compares the numbers alone."""
        return all_close(self.answer, answer)

    def like(self, other: "Attempt") -> bool:
        """`mine.like(known)` where both failed in the same way, or came to the same numbers."""
        return self.trouble == other.trouble and self.equals(other.answer)

    def fault(self, work: object) -> tuple[str, ...]:
        """`attempt.fault(my_function)` says in lines what is wrong; nothing where it is right."""
        if self.error is not None:
            return self.trouble, *line_of(self.error, work)
        for name, got, expected in zip(self.task.returns, self.answer, self.right, strict=True):
            if got.shape == expected.shape and other_dtype(got, expected):
                reason = ", as the inputs are" if any(map(is_floating, self.case.inputs)) else ""
                return (f"{name} is {dtype(got)}, expected {dtype(expected)}{reason}",)
            if lines := difference(name, got, expected):
                if meanings := self.task.meanings.get(name):
                    said, wanted = meanings[int(got)], meanings[int(expected)]
                    lines = f"expected {name}: {wanted}", f"     got {name}: {said}"
                return lines
        return ()


def described(error: BaseException) -> str:
    """`described(ValueError("short"))` is 'It raises ValueError: short'; our own errors say it all."""
    return str(error) if isinstance(error, (WrongTypeError, TimeUpError)) else raised(error)


@dataclass(frozen=True)
class Tried:
    """`Tried(task, work, attempts, run)`: what somebody's work made of the cases, until its time was up."""

    task: Task
    work: Any
    attempts: tuple[Attempt, ...]
    run: Run  # under guard, until the deadline that all of the check shares

    @property
    def failed(self) -> list[Attempt]:
        """Those attempts that are wrong."""
        return [attempt for attempt in self.attempts if not attempt.passed]

    def again(self, inputs: Sequence[Any]) -> Attempt | None:
        """`tried.again(inputs)` tries the same work on inputs that are no case; None where they can't be."""
        if not self.task.again:
            return None
        case = Case("", *inputs)
        try:
            right = self.task.right(case.fresh())
        except Exception:
            return None
        return self.task.attempt(self.work, case, right, self.run)


def gradients(task: Task, work: Any, case: Case) -> dict[str, Tensor]:
    """`gradients(task, my_function, case)` are those of the inputs that any gradient reaches."""
    with torch.enable_grad():
        inputs = case.fresh()
        leaves = {
            name: value.requires_grad_()
            for name, value in zip(task.takes, inputs, strict=True)
            if is_floating(value)
        }
        # Copies go in: PyTorch forbids writing into a leaf, which is the business of another property.
        answer = task.ask(work, *(value.clone() if is_floating(value) else value for value in inputs))
        parts = [returned(part) for part in (answer if isinstance(answer, (tuple, list)) else (answer,))]
        # Another factor for each number, so that gradients can't cancel.
        factors = [torch.arange(1, part.numel() + 1, device="cpu").cos().view_as(part) for part in parts]
        total = sum((part * factor).sum() for part, factor in zip(parts, factors, strict=True))
        if not total.requires_grad:
            return {}
        found = torch.autograd.grad(total, list(leaves.values()), allow_unused=True)
    return {name: gradient for name, gradient in zip(leaves, found, strict=True) if gradient is not None}
