"""What a planted fault is."""

from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

# room -> test in the file of that room, or in the file that it names -> (fault, right, wrong)
Faults: TypeAlias = dict[str, dict[str, list[tuple[str, str, str]]]]


@dataclass(frozen=True)
class Mutation:
    """In `room`, `right` stands exactly once. With `wrong` in its place, `test` must fail.

    A room is a file of Python, unless its name says otherwise: `_static/transformer.js`.
    """

    room: str
    test: str
    fault: str
    right: str
    wrong: str

    def __str__(self) -> str:
        return f"{self.room}: {self.fault}"

    @property
    def file(self) -> Path:
        """Where the fault is planted: rooms lie in the book, but for the tools."""
        file = self.room if Path(self.room).suffix else f"{self.room}.py"
        return Path("" if self.room.startswith("tools/") else "book", file)

    @property
    def test_in_its_file(self) -> str:
        """`attnlab/test_masks.py::test_x`, where `test` is `test_x` of the room `attnlab/masks`."""
        folder, _, name = self.room.rpartition("/")
        return self.test if ".py::" in self.test else f"{folder}/test_{name}.py::{self.test}"
