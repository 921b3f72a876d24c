"""What has passed, on which files: so that `make test` goes on where it was interrupted, and repeats nothing.

A chapter's cells count as passed until the chapter or any code that it runs changes; every other test until
any file of the project changes.
"""

import functools
import hashlib
import json
import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import distributions
from pathlib import Path

from bookkit import registry
from tools import ROOT
from tools.chapters import stamps

PASSED = ROOT / "_build" / "passed.jsonl"
FOLDERS = (".binder", ".ci", ".devcontainer", ".github", "book", "tests", "tools")
NOT_SOURCE = {"__pycache__", ".ipynb_checkpoints", "node_modules"}


def digest(*parts: bytes) -> str:
    """`digest(b"a", b"b")` is short, and other than that of b"ab"."""
    made = hashlib.sha256()
    for part in parts:
        made.update(part + b"\0")
    return made.hexdigest()[:16]


def whole_project(root: Path = ROOT) -> str:
    """Of the names and contents of all files, but for what the commands make."""
    folders = [root / name for name in FOLDERS]
    files = [path for folder in (root, *folders) for path in folder.glob("*" if folder == root else "**/*")]
    sources = sorted(file for file in files if file.is_file() and not NOT_SOURCE & {*file.parts})
    return digest(*(part for file in sources for part in (bytes(file), file.read_bytes())))


@functools.cache
def surroundings() -> bytes:
    """This Python, its packages, what they were told of the processor, and how tests are run."""
    packages = sorted(f"{each.name} {each.version}" for each in distributions())
    settings = [(ROOT / name).read_bytes() for name in ("conftest.py", "pyproject.toml")]
    machine = os.environ.get("ATEN_CPU_CAPABILITY", "")  # one of what tools/testing/machines.py sets
    return digest(*(name.encode() for name in (sys.version, machine, *packages)), *settings).encode()


def of_chapters() -> dict[str, str]:
    """`of_chapters()["book/where-am-i.ipynb"]` changes with the chapter and with all code that it runs."""
    return {
        f"book/{chapter.notebook.name}": digest(
            surroundings(),
            chapter.notebook.read_bytes(),
            stamps.code_digest(stamps.read(chapter.notebook)).encode(),
        )
        for chapter in registry.notebooks()
    }


@dataclass(frozen=True)
class Digests:
    """`Digests.now().of(test)` is that of all that may decide whether the test passes."""

    chapters: dict[str, str]
    project: str

    @classmethod
    def now(cls) -> "Digests":
        """`Digests.now()` looks at all files, as they are now."""
        return cls(of_chapters(), digest(surroundings(), whole_project().encode()))

    def of(self, test: str) -> str:
        """`digests.of("book/where-am-i.ipynb::Cell 0")` is its chapter's; another test has the project's."""
        return self.chapters.get(test.partition("::")[0], self.project)


class Passed:
    """The tests that are known to pass, and a file that keeps them as they come in."""

    def __init__(self, file: Path, digests: Digests) -> None:
        self.file, self.digests = file, digests
        lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
        # The last line may be half a line: the machine may have gone down while it was written.
        known = dict(json.loads(line) for line in lines if line.endswith("]"))
        self.tests = {test for test, of in known.items() if of == digests.of(test)}

    def begin(self) -> None:
        """Write what still holds, and no more, as the beginning of what `keep` adds to."""
        self.file.parent.mkdir(exist_ok=True)
        fresh = self.file.with_suffix(".new")
        fresh.write_text("".join(map(self._line, sorted(self.tests))), encoding="utf-8")
        fresh.replace(self.file)

    def keep(self, test: str) -> None:
        """Note at once that this test has passed: whatever stops the run, it need not run again."""
        self.tests.add(test)
        with self.file.open("a", encoding="utf-8") as file:
            file.write(self._line(test))

    def _line(self, test: str) -> str:
        return json.dumps([test, self.digests.of(test)]) + "\n"


def left_out(tests: Iterable[str], passed: set[str]) -> set[str]:
    """Those tests that need not run: of a chapter all cells or none, since each builds on those before."""
    tests = list(tests)
    begun = {chapter_of(test) for test in tests if test not in passed}
    return {test for test in tests if test in passed and (chapter_of(test) or test) not in begun}


def chapter_of(test: str) -> str:
    """`chapter_of("book/where-am-i.ipynb::Cell 0")` is its file; "" where the test is no chapter's."""
    file = test.partition("::")[0]
    return file if file.endswith(".ipynb") else ""
