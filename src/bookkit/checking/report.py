"""What a check says, and what it keeps for the chapter's summary."""

import functools
import hashlib
import inspect
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from types import FunctionType
from typing import Any, Literal, TypeAlias

import torch

from bookkit.checking.wording import arrow

UNWRITTEN = "Put your code in the place of the `...`, and run the cell again."
State: TypeAlias = Literal["passed", "not yet", "not written yet"]


class Text(str):
    """`Text("as it is")` shows itself without quotes, in a notebook and in a terminal."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


@dataclass(frozen=True)
class Report:
    """`check_scaled_scores(my_function).passed` is True or False; shown, the report is plain text.

    `mistake` is the name of what was recognised: a mistake of the exercise's own catalogue, or something that
    can be seen in any answer, such as "constant factor". `fault` is an error of the check itself.
    """

    exercise: str
    state: State
    lines: tuple[str, ...]
    mistake: str | None = None
    # What was raised by the check itself. pytest raises it again.
    fault: Exception | None = field(default=None, compare=False)

    @property
    def passed(self) -> bool:
        """`report.passed` is True when every property holds."""
        return self.state == "passed"

    def __repr__(self) -> str:
        return "\n".join([f"{self.exercise}: {self.state}", *self.lines])


# Digests of all chapters' solutions, which `make refresh` notes: where the packages alone are installed, as
# in Colab, no notebook can be asked.
SOLUTIONS = Path(__file__).with_name("solutions.txt")


@functools.cache
def _solutions() -> frozenset[str]:
    return frozenset(SOLUTIONS.read_text(encoding="utf-8").split())


def digest(source: str) -> str:
    """`digest(inspect.getsource(solution))` is its line in SOLUTIONS, if it is one of the book's."""
    return hashlib.sha256(source.strip().encode()).hexdigest()[:16]


def is_the_books(work: object) -> bool:
    """`is_the_books(solution)` tells the book's own from the reader's, who may take the same name."""
    if type(work) is not FunctionType or work.__name__ != "solution":
        return False
    try:
        return digest(inspect.getsource(work)) in _solutions()
    except (OSError, SyntaxError):  # it comes from no cell
        return False


# The latest report on each exercise in this kernel.
latest: dict[str, Report] = {}


@dataclass(frozen=True, eq=False, kw_only=True)
class Check(ABC):
    """`check_soft_lookup(my_function)`: a check is called like a function, and answers with a report."""

    name: str = field(kw_only=False)
    difficulty: int
    minutes: int
    # Its name: what the reader is told, and what makes the mistake.
    mistakes: Mapping[str, tuple[str, Any]]

    @abstractmethod
    def judge(self, work: Any) -> Report:
        """`check.judge(work)` is the report, which the summary will not know of."""

    @abstractmethod
    def mistaken(self, mistake: Any) -> Any:
        """`check.mistaken(mistake)` is work that makes the mistake."""

    @abstractmethod
    def right_work(self) -> Any:
        """`check.right_work()` is work that passes."""

    def __call__(self, work: Any) -> Report:
        """Judge the work, and keep the report for the summary.

        The book's own solution must not hand in the exercise for the reader, nor look as if it had.
        """
        threads = torch.get_num_threads()
        # Products are small here: several threads wait for each other, on a busy machine till the time is up.
        torch.set_num_threads(1)
        try:
            report = self.judge(work)
        finally:
            torch.set_num_threads(threads)
        if is_the_books(work):
            # Passed, it needs no more words: what the reader's own work is told must stand out.
            lines = () if report.passed else report.lines
            return replace(report, lines=("  (the book's solution, not yours)", *lines))
        latest[self.name] = report
        return report

    def __repr__(self) -> str:
        return f"check_{self.name}"

    def _not_yet(self, words: str) -> Report:
        return Report(self.name, "not yet", arrow(words))

    def _unwritten(self, words: str = UNWRITTEN) -> Report:
        return Report(self.name, "not written yet", arrow(words))

    def trials(self) -> dict[str, Report]:
        """`check.trials()` makes every known mistake, and has each judged, once."""
        return dict(self._trials)

    @cached_property
    def _trials(self) -> dict[str, Report]:
        return {name: self.judge(self.mistaken(mistake)) for name, (_, mistake) in self.mistakes.items()}
