"""Check what an edit touches, in seconds: `make check`. All the rest is left to `make test`, which decides.

What passed is remembered by a digest of what it depends on, and is not run again until that changes. Style,
types, the tests and the planted faults of edited rooms come first, and edited chapters; then their pages.
Chapters that only import an edited room come last, as many as the time allows.
"""

import ast
import functools
import hashlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from bookkit import registry
from tools import ROOT
from tools.chapters import stamps

CHECKED = ROOT / "_build" / "checked.json"
ENOUGH = 15  # seconds, after which no further chapter is begun
# Where a test finds what it imports.
PLACES = [ROOT, *(ROOT / folder for folder in ("book", "tests/support"))]
PLANTED, PAGES = "tests/test_planted_faults.py", "tests/site/test_pages.py"
EXERCISES = "tests/chapters/test_exercises.py"
# Which tests run; of what was edited, also those that `make test` leaves to machines, where all are tried.
WANTED = {PLANTED: "not slow", PAGES: "not slow and not weekly"}
NOTHING_TO_RUN = 5  # what pytest says where a file is left to machines, whole
ROOMS = ("tests/attnlab", "tests/bookkit", "tests/chapters")
LINT_IMPORTS = "from importlinter.cli import lint_imports_command; lint_imports_command()"
STYLE = [["-m", "ruff", "check"], ["-m", "ruff", "format", "--check"], ["-c", LINT_IMPORTS], ["-m", "mypy"]]


@dataclass(frozen=True)
class Job:
    """Something to run, in words for pytest, and the digest of what it depends on."""

    name: str
    arguments: tuple[str, ...]
    digest: str


def digest(*parts: bytes) -> str:
    """`digest(b"a", b"b")` is short, and other than that of b"ab"."""
    made = hashlib.sha256()
    for part in parts:
        made.update(part + b"\0")
    return made.hexdigest()[:16]


@functools.cache
def files_of(module: str) -> tuple[Path, ...]:
    """Where a module of the project stands; nowhere, where it is not the project's."""
    paths = [place.joinpath(*module.split(".")) for place in PLACES]
    files = [file for path in paths for file in (path.with_suffix(".py"), path / "__init__.py")]
    return tuple(file for file in files if file.is_file())


@functools.cache
def named_in(file: Path) -> frozenset[Path]:
    """The project's files that a Python file names in its own imports."""
    found: set[Path] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Import | ast.ImportFrom):
            continue
        names = [alias.name for alias in node.names]
        if isinstance(node, ast.ImportFrom):
            names = [node.module or "", *(f"{node.module}.{name}" for name in names)]
        found.update(file for name in names for file in files_of(name))
    return frozenset(found)


@functools.cache
def imported(file: Path) -> frozenset[Path]:
    """The project's files that a Python file imports, itself included, through all that they import."""
    found, waiting = {file}, [file]
    while waiting:
        new = named_in(waiting.pop()) - found
        found |= new
        waiting += new
    return frozenset(found)


def code_of(files: frozenset[Path] | list[Path]) -> str:
    return digest(*(stamps.what_it_does(file) for file in sorted(files)))


def tests() -> Iterator[Job]:
    """The test file of each room, and of each chapter."""
    for file in sorted(path for folder in ROOMS for path in (ROOT / folder).rglob("test_*.py")):
        name = str(file.relative_to(ROOT))
        if name != EXERCISES:
            yield Job(name, (name,), code_of(imported(file)))


def exercises() -> Iterator[Job]:
    """Those of each chapter: their one test finds them without an import."""
    for chapter in registry.chapters():
        folder = ROOT / "book" / "chapters" / chapter.package
        files = (ROOT / EXERCISES, folder / "exercises" / "__init__.py", folder / "accepted.py")
        code = code_of(frozenset().union(*map(imported, files)))
        yield Job(f"exercises of {chapter.package}", (EXERCISES, "-k", chapter.package), code)


def planted_faults() -> Iterator[Job]:
    """Those of each room, under the tests that must notice them."""
    machinery = imported(ROOT / PLANTED)
    rooms = [
        file for package in ("attnlab", "bookkit") for file in sorted((ROOT / "book" / package).rglob("*.py"))
    ]
    for file in rooms:
        room = file.relative_to(ROOT / "book").with_suffix("")
        test = ROOT / "tests" / room.with_name(f"test_{room.name}.py")
        if test.exists():
            name = f"faults planted in {room}"
            yield Job(name, (PLANTED, "-k", f"{room}:"), code_of([file, test, *machinery]))


def chapters() -> Iterator[Job]:
    """Each chapter as it is stored, under strict nbval."""
    for chapter in registry.notebooks():
        code = stamps.code_digest(stamps.read(chapter.notebook))
        stored = chapter.notebook.read_bytes()
        yield Job(chapter.name, (f"book/{chapter.notebook.name}",), digest(stored, code.encode()))


def pages() -> Iterator[Job]:
    """Each built page, as a browser shows it."""
    folder = ROOT / "_build" / "html"
    styles_and_scripts = sorted((folder / "_static").glob("*.[cj]ss*"))
    # What search searches changes with every sentence, and how the pages look does not.
    looks = [path.read_bytes() for path in styles_and_scripts if path.name != "sections.js"]
    for page in sorted(folder.glob("*.html")):
        arguments = (PAGES, "-k", page.name)
        yield Job(f"page {page.stem}", arguments, digest(page.read_bytes(), *looks))


# ---- running what is not known to pass ----


class Memory:
    """What has passed, by its digest, from one run to the next."""

    def __init__(self, file: Path = CHECKED) -> None:
        self.file = file
        self.passed: dict[str, str] = json.loads(file.read_text()) if file.exists() else {}

    def fresh(self, checks: Iterator[Job]) -> list[Job]:
        """Those that are not known to pass."""
        return [check for check in checks if self.passed.get(check.name) != check.digest]

    def keep(self, checks: list[Job]) -> None:
        self.passed |= {check.name: check.digest for check in checks}
        self.file.parent.mkdir(exist_ok=True)
        self.file.write_text(json.dumps(self.passed, indent=1))


def everything() -> list[Job]:
    return [*tests(), *exercises(), *planted_faults(), *chapters(), *pages()]


def program(*words: str) -> tuple[bool, str]:
    """Whether it ended well, and what it said."""
    run = subprocess.run(
        [sys.executable, *words], cwd=ROOT, env=os.environ | {"ATTNLAB_DEVICE": "cpu"},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
    )  # fmt: skip
    return run.returncode in (0, NOTHING_TO_RUN), run.stdout


def together(checks: list[Job]) -> list[str]:
    """The arguments of one run of pytest for checks of a kind: files, or parts of one file by name."""
    if "-k" in checks[0].arguments:
        return [checks[0].arguments[0], "-k", " or ".join(check.arguments[-1] for check in checks)]
    return [argument for check in checks for argument in check.arguments]


def pytest(checks: list[Job]) -> tuple[bool, str]:
    options = ["-q", "-n", "0", "-p", "no:cacheprovider"]
    wanted = WANTED.get(checks[0].arguments[0], "not slow and not thorough and not weekly")
    return program("-m", "pytest", *options, "-m", wanted, *together(checks))


def run(jobs: list[list[Job]], memory: Memory, pool: ThreadPoolExecutor) -> bool:
    """Whether all passed; what fails is printed in full."""
    well = True
    for job, (passed, said) in zip(jobs, pool.map(pytest, jobs), strict=True):
        if passed:
            memory.keep(job)
        else:
            print(said)
        well &= passed
    return well


def main() -> int:
    started = time.monotonic()
    memory = Memory()
    cores = os.cpu_count() or 1
    with ThreadPoolExecutor(cores) as pool:
        style = [pool.submit(program, *command) for command in STYLE]
        built = pool.submit(program, "-m", "tools.site.build")
        tested, planted = memory.fresh(tests()), memory.fresh(planted_faults())
        asked = memory.fresh(exercises())
        waiting = memory.fresh(chapters())
        # An edited chapter is no longer what git has; the others only import what was edited.
        edited = [chapter for chapter in waiting if chapter.arguments[0] in changed_files()]
        jobs = [job for job in (planted, asked, *(tested[start::cores] for start in range(cores))) if job]
        well = run([*([chapter] for chapter in edited), *jobs], memory, pool)
        for job in (*style, built):
            passed, said = job.result()
            if not passed:
                print(said)
            well &= passed
        seen = memory.fresh(pages()) if built.result()[0] else []
        well &= run([seen] if seen else [], memory, pool)
        others = [chapter for chapter in waiting if chapter not in edited]
        while others and well and time.monotonic() - started < ENOUGH:
            well &= run([[chapter] for chapter in others[:cores]], memory, pool)
            del others[:cores]
    ran = f"{len(tested)} test files, {len(asked)} chapters' exercises, "
    ran += f"{len(planted)} rooms' planted faults, {len(seen)} pages"
    left = f"; not run: {', '.join(chapter.name for chapter in others)}" if others else ""
    verdict = "passed" if well else "failed"
    ran += f", {len(waiting) - len(others)} chapters"
    print(f"check: {verdict} in {time.monotonic() - started:.0f} s: style, types, {ran}{left}")
    print("check: `make test` runs everything, and decides")
    return 0 if well else 1


def changed_files() -> set[str]:
    """What differs from the last commit."""
    command = ["git", "status", "--porcelain", "--untracked-files=all"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout
    return {line[3:] for line in listed.splitlines()}


if __name__ == "__main__":
    try:
        sys.exit(main())
    except stamps.BrokenNotebookError as error:
        sys.exit(f"check: {error}")
