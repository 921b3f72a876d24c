"""What a committed chapter must be: executed from top to bottom, by the code that is committed with it.

`make refresh` makes chapters so, and test_notebooks.py keeps them so, by this one description.
`python -m tools.chapters.notebooks` lists what is wrong, for the hook that looks before a commit.
"""

import ast
import copy
import functools
import hashlib
import itertools
import json
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import nbformat
import yaml
from nbformat import NotebookNode

from bookkit import registry
from bookkit.mime_types import CHART, CLAIM, FIGURE, PICTURE
from tools import ROOT, release

BOOK = ROOT / "book"
PACKAGES = ("attnlab", "bookkit", "chapters")
LONGEST_CELL = 25  # lines: what a reader sees at once on a small screen
NOTEBOOK_METADATA = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    # As JupyterLab writes it; another Python puts its own number there when a chapter is opened.
    "language_info": {
        "codemirror_mode": {"name": "ipython", "version": 3},
        "file_extension": ".py",
        "mimetype": "text/x-python",
        "name": "python",
        "nbconvert_exporter": "python",
        "pygments_lexer": "ipython3",
        "version": "3.11.7",
    },
}


def chapters(book: Path = BOOK) -> list[Path]:
    return sorted(book.glob("*.ipynb"))


def read(path: Path) -> NotebookNode:
    notebook: NotebookNode = nbformat.read(path, as_version=4)
    return notebook


def write(notebook: NotebookNode, path: Path) -> None:
    """In the form in which JupyterLab saves a notebook, so that saving it there changes no line."""
    nbformat.write(notebook, path)


def code_cells(notebook: NotebookNode) -> list[NotebookNode]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def displays(cell: NotebookNode) -> Iterator[dict[str, Any]]:
    """The data of everything a cell displayed: MIME type to content."""
    for output in cell.outputs:
        if "data" in output:
            yield output.data


def claims(notebook: NotebookNode) -> list[dict[str, Any]]:
    return [data[CLAIM] for cell in code_cells(notebook) for data in displays(cell) if CLAIM in data]


def first_cell() -> str:
    """What every chapter begins with: Colab opens a chapter alone, and is not told where it came from."""
    settings = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    place = f"git+{settings['repository']['url']}@v{release.version()}"
    return f"""\
if "google.colab" in str(get_ipython()):  # Colab opens a chapter alone
    %pip install --quiet "attention-measured[colab] @ {place}\""""


def before_solutions(notebook: NotebookNode) -> list[NotebookNode]:
    """The chapter's cells but for its last section, whose place is a fold in viewers that know of none."""
    return list(itertools.takewhile(lambda cell: not cell.source.startswith("## Solutions"), notebook.cells))


# ---- which code made the outputs ----


@functools.cache  # a room is imported by nearly every chapter, and parsing it is what takes time
def imported_modules(source: str, name: str = "<code>") -> frozenset[str]:
    """`imported_modules("from bookkit import figures")` holds "bookkit" and "bookkit.figures"."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(source, name)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return frozenset(name for name in names if name.partition(".")[0] in PACKAGES)


def package_files(modules: Iterable[str], book: Path = BOOK) -> list[Path]:
    """Every file of the book that importing these modules reads, through all that they import in turn."""
    files: set[Path] = set()
    waiting = [*modules]
    while waiting:
        module = waiting.pop()
        parents = [module.rsplit(".", depth)[0] for depth in range(1, module.count(".") + 1)]
        place = book.joinpath(*module.split("."))
        file = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
        if file.exists() and file not in files:
            files.add(file)
            waiting += [*imported_modules(file.read_text(encoding="utf-8"), str(file)), *parents]
    if book / "attnlab" / "corpora" / "text.py" in files:
        files |= {
            file for file in (book / "attnlab" / "corpora" / "data" / "sample").rglob("*") if file.is_file()
        }
    for recipes in [file for file in files if file.name == "models.py"]:
        files |= {*(book / "models" / recipes.parent.name).glob("*.npz")}
    return sorted(files)


def plain_python(cell: NotebookNode) -> str:
    """The cell without IPython's own lines (%magic, !shell), which Python can't parse."""
    return re.sub(r"^( *)[%!].*", r"\1pass", cell.source, flags=re.MULTILINE)


def code_digest(notebook: NotebookNode, book: Path = BOOK) -> str:
    """Of the cells, and of all code and data that running them reads."""
    digest = hashlib.sha256()
    modules: set[str] = set()
    for number, cell in enumerate(code_cells(notebook), 1):
        digest.update(cell.source.encode() + b"\0")
        modules |= imported_modules(plain_python(cell), f"code cell {number}")
    for file in package_files(modules, book):
        digest.update(what_it_does(file) + b"\0")
    return digest.hexdigest()[:16]


def what_it_does(file: Path) -> bytes:
    """A module's code without comments and docstrings, which change nothing; another file as it is."""
    return without_words(file.read_text("utf-8"), str(file)) if file.suffix == ".py" else file.read_bytes()


DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


@functools.cache
def without_words(code: str, file: str) -> bytes:
    tree = ast.parse(code, file)
    for node in ast.walk(tree):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    return ast.unparse(tree).encode()


def outputs_digest(notebook: NotebookNode) -> str:
    """Of all that the cells gave. The picture of a chart is none of it: JupyterLab makes one of its own."""
    outputs = copy.deepcopy([cell.outputs for cell in code_cells(notebook)])
    for output in itertools.chain(*outputs):
        if CHART in output.get("data", {}):
            output.data.pop(PICTURE, None)
    return hashlib.sha256(json.dumps(outputs, sort_keys=True).encode()).hexdigest()[:16]


def stamp(notebook: NotebookNode, book: Path = BOOK) -> dict[str, str]:
    return {"code": code_digest(notebook, book), "outputs": outputs_digest(notebook)}


# ---- what is wrong with a chapter ----


def problems(path: Path, book: Path = BOOK, toc: Path = registry.CONTENTS) -> list[str]:
    """A line for each thing that keeps this chapter from being published, saying what mends it."""
    notebook = read(path)
    cells = code_cells(notebook)
    lines: list[str] = []

    counts = [cell.execution_count for cell in cells]
    if counts != list(range(1, len(cells) + 1)):
        lines.append(f"cells are not executed from top to bottom (counts {counts}): run `make refresh`")
    stored = notebook.metadata.get("attnlab", {})
    if stored.get("code") != code_digest(notebook, book):
        lines.append(
            "its outputs were made by other code than its cells and attnlab hold: run `make refresh`"
        )
    if stored.get("outputs") != outputs_digest(notebook):
        lines.append("its stored outputs were edited: run `make refresh`")
    if path.stem not in dict(registry.listed(toc)):
        lines.append("it is missing from _toc.yml: list it there")
    known = {*NOTEBOOK_METADATA, "attnlab"}
    if strays := set(notebook.metadata) - known:
        lines.append(f"stray metadata {sorted(strays)}: run `make refresh`")

    early = before_solutions(notebook)
    for number, cell in enumerate(cells, 1):
        where = f"code cell {number}"
        if "hide-cell" in cell.metadata.get("tags", []) and cell in early:
            lines.append(f"{where} is a solution: move it to the last section, “## Solutions”")
        if not cell.source.strip():
            lines.append(f"{where} is empty: remove it")
        if len(cell.source.splitlines()) > LONGEST_CELL:
            lines.append(f"{where} has more than {LONGEST_CELL} lines: split it")
        if any(output.output_type == "error" for output in cell.outputs) and not raises(cell):
            lines.append(f"{where} stores an error: mend it, or tag it raises-exception")
        figures = [data for data in displays(cell) if FIGURE in data]
        if len(figures) > 1:
            lines.append(
                f"{where} draws {len(figures)} figures: give each a cell, so that each has its alt text"
            )
        elif figures and not alt_text(cell).strip():
            lines.append(
                f"{where} draws a figure without alt text: give its function alt=, run `make refresh`"
            )
        for data in displays(cell):
            if "text/html" in data and "text/plain" not in data:
                lines.append(f"{where} shows HTML with no plain text beside it: nothing would compare it")
    return lines


def raises(cell: NotebookNode) -> bool:
    return "raises-exception" in cell.metadata.get("tags", [])


def alt_text(cell: NotebookNode) -> str:
    return str(cell.metadata.get("mystnb", {}).get("image", {}).get("alt", ""))


def all_problems(book: Path = BOOK, toc: Path = registry.CONTENTS) -> list[str]:
    return [f"{path.name}: {line}" for path in chapters(book) for line in problems(path, book, toc)]


if __name__ == "__main__":
    sys.exit("\n".join(all_problems()) or 0)
