"""An experiment: find how far the slow hand of a rotary reader reaches."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor

from bookkit.checking import guard
from bookkit.checking.attempts import described
from bookkit.checking.report import Check, Report
from bookkit.checking.wording import arrow
from checkup.limits import Deadline, TimeUpError

# The mean shares that each leads to, in the order of `ASKED`.
MISTAKES: dict[str, tuple[str, tuple[float, ...]]] = {
    "not trained": (
        "Not even sequences of the training length are copied. Is the trained reader the one that is tested?",
        (0.1, 0.1, 0.1, 0.1),
    ),
    "lengths mixed up, or base 10000": (
        "The hand of 63 positions copies everything. Is its base worked out from `wave`, and not a reader's "
        "usual 10,000? And is it trained at 24 and tested at `length`, and not both at the same length?",
        (0.97, 0.97, 0.97, 0.97),
    ),
    "wave for base": (
        "Even a hand of 314 positions lets go at 96. Is the wave taken for the base? The slow hand "
        "turns by base^(-1/2) a position, and its wave is 2π over that.",
        (0.97, 0.3, 0.1, 0.5),
    ),
    "without 2π": (
        "The hand of 63 positions reaches far, and that of 314 does not: both are too slow. Its wave is "
        "a whole turn, 2π over the frequency base^(-1/2).",
        (0.97, 0.4, 0.97, 0.97),
    ),
    "early positions counted": (
        "At 96 the hand of 63 positions still gets a good part right. Are the first positions counted? "
        "Only the last 24 lie beyond what was trained.",
        (0.97, 0.97, 0.4, 0.8),
    ),
    "trained too little": (
        "At the training length much is copied, but not nearly all of it. Are the readers trained long "
        "enough?",
        (0.69, 0.26, 0.16, 0.67),  # after 25 steps
    ),
}


STARTS = 5


PATIENCE = 120.0  # seconds for all that the check runs: readers train, perhaps longer than the chapter's


# What is asked, and between which shares the mean must lie. At 96 a hand of 63 positions has
# made far more than half a turn, one of 314 has not.
ASKED: dict[tuple[float, int], tuple[str, float, float]] = {
    (314.0, 24): ("copies at the training length", 0.9, 1.0),
    (314.0, 96): ("a hand of 314 positions still copies at 96", 0.85, 1.0),
    (63.0, 96): ("a hand of 63 positions has let go at 96", 0.0, 0.25),
    (63.0, 48): ("a hand of 63 positions is letting go at 48", 0.35, 0.9),
}


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class ReachExperiment(Check):
    """`check_reach(my_reach)` runs the reader's own experiment, and judges what it must show.

    A mistake is a sentence, and the mean shares that it leads to, in the order of `ASKED`.
    """

    def mistaken(self, mistake: Any) -> Any:
        """`check.mistaken(means)` is an experiment that finds these shares, each start a little off them."""
        shares = dict(zip(ASKED, mistake, strict=True))
        return lambda wave, length: shares[wave, length] + 0.01 * torch.arange(-2, 3, device="cpu")

    def right_work(self) -> Any:
        """`check.right_work()` is an experiment that finds shares in the middle of what is asked for."""
        return self.mistaken([(low + high) / 2 for _, low, high in ASKED.values()])

    def judge(self, work: Any) -> Report:
        """`check.judge(my_reach)` asks for four shares: a hand that reaches, and one that doesn't."""
        if work is None or work is ...:
            return self._unwritten()
        if not callable(work):
            return self._not_yet(f"Give the check the function itself: check_{self.name}(my_reach).")
        found: list[Tensor] = []
        until = Deadline(PATIENCE)
        for wave, length in ASKED:
            outcome = guard.guarded(partial(work, wave, length), until)
            if isinstance(outcome.error, TimeUpError):
                return self._not_yet(f"It takes more than {PATIENCE:g} seconds. Fewer steps will do.")
            if outcome.error is not None:
                return self._not_yet(described(outcome.error))
            if outcome.value is None or outcome.value is ...:
                return self._unwritten()
            if complaint := _no_shares(outcome.value):
                return self._not_yet(complaint)
            found.append(torch.as_tensor(outcome.value, device="cpu").detach().double())
        return self._judged(found)

    def _judged(self, found: list[Tensor]) -> Report:
        means = [shares.mean().item() for shares in found]
        lines, held = [], []
        for (label, low, high), mean in zip(ASKED.values(), means, strict=True):
            held.append(low <= mean <= high)
            lines.append(f"  {'✓' if held[-1] else '✗'} {label}: {mean:.0%} right")
        differ = found[-1].max() - found[-1].min() > 1e-6
        lines.append(f"  {'✓' if differ else '✗'} the starts differ")
        if all(held) and differ:
            return Report(self.name, "passed", tuple(lines))
        if all(held):
            words = "Every start finds the same share: give each a seed of its own."
            return Report(self.name, "not yet", tuple(lines) + arrow(words), "one start many times")
        name = self._mistake(means)
        words = (
            self.mistakes[name][0]
            if name
            else "This is not what such readers show. Are they trained to copy from three back, at length 24?"
        )
        return Report(self.name, "not yet", tuple(lines) + arrow(words), name)

    def _mistake(self, means: list[float]) -> str | None:
        """The mistake that lies on the same side of every bound."""
        for name, (_, others) in self.mistakes.items():
            if all(
                _side(mean, asked) == _side(other, asked)
                for mean, other, asked in zip(means, others, ASKED.values(), strict=True)
            ):
                return name
        return None


def _side(mean: float, asked: tuple[str, float, float]) -> int:
    """-1 below what is asked, 1 above it, else 0."""
    _, low, high = asked
    return (mean > high) - (mean < low)


def _no_shares(answer: object) -> str:
    """Why this is not a share for each start; '' where it is."""
    if not isinstance(answer, (Tensor, list, tuple)):
        return f"It returns {type(answer).__name__}, where a tensor with a share for each start is expected."
    try:
        shares = torch.as_tensor(answer, device="cpu")
    except (TypeError, ValueError):
        return "It returns something else than numbers: a share for each start is expected."
    if shares.dim() != 1 or len(shares) < STARTS:
        return (
            f"It returns shape {tuple(shares.shape)}, where (starts,) is expected, with at least {STARTS} "
            "starts: return each start's own share, not their mean."
        )
    if not ((shares >= 0) & (shares <= 1)).all():
        return "A share lies between 0 and 1. Divide by how many answers there are."
    return ""


check_reach = ReachExperiment(
    "reach",
    difficulty=4,
    minutes=40,
    mistakes=MISTAKES,
)
