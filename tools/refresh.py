"""Re-execute the chapters whose code changed, and store them clean.

A chapter is executed when its cells, or a file of attnlab that they import, differ from what made its stored
outputs. With --all every chapter is executed; one that still says the same is left as it is, since what it
measured (shown in a claim, never compared) may differ in its last digits from run to run.
"""

import argparse
import os
import sys
import time
from pathlib import Path

import nbclient
import notebooks
import readme
from nbformat import NotebookNode

from bookkit.mime_types import CLAIM, FIGURE

NOT_COMPARED = {"text/html", CLAIM}  # as in conftest.py


def execute(notebook: NotebookNode, book: Path = notebooks.BOOK) -> NotebookNode:
    fresh = NotebookNode(notebook)
    client = nbclient.NotebookClient(
        fresh, timeout=300, kernel_name="python3", coalesce_streams=True,
        resources={"metadata": {"path": str(book)}},
    )  # fmt: skip
    client.execute(env=os.environ | {"ATTNLAB_DEVICE": "cpu", "ATTNLAB_ONLY_SAMPLE": "1"})
    return fresh


def normalise(notebook: NotebookNode, book: Path = notebooks.BOOK) -> NotebookNode:
    notebook.metadata = NotebookNode({**notebooks.NOTEBOOK_METADATA})
    for cell in notebook.cells:
        cell.source = cell.source.rstrip()
        for stray in ("execution", "collapsed", "scrolled", "trusted"):
            cell.metadata.pop(stray, None)
        if cell.cell_type == "code":
            describe_figure(cell)
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    notebook.metadata["attnlab"] = notebooks.stamp(notebook, book)
    return notebook


def describe_figure(cell: NotebookNode) -> None:
    """A figure's alt text is written once, in the cell's code; the site reads it from the metadata."""
    for data in notebooks.displays(cell):
        if FIGURE in data:
            image = cell.metadata.setdefault("mystnb", NotebookNode()).setdefault("image", NotebookNode())
            image["alt"] = data["text/plain"]


def compared(notebook: NotebookNode) -> list:
    """What nbval compares of a chapter: its outputs without the measured values."""
    return [
        [
            {
                kind: content
                for kind, content in output.get("data", output).items()
                if kind not in NOT_COMPARED
            }
            for output in cell.outputs
        ]
        for cell in notebooks.code_cells(notebook)
    ]


def refresh(path: Path, everything: bool) -> str:
    """One word for what was done."""
    stored = notebooks.read(path)
    fits = stored.metadata.get("attnlab", {}) == notebooks.stamp(stored)
    if fits and not everything:
        return "unchanged"
    fresh = normalise(execute(notebooks.read(path)))
    if fits and compared(fresh) == compared(stored):
        return "same"
    notebooks.write(fresh, path)
    return "stored"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--all", action="store_true", help="execute every chapter")
    everything = parser.parse_args().all
    failed = 0
    for path in notebooks.chapters():
        started = time.monotonic()
        try:
            done = refresh(path, everything)
        except (nbclient.exceptions.CellExecutionError, SyntaxError) as error:
            failed += 1
            done = f"failed: {error}"
        print(f"refresh: {path.name}: {done} ({time.monotonic() - started:.0f} s)", flush=True)
    if readme.write():
        print("refresh: README.md: stored")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
