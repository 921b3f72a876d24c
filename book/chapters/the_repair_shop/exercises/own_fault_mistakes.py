"""The mistakes that `check_own_fault` knows by name: faults that a cheap test finds, or that cost nothing."""

from collections.abc import Callable

from torch import nn

from attnlab.transformer import GPT
from bookkit.checking.mistakes import Mistakes
from chapters.the_repair_shop import faults
from chapters.the_repair_shop.patients import small


def _larger(model: GPT) -> nn.Module:
    return small(0, spread=1.0)


def _sees_it(test: str, hint: str) -> str:
    return f"The test “{test}” finds yours. {hint}"


FINDINGS: dict[str, tuple[str, Callable[[GPT], nn.Module]]] = {
    "found by future": (
        _sees_it("future", "Whatever lets a later letter in moves what stands before."),
        lambda model: faults.attending(faults.OffByOne, model),
    ),
    "found by one word": (
        _sees_it("one word", "Where no place is known, all places say the same of it."),
        faults.without_places,
    ),
    "found by two runs": (
        _sees_it("two runs", "Chance that never rests shows at once."),
        faults.never_rests,
    ),
    "found by the first loss": (
        _sees_it("first loss", "What starts too sure of itself is far above ln V."),
        _larger,
    ),
    "found by dead units": (
        _sees_it("dead units", "Units that no letter wakes are counted."),
        faults.pushed_under,
    ),
    "found by half": (
        _sees_it("half", "Half precision ends at 65,504."),
        lambda model: faults.attending(faults.Billion, model),
    ),
    "found by the gradient": (
        _sees_it("gradient", "A block that no gradient gets to has a gradient of 0."),
        faults.cut,
    ),
    "found by heart": (
        _sees_it("by heart", "It is so bad that it can't even learn two rows."),
        faults.without_road,
    ),
}
MISTAKES: Mistakes = {
    "costs nothing": (
        "No test finds it, and after 150 updates the loss is not 0.1 above that of the healthy model. "
        "Perhaps it is no fault: some changes that look like one even help a model as small as this.",
        lambda model: model,
    ),
    **FINDINGS,
}
