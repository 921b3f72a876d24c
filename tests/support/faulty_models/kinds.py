"""What a fault is, and how it is planted: the book's modules are imported anew, with one text changed."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType
from unittest.mock import patch

SOURCE = Path(__file__).parents[3] / "src"
# A module that is first imported beside a fault would keep what it imports of the others.
ROOTS = ("attnlab", "bookkit", "chapters")

INQUIRIES = (
    "sight", "scores", "positions", "stream", "network", "parameters", "start", "evaluation", "numbers",
    "cache", "output", "padding", "batch",
)  # fmt: skip


@dataclass(frozen=True)
class Change:
    """In `file`, below src/, `old` becomes `new`. It stands there once, or `which` says: 0 is the first.

    Further lines of `new` are set in as far as the line is in which `old` begins.
    """

    file: str
    old: str
    new: str
    which: int | None = None

    @property
    def module(self) -> str:
        """`attnlab.today.model` is the module of `attnlab/today/model.py`."""
        return self.file.removesuffix(".py").replace("/", ".")

    def made(self, source: str) -> str:
        """`change.made(source)` is the changed source."""
        parts = source.split(self.old)
        if (len(parts) != 2) if self.which is None else (len(parts) < self.which + 2):
            raise ValueError(f"{self.file}: {self.old!r} stands there {len(parts) - 1} times")
        place = 1 + (self.which or 0)
        before = self.old.join(parts[:place])
        line = before.rpartition("\n")[2]
        new = self.new.replace("\n", "\n" + line[: len(line) - len(line.lstrip())])
        return before + new + self.old.join(parts[place:])


attention, layers, masks, positions, scores, today, transformer = (
    partial(Change, f"attnlab/{file}.py")
    for file in ("attention", "layers", "masks", "positions", "scores", "today/model", "transformer")
)


@dataclass(frozen=True)
class Fault:
    """Planted in the model of a family, as `families.py` builds it.

    `where` is a regular expression for re.fullmatch: the dotted names of the modules in which it sits, and of
    all that these hold. It is None where it sits in the model's own forward, and in no part of it.

    The first of `inquiries` is the line of inquiry that is right; the others lead to the same line of code:
    what is planted in one place often shows in two.
    """

    model: str
    name: str
    inquiries: tuple[str, ...]
    where: str | None
    changes: tuple[Change, ...]

    def __str__(self) -> str:
        return f"{self.model}: {self.name}"


def planted_in(model: str) -> Callable[..., Fault]:
    """`fault = planted_in("GPT")`, and `fault("no scale", "scores", where, change)` is one of its faults."""

    def fault(name: str, inquiries: str, where: str | None, *changes: Change) -> Fault:
        return Fault(model, name, tuple(inquiries.split()), where, changes)

    return fault


def _take_out() -> dict[str, object]:
    return {name: sys.modules.pop(name) for name in [*sys.modules] if name.partition(".")[0] in ROOTS}


@contextmanager
def planted(changes: Sequence[Change]) -> Iterator[None]:
    """`with planted(fault.changes): import attnlab.today.model` imports a changed module.

    Afterwards all is as before. What was made in between keeps the changed modules, and nobody else has them.
    """
    texts: dict[str, str] = {}
    for change in changes:
        source = texts.get(change.module) or (SOURCE / change.file).read_text("utf-8")
        texts[change.module] = change.made(source)

    def read(loader: SourceFileLoader, name: str) -> CodeType | None:
        if name in texts:
            return compile(texts[name], f"{loader.path} (with a fault)", "exec")
        return code_of(loader, name)

    code_of, kept = SourceFileLoader.get_code, _take_out()
    try:
        with patch.object(SourceFileLoader, "get_code", read):
            yield
    finally:
        _take_out()
        sys.modules.update(kept)
