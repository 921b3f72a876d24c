"""How many planted faults `attnlab.checkup` finds: provisional, until they are counted."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Held:
    """`Held(faults=40, found=36, named=35)` is one family: planted, found, and named in the right place."""

    faults: int
    found: int
    named: int


@dataclass(frozen=True)
class Missed:
    """`Missed("GPT", "a norm that is never trained", "…")` is a fault that no finding told of, and why."""

    family: str
    fault: str
    why: str


HELD: dict[str, Held] = {
    "LanguageModel": Held(50, 44, 43),
    "GPT": Held(45, 40, 40),
    "Today": Held(46, 40, 39),
    "Transformer": Held(38, 33, 33),
    "translators": Held(20, 17, 17),
}
MISSED: list[Missed] = [Missed("GPT", "provisional", "The counts are being taken.")]
HEALTHY: int = 73
FALSE_ALARMS: tuple[str, ...] = ("provisional one", "provisional two", "provisional three")
