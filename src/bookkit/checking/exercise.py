"""Checks a reader's function, and where it is wrong, looks for the mistake that explains it.

An exercise holds a reference, inputs on which mistakes can be told apart, and the mistakes it knows, each as
code that commits it. The reader's function and every mistake run on the same inputs: where all their answers
agree, the mistake has a name. Where none agrees, what can be seen in any answer is looked for.
"""

import dis
import sys
import traceback
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from types import FunctionType
from typing import Any, NamedTuple

import torch

from attnlab.training.progress import progress_bar
from bookkit.checking import findings, guard
from bookkit.checking.answers import Answer
from bookkit.checking.attempts import Attempt, Task, Tried, call
from bookkit.checking.findings import Finding
from bookkit.checking.mistakes.pairs import pairs
from bookkit.checking.remarks import remark
from bookkit.checking.report import Check, Report
from bookkit.checking.wording import arrow, joined, rendered
from checkup.limits import Deadline

# Seconds of the processor for the search for two mistakes at once, so that what is found does not hang on
# what else the machine does. Most exercises try all of their pairs in a tenth of it.
PAIRS_LIMIT = 2.0

ISSUES = "https://github.com/attention-measured/attention-measured/issues"
MARKS = {True: "✓", False: "✗", None: "·"}


class Verdict(NamedTuple):
    """`Verdict(known, seen, gradient, ready, changes)` is all that was found against somebody's work."""

    known: Finding | None
    seen: Finding | None
    gradient: Finding | None
    ready: Finding | None
    changes: Finding | None

    @property
    def name(self) -> str | None:
        """`verdict.name` is that of the first; None where nothing was found."""
        return next((finding.name for finding in self if finding), None)


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Exercise(Check, Task):
    """`check_scaled_scores = Exercise("scaled_scores", difficulty=1, …)`, and it is called like a function.

    >>> from bookkit.checking.attempts import Case
    >>> check_double = Exercise(
    ...     "double",
    ...     difficulty=1,
    ...     minutes=1,
    ...     takes=("number",),
    ...     returns=("twice",),
    ...     reference=lambda number: 2 * number,
    ...     cases=[Case("right for one number", 3)],
    ...     mistakes={"squared": ("This is its square.", lambda number: number**2)},
    ... )
    >>> check_double(lambda number: number * number)
    double: not yet
      ✗ right for one number
      ✓ leaves its inputs and all settings as they were
    → This is its square.
    """

    def mistaken(self, mistake: Any) -> Any:
        """`exercise.mistaken(code)` is the code itself."""
        return mistake

    def right_work(self) -> Any:
        """`exercise.right_work()` is the reference."""
        return self.reference

    def judge(self, work: Any) -> Report:
        """`check_scaled_scores.judge(my_function)` runs the function on every case and tells how it went."""
        try:
            # What our own code draws, such as a known mistake that makes a module, nobody must notice.
            with torch.random.fork_rng(devices=[]):
                return self._judge(work)
        except Exception as error:
            return self._broken_off(error)

    def _broken_off(self, error: Exception) -> Report:
        """What is said where the check itself ends in an error: the work's calls ran under guard."""
        if guard.replaced() or not _is_ours(error):
            words = f"The check could not go on ({type(error).__name__}). Restart the kernel and try again."
            return self._not_yet(words)
        words = (
            f"The check itself has a fault ({type(error).__name__}), so it can't say how yours is. "
            f"Please report it, with your code: {ISSUES}"
        )
        return replace(self._not_yet(words), fault=error)

    def _judge(self, work: Any) -> Report:
        if work is None or work is ... or _is_stub(work):
            return self._unwritten()
        if complaint := self._no_such_work(work):
            return self._not_yet(complaint)
        tried = self._try(work)
        if any(attempt.unwritten for attempt in tried.attempts):
            return self._unwritten()
        verdict = self._verdict(tried)
        properties = self._properties(tried, verdict)
        passed = all(properties.values())
        lines = [f"  {MARKS[holds]} {label}" for label, holds in properties.items()]
        lines += _reasons(tried, verdict)
        if passed and (words := remark(tried)):
            lines += arrow(f"Right. And a remark: {words}")
        if any(attempt.printed for attempt in tried.attempts):
            lines.append("  (What a function prints is not shown while it is checked.)")
        return Report(self.name, "passed" if passed else "not yet", tuple(lines), verdict.name)

    def _no_such_work(self, work: Any) -> str:
        """Why this can't be judged at all; '' where it can."""
        wants_class = isinstance(self.reference, type)
        # Of an object that answers no question, only its type can be asked.
        is_class = issubclass(type(work), type)
        if wants_class and not is_class and hasattr(type(work), "forward"):
            return (
                "This is a module that is made already. Give the check its class, without calling it: "
                f"check_{self.name}({type(work).__name__}). It makes a fresh one for each question."
            )
        if self.ask is call and is_class:
            return f"This is a class. Give the check what it makes: check_{self.name}({work.__name__}(…))."
        if not callable(work):
            kind, example = ("class", "MyModule") if wants_class else ("function", "my_function")
            return f"Give the check the {kind} itself, without calling it: check_{self.name}({example})."
        return ""

    def _try(self, work: Any) -> Tried:
        # The right answers come first: the function may do anything, even to PyTorch.
        rights = self._rights
        run = partial(guard.guarded, until=Deadline(self.seconds))
        attempts: list[Attempt] = []
        # Who waits for seconds, since the work trains something, reads what is being asked.
        with progress_bar(len(self.cases)) as bar:
            for case, right in zip(self.cases, rights, strict=True):
                bar.set_description(case.label, refresh=False)
                bar.update(len(attempts) - bar.n)
                attempts.append(self.attempt(work, case, right, run))
                if attempts[-1].stopped:
                    break  # what the time is up for need not be tried again
        return Tried(self, work, tuple(attempts), run)

    def _known_mistake(self, tried: Tried) -> Finding | None:
        """The mistake whose answers, in every case, are the reader's."""
        for name, (sentence, _) in self.mistakes.items():
            if all(mine.like(self._made(name, place)) for place, mine in enumerate(tried.attempts)):
                return Finding(name, sentence)
        return None

    def _two_mistakes(self, tried: Tried) -> Finding | None:
        """The only two mistakes that, made at once, give the reader's answers in every case.

        An error says too little to tell two mistakes by, and so do zeros: counting only to the left, and of
        these only to the right, is counting nothing. Where the time is up before all pairs are tried, none is
        told: another might fit as well.
        """
        if not all(mine.comparable for mine in tried.attempts):
            return None
        # Of a result far too large only the shape is known.
        if not any(part.any() for mine in tried.attempts for part in mine.answer):
            return None
        search, fitting = Deadline(PAIRS_LIMIT), []
        every = [*pairs(self.mistakes)]
        for done, (name, sentence, code) in enumerate(every):
            # Who would need far longer for them all need not wait for the end of it.
            if search.worked > search.seconds * max(0.1, done / len(every)):
                return None
            if all(
                mine.like(self.attempt(code, mine.case, mine.right, guard.trusted)) for mine in tried.attempts
            ):
                fitting.append(Finding(name, sentence))
        return fitting[0] if len(fitting) == 1 else None

    # Our own code always answers the same, so it is asked once.

    @cached_property
    def _rights(self) -> list[Answer]:
        return [self.right(case.fresh()) for case in self.cases]

    @cached_property
    def _attempts(self) -> dict[tuple[str, int], Attempt]:
        return {}

    def _made(self, mistake: str, place: int) -> Attempt:
        """What a known mistake makes of a case."""
        if (mistake, place) not in self._attempts:
            _, code = self.mistakes[mistake]
            attempt = self.attempt(code, self.cases[place], self._rights[place], guard.trusted)
            self._attempts[mistake, place] = attempt
        return self._attempts[mistake, place]

    def _verdict(self, tried: Tried) -> Verdict:
        known = seen = gradient = ready = None
        if tried.failed:
            known = self._known_mistake(tried) or self._two_mistakes(tried)
            seen = None if known else findings.first_finding(tried)
        else:
            gradient = findings.gradient_fault(tried) if self.trained else None
            ready = findings.ready_made(tried)
        return Verdict(known, seen, gradient, ready, findings.changes(tried))

    def _properties(self, tried: Tried, verdict: Verdict) -> dict[str, bool | None]:
        """Each is True, False, or None where it could not be tried."""
        outcomes: list[bool | None] = [attempt.passed for attempt in tried.attempts]
        outcomes += [None] * (len(self.cases) - len(outcomes))
        properties: dict[str, bool | None] = {}
        for case, outcome in zip(self.cases, outcomes, strict=True):
            if properties.get(case.label, True):
                properties[case.label] = outcome
        if self.trained:
            label = f"gradients reach {joined(self.trained)}"
            properties[label] = None if tried.failed else not verdict.gradient
        if verdict.ready:
            properties["is written without what is there already"] = False
        properties["leaves its inputs and all settings as they were"] = not verdict.changes
        return properties


def _is_ours(error: Exception) -> bool:
    """Whether no code but the book's, PyTorch's and Python's own ran where it was raised."""
    frames = (frame for frame, _ in traceback.walk_tb(error.__traceback__))
    rooms = {frame.f_globals.get("__name__", "").partition(".")[0] for frame in frames}
    return rooms <= {"attnlab", "bookkit", "chapters", "numpy", "torch", *sys.stdlib_module_names}


def _is_stub(work: object) -> bool:
    """True where the body is `...`, `pass` or a docstring and nothing else; of a module, its forward's."""
    if issubclass(type(work), type):
        work = getattr(work, "forward", work)
    if type(work) is not FunctionType:
        return False
    operations = [step.opname for step in dis.get_instructions(work)]
    empty = [step.opname for step in dis.get_instructions(lambda: None)]
    return operations == empty and set(work.__code__.co_consts) <= {None, ..., work.__doc__}


def _reasons(tried: Tried, verdict: Verdict) -> Iterator[str]:
    for finding in (verdict.known, verdict.seen):
        yield from arrow(finding.sentence) if finding else ()
    # The sentence of a known mistake says it all; beside what was seen, the input helps.
    if tried.failed and not verdict.known:
        yield from _smallest_failure(tried)
    for finding in (verdict.gradient, verdict.ready, verdict.changes):
        yield from arrow(finding.sentence) if finding else ()


def _smallest_failure(tried: Tried) -> Iterator[str]:
    attempt = tried.failed[0]
    yield "→ The smallest input that fails:"
    for name, value in zip(tried.task.takes, attempt.case.inputs, strict=True):
        yield f"    {rendered(name, value)}"
    for line in attempt.fault(tried.work):
        yield f"  {line}"
