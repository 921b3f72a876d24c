"""Re-execute the chapters whose code changed, and store them clean.

A chapter is executed when its cells, or a file of the packages that they import, differ from what made its
stored outputs. With --all every chapter is executed. One that still says the same keeps the outputs that it
has or, after a reader's run in JupyterLab, those that were committed: what it measured (shown in a claim,
never compared) may differ in its last digits from run to run.
"""

import argparse
import ast
import base64
import contextlib
import copy
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import nbclient
import nbformat
import vl_convert
from nbformat import NotebookNode

from bookkit import registry
from bookkit.checking import report
from bookkit.mime_types import CHART, CLAIM, FIGURE, PICTURE, with_copies, without_copies
from bookkit.stored import ANEW
from tools.chapters import known_mistakes, likeness, notebooks, readme, stamps
from tools.progress import Progress

NOT_COMPARED = {"text/html", CLAIM, PICTURE}  # as in conftest.py


# The tags of solutions, of the cell for Colab, and of the layers below the lesson (book/_ext/folds.py).
FOLDED = {"hide-cell", "remove-cell", "headline", "measurement", "bookkeeping"}


def execute(
    notebook: NotebookNode, book: Path = notebooks.BOOK, variables: Mapping[str, str] | None = None
) -> NotebookNode:
    """The notebook with what its cells put out, in which what it has stored was measured anew."""
    fresh = NotebookNode(notebook)
    client = nbclient.NotebookClient(
        fresh, timeout=900, kernel_name="python3", coalesce_streams=True,
        resources={"metadata": {"path": str(book)}},
        extra_arguments=["--IPKernelApp.log_level=ERROR"],  # no word on how it is talked to
    )  # fmt: skip
    own = {"PYTHONPATH": os.pathsep.join([str(stamps.source(book)), os.environ.get("PYTHONPATH", "")])}
    own |= {"ATTNLAB_DEVICE": "cpu", "ATTNLAB_ONLY_SAMPLE": "1", ANEW: "1"}
    client.execute(env=os.environ | own | dict(variables or {}))
    return fresh


def normalise(notebook: NotebookNode, book: Path = notebooks.BOOK) -> NotebookNode:
    notebook.metadata = NotebookNode({**notebooks.NOTEBOOK_METADATA})
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    for cell in notebook.cells:
        cell.source = cell.source.rstrip()
        for stray in ("execution", "collapsed", "scrolled", "trusted"):
            cell.metadata.pop(stray, None)
        if cell.cell_type == "code":
            fold(cell)
            describe(cell)
            for output in cell.outputs:
                if "data" in output:
                    output.data = NotebookNode(without_copies(output.data))
    notebook.metadata["attnlab"] = stamps.stamp(notebook, book)
    return notebook


def name_release(notebook: NotebookNode) -> NotebookNode:
    """The same notebook, whose cell for Colab names the release that pyproject.toml does."""
    for cell in notebook.cells:
        if cell.id == "colab":
            cell.source = notebooks.cell_for_colab(notebook)
    return notebook


def fold(cell: NotebookNode) -> None:
    """What the site folds or leaves out is folded in JupyterLab (source_hidden) and in Colab (cellView)."""
    for setting in ("jupyter", "cellView"):
        cell.metadata.pop(setting, None)
    if FOLDED & {*cell.metadata.get("tags", [])}:
        cell.metadata |= {"jupyter": {"source_hidden": True}, "cellView": "form"}


def describe(cell: NotebookNode) -> None:
    """Words for each picture, a picture for each chart.

    A figure's alt text is written once, in the cell's code; the site reads it from the metadata.
    """
    for output in cell.outputs:
        data = output.get("data", {})
        if FIGURE in with_copies(data):
            image = cell.metadata.setdefault("mystnb", NotebookNode()).setdefault("image", NotebookNode())
            image["alt"] = data["text/plain"]
        if CHART in data:
            drawn = vl_convert.vegalite_to_png(data[CHART])
            data[PICTURE] = base64.b64encode(drawn).decode()
            cell.metadata["alt"] = data["text/plain"]  # where nbconvert looks for it


def compared(outputs: list[Any]) -> list[dict[str, Any]]:
    """What nbval compares of a cell's outputs: all but the measured values."""
    return [
        {kind: content for kind, content in output.get("data", output).items() if kind not in NOT_COMPARED}
        for output in outputs
    ]


def says_the_same(stored: NotebookNode, fresh: NotebookNode) -> bool:
    """Whether nbval, as conftest.py sets it up, finds in the one chapter what the other has stored."""
    cells = zip(notebooks.code_cells(stored), notebooks.code_cells(fresh), strict=True)
    pairs = (likeness.in_words(was.outputs, now.outputs) for was, now in cells)
    return all(compared(was) == compared(now) for was, now in pairs)


def committed(path: Path) -> NotebookNode | None:
    """The chapter as the last commit has it; None where there is none."""
    command = ["git", "-C", str(path.parent), "show", f"HEAD:./{path.name}"]
    try:
        run = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)
        return nbformat.reads(run.stdout, as_version=4) if run.returncode == 0 else None
    except (FileNotFoundError, nbformat.reader.NotJSONError):  # no git, or no notebook
        return None


def keep_outputs(fresh: NotebookNode, known: NotebookNode | None) -> None:
    """Where the same code said the same before, its outputs stay: nothing but measured digits may differ."""
    if known is None or known.metadata.get("attnlab") != stamps.stamp(known):
        return
    same_code = stamps.code_digest(known) == stamps.code_digest(fresh)
    if same_code and says_the_same(known, fresh):
        for cell, before in zip(notebooks.code_cells(fresh), notebooks.code_cells(known), strict=True):
            cell.outputs = before.outputs


def refresh(path: Path, everything: bool) -> str:
    """One word for what was done."""
    before = path.read_bytes()
    stamps.read(path)  # which says what mends a broken one
    stored = name_release(notebooks.read(path))
    fresh = copy.deepcopy(stored)
    execute_it = everything or stored.metadata.get("attnlab", {}) != stamps.stamp(stored)
    if execute_it:
        fresh = execute(fresh)
    # First what a reader's run has left here, then what was committed.
    for known in (stored, committed(path)):
        keep_outputs(fresh, known)
    notebooks.write(normalise(fresh), path)
    if path.read_bytes() != before:
        return "stored"
    return "same" if execute_it else "unchanged"


def note_solutions() -> bool:
    """Whether the digests by which a check knows the book's own solutions had to be changed."""
    codes = [chapter.solutions for chapter in registry.chapters()]
    digests = {
        # Whole lines, as inspect gives them: a comment may stand at the end of the last.
        report.digest("\n".join(code.split("\n")[part.lineno - 1 : part.end_lineno]))
        for code in codes
        for part in ast.parse(code).body
        if isinstance(part, ast.FunctionDef) and part.name == "solution"
    }
    before = report.SOLUTIONS.read_text(encoding="utf-8")
    report.SOLUTIONS.write_text("".join(f"{each}\n" for each in sorted(digests)), encoding="utf-8")
    return report.SOLUTIONS.read_text(encoding="utf-8") != before


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--all", action="store_true", help="execute every chapter")
    everything = parser.parse_args().all
    failed, changed = 0, set()
    paths = notebooks.chapters()
    # First of all: what a check says hangs on whether it knows the solution. A broken chapter is told below.
    with contextlib.suppress(SyntaxError, ValueError, KeyError):
        if note_solutions():
            print("refresh: solutions.txt: stored")
    with Progress("refresh") as progress:
        for place, path in enumerate(paths):
            progress.at(place / len(paths), path.stem)
            started = time.monotonic()
            try:
                done = refresh(path, everything)
                if done != "unchanged":
                    changed.add(path.stem.replace("-", "_"))
            except (nbclient.exceptions.CellExecutionError, SyntaxError, stamps.BrokenNotebookError) as error:
                failed += 1
                done = f"failed: {error}"
            progress.say(f"refresh: {path.name}: {done} ({time.monotonic() - started:.0f} s)")
    if readme.write():
        print("refresh: README.md: stored")
    if known_mistakes.note(changed):
        print("refresh: known_mistakes.json: stored")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
