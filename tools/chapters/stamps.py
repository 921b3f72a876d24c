"""Which code made a chapter's outputs: a stamp that is the same on every Python and every system.

It needs the standard library alone, so that any Python at hand can work it out.
"""

import ast
import functools
import hashlib
import io
import json
import re
import tokenize
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from tools import ROOT

BOOK = ROOT / "book"
PACKAGES = ("attnlab", "bookkit", "chapters", "checkup")
# As bookkit.mime_types names them, which a Python without the book can't import.
CHART, PICTURE = "application/vnd.vegalite.v5+json", "image/png"
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)

Notebook = dict[str, Any]  # as its file has it, or as nbformat reads it


class BrokenNotebookError(ValueError):
    """A file that is no notebook, or half of one."""


def read(path: Path) -> Notebook:
    try:
        notebook: Notebook = json.loads(path.read_text(encoding="utf-8"))
        notebook["cells"]
    except (ValueError, KeyError, TypeError) as error:
        mend = f"restore it, as by `git checkout HEAD -- book/{path.name}`"
        raise BrokenNotebookError(f"{path.name} is no whole notebook ({error}): {mend}") from None
    return notebook


def stamp(notebook: Notebook, book: Path = BOOK) -> dict[str, str]:
    return {"code": code_digest(notebook, book), "outputs": outputs_digest(notebook)}


def code_digest(notebook: Notebook, book: Path = BOOK) -> str:
    """Of the cells, and of all code and data that running them reads."""
    digest = hashlib.sha256()
    modules: set[str] = set()
    for number, cell in enumerate(code_cells(notebook), 1):
        digest.update(text(cell["source"]).encode() + b"\0")
        modules |= imported_modules(plain_python(cell), f"code cell {number}")
    for file in package_files(modules, book):
        digest.update(file.relative_to(source(book)).as_posix().encode() + b"\0" + what_it_does(file) + b"\0")
    return digest.hexdigest()[:16]


def outputs_digest(notebook: Notebook) -> str:
    """Of all that the cells gave. The picture of a chart is none of it: JupyterLab makes one of its own."""
    outputs = [[in_one_piece(output) for output in cell["outputs"]] for cell in code_cells(notebook)]
    return hashlib.sha256(json.dumps(outputs, sort_keys=True).encode()).hexdigest()[:16]


def code_cells(notebook: Notebook) -> list[Any]:
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def text(lines: str | list[str]) -> str:
    """A notebook's file has text line by line, and nbformat joins it."""
    return "".join(lines)


def in_one_piece(output: dict[str, Any]) -> dict[str, Any]:
    if "text" in output:
        return output | {"text": text(output["text"])}
    if "data" not in output:
        return output
    data = {
        kind: content if kind.endswith("json") else text(content)
        for kind, content in output["data"].items()
        if kind != PICTURE or CHART not in output["data"]
    }
    return output | {"data": data}


# ---- what running the cells reads ----


def statements(tree: ast.AST) -> Iterator[ast.AST]:
    """The tree and each statement in it; `ast.walk` goes through all that they consist of, too."""
    yield tree
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.stmt | ast.ExceptHandler | ast.match_case):
            yield from statements(node)


@functools.cache  # a room is imported by nearly every chapter, and parsing it is what takes time
def imported_modules(source: str, name: str = "<code>") -> frozenset[str]:
    """`imported_modules("from bookkit import figures")` holds "bookkit" and "bookkit.figures"."""
    names: set[str] = set()
    for node in statements(ast.parse(source, name)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return frozenset(name for name in names if name.partition(".")[0] in PACKAGES)


def plain_python(cell: dict[str, Any]) -> str:
    """The cell without IPython's own lines (%magic, !shell), which Python can't parse."""
    return re.sub(r"^( *)[%!].*", r"\1pass", text(cell["source"]), flags=re.MULTILINE)


def source(book: Path = BOOK) -> Path:
    """Where the packages are that the chapters of this book import."""
    return book.parent / "src"


def package_files(modules: Iterable[str], book: Path = BOOK) -> list[Path]:
    """Every file of the book that importing these modules reads, through all that they import in turn."""
    files: set[Path] = set()
    waiting = [*modules]
    while waiting:
        module = waiting.pop()
        parents = [module.rsplit(".", depth)[0] for depth in range(1, module.count(".") + 1)]
        place = source(book).joinpath(*module.split("."))
        file = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
        if file.exists() and file not in files:
            files.add(file)
            waiting += [*imported_modules(file.read_text(encoding="utf-8"), str(file)), *parents]
    if source(book) / "attnlab" / "corpora" / "text.py" in files:
        found = (source(book) / "attnlab" / "corpora" / "data" / "sample").rglob("[!.]*")  # without .DS_Store
        files |= {file for file in found if file.is_file()}
    for recipes in [file for file in files if file.name == "models.py"]:
        files |= {*(source(book) / "models" / recipes.parent.name).glob("*.npz")}
    return sorted(files, key=Path.as_posix)


def what_it_does(file: Path) -> bytes:
    """A module's code without comments and docstrings, which change nothing; another file as it is."""
    if file.suffix == ".py":
        return without_words(file.read_text("utf-8"), str(file))
    # Git may have given a text the line ends of the system.
    return file.read_bytes() if file.suffix == ".npz" else file.read_bytes().replace(b"\r\n", b"\n")


@functools.cache
def without_words(code: str, file: str) -> bytes:
    """The lines of the code as they stand, but for comments, docstrings, and blanks outside of strings.

    They are cut out by position: code that Python makes of a tree is not the same in each of its versions.
    """
    lines = [b"", *code.encode().splitlines()]  # counted from 1, and columns in bytes, as in a tree
    tree = ast.parse(code, file)
    ended = {0}  # the lines whose end is not within a string
    for kind, words, (row, _), _, _ in tokenize.generate_tokens(io.StringIO(code).readline):
        if kind == tokenize.COMMENT:
            lines[row] = lines[row].rstrip().removesuffix(words.rstrip().encode())
        elif kind in (tokenize.NEWLINE, tokenize.NL):
            ended.add(row)
    for node in statements(tree):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            docstring = node.body[0]
            first, last = docstring.lineno, docstring.end_lineno or docstring.lineno
            before, after = lines[first][: docstring.col_offset], lines[last][docstring.end_col_offset :]
            for row in range(first, last):
                lines[row] = b""
                ended.add(row)
            lines[last] = before + after
    kept = (line.rstrip() if row in ended else line for row, line in enumerate(lines))
    return b"\n".join(line for row, line in enumerate(kept) if line or row not in ended)
