"""An experiment: plant a fault, and find out when it can be told from dice."""

from dataclasses import dataclass
from typing import Any

from bookkit.checking import guard
from bookkit.checking.attempts import described
from bookkit.checking.exercise import MARKS
from bookkit.checking.report import Check, Report
from bookkit.checking.wording import arrow
from chapters.fourteen_patients.exercises.out_of_the_band_mistakes import MISTAKES
from chapters.fourteen_patients.exercises.out_of_the_band_parts import (
    IN_A_ROW,
    SAID,
    SEEDS,
    Curves,
    complaint,
    example,
    read,
    wrong,
)
from checkup.limits import Deadline, TimeUpError

PATIENCE = 300.0  # seconds, for whoever trains only when asked


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class BandExperiment(Check):
    """`check_out_of_the_band(my_experiment)` judges curves that the reader has made.

    A mistake is a sentence, and what it changes in the curves of `example()`.
    """

    def mistaken(self, mistake: Any) -> Any:
        """`check.mistaken(change)` hands over the changed curves."""
        return lambda: mistake(example())._asdict()

    def right_work(self) -> Any:
        """`check.right_work()` hands over the curves of `example()`."""
        return lambda: example()._asdict()

    def judge(self, work: Any) -> Report:
        """`check.judge(my_experiment)` asks for the curves, and works out for itself what follows."""
        if work is None or work is ...:
            return self._unwritten()
        answer = work
        if callable(work):
            outcome = guard.guarded(work, Deadline(PATIENCE))
            if isinstance(outcome.error, TimeUpError):
                return self._not_yet(f"It takes more than {PATIENCE:g} seconds. Train first, then hand over.")
            if outcome.error is not None:
                return self._not_yet(described(outcome.error))
            answer = outcome.value
        if answer is None or answer is ... or (type(answer) is dict and ... in answer.values()):
            return self._unwritten()
        if words := complaint(answer):
            return self._not_yet(words)
        return self._judged(read(answer))

    def _judged(self, curves: Curves) -> Report:
        found = wrong(curves)
        untried = bool(found.curves or found.pairs)
        marks = (
            (f"at least {SEEDS} seeds of this page's training, healthy and ill", not found.curves),
            ("ill and healthy curves in pairs", None if found.curves else not found.pairs),
            (
                f"outside the band for {IN_A_ROW} updates: {_said(curves.leaves)}",
                None if untried else not found.leaves,
            ),
            (
                f"all pairs on one side for {IN_A_ROW} updates: {_said(curves.told)}",
                None if untried else not found.told,
            ),
        )
        lines = [f"  {MARKS[holds]} {label}" for label, holds in marks]
        names = [*dict.fromkeys(name for name in found if name)]
        for name in names:
            lines += arrow(SAID[name])
        if names:
            return Report(self.name, "not yet", tuple(lines), names[0])
        return Report(self.name, "passed", tuple(lines))


def _said(update: int | None) -> str:
    return "never" if update is None else f"from update {update} on"


check_out_of_the_band = BandExperiment("out_of_the_band", difficulty=4, minutes=40, mistakes=MISTAKES)
