"""What a planted fault is."""

from dataclasses import dataclass
from typing import TypeAlias

# room -> test in the file of that room -> (fault, right, wrong)
Faults: TypeAlias = dict[str, dict[str, list[tuple[str, str, str]]]]


@dataclass(frozen=True)
class Mutation:
    """In `room`, `right` stands exactly once. With `wrong` in its place, `test` must fail."""

    room: str
    test: str
    fault: str
    right: str
    wrong: str

    def __str__(self) -> str:
        return f"{self.room}: {self.fault}"
