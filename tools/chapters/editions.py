"""Write each chapter in two editions into _build/exercises: without its solutions, and its solutions alone.

student/ holds the chapters less their solutions and all outputs: what a student hands in has run there.
teacher/ holds, for each exercise, its task and its solution. Both hold a copy of the packages, of the sample
texts, of the stored weights and of the lists of requirements, so that they work wherever they are carried.
"""

import ast
import shutil
import symtable
from collections.abc import Iterator
from pathlib import Path

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from bookkit import registry
from tools import ROOT
from tools.chapters import notebooks, stamps

EDITIONS = ROOT / "_build" / "exercises"


def is_solution(cell: NotebookNode) -> bool:
    """A folded cell with a function called `solution`."""
    if cell.cell_type != "code" or "hide-cell" not in cell.metadata.get("tags", []):
        return False
    return any(isinstance(part, ast.FunctionDef) and part.name == "solution" for part in parsed(cell).body)


def parsed(cell: NotebookNode) -> ast.Module:
    return ast.parse(stamps.plain_python(cell))


def for_students(chapter: NotebookNode) -> NotebookNode:
    cells = [NotebookNode(cell) for cell in notebooks.before_solutions(chapter)]
    for cell in cells:
        if cell.cell_type == "code":  # as if it had never run
            cell.update(outputs=[], execution_count=None)
    student = edition(cells)
    # When it comes back, `make grade` can tell whether this book handed it out, or another release of it.
    student.metadata["attnlab"] = {"code": chapter.metadata["attnlab"]["code"]}
    return student


def for_teachers(chapter: NotebookNode) -> NotebookNode:
    tasks = {
        cell.source.partition("\n")[0].removeprefix("### "): cell
        for cell in chapter.cells
        if cell.cell_type == "markdown" and cell.source.startswith("### ")
    }
    cells: list[NotebookNode] = []
    for title, solution in solutions(chapter):
        # Not folded here, and with the check's report, which is stored with it.
        cells += [tasks[title], NotebookNode(solution | {"metadata": {}})]
    first = next(cell for cell in chapter.cells if cell.cell_type == "markdown")
    title = first.source.partition("\n")[0].removeprefix("# ")
    heading = new_markdown_cell(f"# Solutions: {title}", id="title")
    imports = new_code_cell("\n".join(needed_imports(chapter)), id="imports")
    return edition([heading, imports, *cells])


def solutions(chapter: NotebookNode) -> Iterator[tuple[str, NotebookNode]]:
    """Each exercise's title, and its solution: in one cell, where the chapter has several, too."""
    _, *last = chapter.cells[len(notebooks.before_solutions(chapter)) :]
    title, sources = "", list[str]()
    for cell in last:
        if cell.cell_type == "markdown":
            title = cell.source.strip("*")
            continue
        sources.append(cell.source)
        if is_solution(cell):
            yield title, NotebookNode(cell | {"source": "\n\n\n".join(sources)})
            sources = []


def needed_imports(chapter: NotebookNode) -> list[str]:
    """The chapter's import statements, as far as its solutions use what they bring."""
    used: set[str] = set()
    for _, cell in solutions(chapter):
        used |= set(outside_names(symtable.symtable(cell.source, "solution", "exec")))
    found = []
    for cell in notebooks.code_cells(chapter):
        for part in parsed(cell).body:
            if isinstance(part, ast.Import | ast.ImportFrom):
                bound = {alias.asname or alias.name.partition(".")[0] for alias in part.names}
                if used & bound:
                    found.append(ast.get_source_segment(cell.source, part) or ast.unparse(part))
    return list(dict.fromkeys(found))


def outside_names(scope: symtable.SymbolTable) -> Iterator[str]:
    """The names that code takes from outside its functions, whose own variables are left out."""
    for symbol in scope.get_symbols():
        if symbol.is_global() or scope.get_type() == "module":
            yield symbol.get_name()
    for inner in scope.get_children():
        yield from outside_names(inner)


def edition(cells: list[NotebookNode]) -> NotebookNode:
    made: NotebookNode = new_notebook(cells=cells, metadata=dict(notebooks.NOTEBOOK_METADATA))
    return made


def write(folder: Path = EDITIONS) -> Iterator[str]:
    """Make the folder anew, with a line about each file."""
    shutil.rmtree(folder, ignore_errors=True)
    for name, make in {"student": for_students, "teacher": for_teachers}.items():
        place = folder / name
        unwanted = shutil.ignore_patterns("__pycache__", ".ipynb_checkpoints")
        for part in (*stamps.PACKAGES, "models"):
            shutil.copytree(stamps.source() / part, place / part, ignore=unwanted)
        for name in ("requirements.txt", "model.txt"):
            shutil.copy(ROOT / name, place)
        for path in (chapter.notebook for chapter in registry.chapters()):
            chapter = notebooks.read(path)
            notebooks.write(make(chapter), place / path.name)
            count = sum(map(is_solution, chapter.cells))
            yield f"{name}/{path.name}: {count} solutions{' left out' if name == 'student' else ''}"


if __name__ == "__main__":
    for line in write():
        print(f"exercises: {EDITIONS.relative_to(ROOT)}/{line}")
