"""Which chapters the book has, in which order, and what each says of itself.

The order stands in _toc.yml and the rest in the notebooks. Nothing else lists chapters: whatever needs a list
asks here.
"""

import itertools
import json
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml

from bookkit.mime_types import CLAIM

# Where the packages are: in src, or beside the chapters, as in a hand-out for a course and in Colab.
PACKAGES = Path(__file__).resolve().parents[1]
BOOK = PACKAGES.parent / "book" if PACKAGES.name == "src" else PACKAGES
CONTENTS = BOOK.parent / "_toc.yml"
GOALS = "you will be able to"
SOLUTIONS = "## Solutions"
APPENDICES = "Appendices"  # the part whose notebooks are run and compared, and have no exercises


@dataclass(frozen=True)
class Chapter:
    """`Chapter(BOOK / "where-am-i.ipynb")` is a notebook, and what its first lines say."""

    notebook: Path
    part: str = ""

    @property
    def name(self) -> str:
        """`chapter.name` is "where-am-i": its page."""
        return self.notebook.stem

    @property
    def package(self) -> str:
        """`chapter.package` is "where_am_i": its folder in `chapters`, with its exercises and pictures."""
        return self.name.replace("-", "_")

    @cached_property
    def cells(self) -> list[dict[str, Any]]:
        """`chapter.cells` holds every cell with its stored outputs, as the notebook's file has them."""
        cells: list[dict[str, Any]] = json.loads(self.notebook.read_text(encoding="utf-8"))["cells"]
        return cells

    @property
    def opening(self) -> str:
        """`chapter.opening` is what is written above its first section."""
        texts = ["".join(cell["source"]) for cell in self.cells if cell["cell_type"] == "markdown"]
        return "\n\n".join(texts).partition("\n## ")[0]

    @property
    def title(self) -> str:
        """`chapter.title` is "Where am I? Positional-encoding tables", the first line."""
        return self.opening.partition("\n")[0].removeprefix("# ")

    @property
    def minutes(self) -> str:
        """`chapter.minutes` is "25 minutes to read"."""
        found = re.search(r"^\*(\d+ minutes to read)", self.opening, re.MULTILINE)
        if not found:
            raise ValueError(f"{self.notebook.name}: its opening must say “*N minutes to read”")
        return found[1]

    @property
    def goal(self) -> str:
        """`chapter.goal` is the first thing that its reader will be able to do."""
        found = re.search(rf"{GOALS}\s*\n\s*\n?- (.+?)[;.]?\s*(?:\n- |\n\n|\Z)", self.opening, re.DOTALL)
        if not found:
            raise ValueError(f"{self.notebook.name}: its opening must say “{GOALS}”, with a list")
        return " ".join(found[1].split())

    @property
    def solutions(self) -> str:
        """`chapter.solutions` is the code of its last section; '' in the edition that goes without."""
        sources = ["".join(cell["source"]) for cell in self.cells]
        early = list(itertools.takewhile(lambda source: not source.startswith(SOLUTIONS), sources))
        last = self.cells[len(early) :]
        return "\n\n".join("".join(cell["source"]) for cell in last if cell["cell_type"] == "code")

    @property
    def claims(self) -> list[dict[str, Any]]:
        """`chapter.claims[0]["sentence"]` is the first of its claims, as its outputs record them."""
        displayed = [output.get("data", {}) for cell in self.cells for output in cell.get("outputs", [])]
        return [data[CLAIM] for data in displayed if CLAIM in data]


def listed(contents: Path = CONTENTS) -> list[tuple[str, str]]:
    """`listed()` holds every page of the table of contents and its part: ("where-am-i", "What goes in")."""

    def pages(entry: Any, part: str) -> list[tuple[str, str]]:
        if isinstance(entry, list):
            return [page for one in entry for page in pages(one, part)]
        if not isinstance(entry, dict):
            return []
        part = entry.get("caption", part)
        here = [(entry[key], part) for key in ("root", "file") if key in entry]
        return here + [page for one in entry.values() for page in pages(one, part)]

    return pages(yaml.safe_load(contents.read_text(encoding="utf-8")), "")


def notebooks(book: Path = BOOK, contents: Path = CONTENTS) -> list[Chapter]:
    """`notebooks()` are the notebooks among the pages, in the order of the book: chapters and appendices."""
    found = [Chapter(book / f"{page}.ipynb", part) for page, part in listed(contents)]
    return [chapter for chapter in found if chapter.notebook.exists()]


def chapters(book: Path = BOOK, contents: Path = CONTENTS) -> list[Chapter]:
    """`chapters()` are those of them that teach, with exercises and a folder of their own."""
    return [chapter for chapter in notebooks(book, contents) if chapter.part != APPENDICES]


def chapter(package: str, book: Path = BOOK) -> Chapter:
    """`chapter("where_am_i").title` asks for one, by the name of its folder."""
    notebook = book / f"{package.replace('_', '-')}.ipynb"
    if not notebook.exists():
        known = ", ".join(sorted(path.stem.replace("-", "_") for path in book.glob("*.ipynb")))
        raise ValueError(f"chapter must be one of {known}, got {package!r}")
    return Chapter(notebook)
