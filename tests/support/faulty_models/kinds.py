"""What a fault is, and how it is planted: the book's modules are imported anew, with one text changed."""

import importlib.util
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from types import CodeType

SOURCE = Path(__file__).parents[3] / "src"
# A module that is first imported beside a fault would keep what it imports of the others.
ROOTS = ("attnlab", "bookkit", "chapters")

INQUIRIES = (
    "sight", "scores", "positions", "stream", "network", "parameters", "start", "evaluation", "numbers",
    "cache", "output", "padding", "batch",
)  # fmt: skip


@dataclass(frozen=True)
class Change:
    """In `file`, below book/, `old` becomes `new`. It stands there once, or `which` says: 0 is the first."""

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
        return self.old.join(parts[:place]) + self.new + self.old.join(parts[place:])


@dataclass(frozen=True)
class Fault:
    """Planted in the model of a family, as `families.py` builds it.

    `where` is a regular expression for re.fullmatch: the dotted names of the modules in which it sits, and of
    all that these hold. It is None where it sits in the model's own forward, and in no part of it.

    The first of `inquiries` is the line of inquiry that is right; the others lead to the same line of code:
    what is planted in one place often shows in two.

    `shows` says by which measure of tests/test_faulty_models.py it differs from the healthy model. A fault
    may show in other ways, too.
    """

    model: str
    name: str
    inquiries: tuple[str, ...]
    where: str | None
    changes: tuple[Change, ...]
    shows: str

    def __str__(self) -> str:
        return f"{self.model}: {self.name}"


def planted_in(model: str) -> Callable[..., Fault]:
    """`fault = planted_in("GPT")`, and `fault("no scale", "scores", where, change)` is one of its faults."""

    def fault(name: str, inquiries: str, where: str | None, *changes: Change, shows: str = "logits") -> Fault:
        return Fault(model, name, tuple(inquiries.split()), where, changes, shows)

    return fault


class _FromText(SourceFileLoader):
    def __init__(self, name: str, path: str, text: str) -> None:
        super().__init__(name, path)
        self.text = text

    def get_code(self, fullname: str) -> CodeType:
        return compile(self.text, f"{self.path} (with a fault)", "exec")


class _Changed:
    """A finder that knows the changed modules alone, and leaves the others to the usual ones."""

    def __init__(self, texts: Mapping[str, tuple[Path, str]]) -> None:
        self.texts = texts

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        if name not in self.texts:
            return None
        file, text = self.texts[name]
        return importlib.util.spec_from_file_location(name, file, loader=_FromText(name, str(file), text))


def _take_out() -> dict[str, object]:
    return {name: sys.modules.pop(name) for name in [*sys.modules] if name.partition(".")[0] in ROOTS}


@contextmanager
def planted(changes: Sequence[Change]) -> Iterator[None]:
    """`with planted(fault.changes): import attnlab.today.model` imports a changed module.

    Afterwards all is as before. What was made in between keeps the changed modules, and nobody else has them.
    """
    texts: dict[str, tuple[Path, str]] = {}
    for change in changes:
        file = SOURCE / change.file
        source = texts[change.module][1] if change.module in texts else file.read_text("utf-8")
        texts[change.module] = file, change.made(source)
    finder = _Changed(texts)
    kept = _take_out()
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        _take_out()
        sys.modules.update(kept)
