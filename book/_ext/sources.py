"""What a chapter's code uses of the book's packages opens in place: its own lines, from that very file.

After the first cell that uses `train`, of `from attnlab.training.loop import train`, stands a fold "train,
from attnlab.training.loop". Where the cell's code is folded, this is folded with it. In JupyterLab `train??`
says the same. Pictures are left out, what a chapter's exercises check, and what makes the machine ready.

A line such as `claims.softmax(softmax)` calls a function of the chapter's own claims.py, whose lines stand
under it at once: they are what one opens its fold for.
"""

import ast
from collections.abc import Iterator
from functools import cache
from html import escape
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

from bookkit.registry import PACKAGES

READ = ("attnlab", "chapters")  # packages
LEFT_OUT = {"charts", "drawings", "exercise_drawings", "exercises", "figures", "runtime"}  # rooms
CLAIMS = "claims"  # the room of what is checked
NOT_READ = {"tag_bookkeeping", "tag_hide-cell", "tag_remove-cell", "tag_remove-input"}


class Sources(SphinxTransform):
    default_priority = 400  # before what is to be folded is

    def apply(self, **kwargs: Any) -> None:
        reader = Reader()
        for code in list(self.document.findall(is_code)):
            (literal,) = code.children
            shows = not NOT_READ & {*code.parent["classes"]}
            for name, module, source in reader.read(literal.astext(), shows):
                code += listing(source) if module.endswith(f".{CLAIMS}") else fold(name, module, source)


def is_code(node: nodes.Node) -> bool:
    """What MyST-NB makes of the code of a cell."""
    return isinstance(node, nodes.container) and node.get("nb_element") == "cell_code_source"


def listing(source: str) -> nodes.Node:
    return nodes.literal_block(source, source, language="python")


def fold(name: str, module: str, source: str) -> list[nodes.Node]:
    words = f"<code>{escape(name)}</code>, from <code>{escape(module)}</code>"
    return [
        nodes.raw("", f'<details class="source"><summary>{words}</summary>', format="html"),
        listing(source),
        nodes.raw("", "</details>", format="html"),
    ]


class Reader:
    """Reads a chapter's code, a cell after the other, and knows what has been shown."""

    def __init__(self) -> None:
        self.imported: dict[str, tuple[str, str]] = {}  # name -> its module, and what it is called there
        self.shown: set[tuple[str, str]] = set()

    def read(self, code: str, shows: bool) -> Iterator[tuple[str, str, str]]:
        """`reader.read("train(model)", shows=True)` gives each new name, its module, its source."""
        try:
            tree = ast.parse(code)
        except SyntaxError:  # a line of IPython's own
            return
        self.imported |= imports(tree)
        for part in ast.walk(tree):
            yield from self._first(part, shows)

    def _first(self, part: ast.AST, shows: bool) -> Iterator[tuple[str, str, str]]:
        match part:
            case ast.Attribute(value=ast.Name(id=base), attr=name) if base in self.imported:
                module = ".".join(self.imported[base])
            case ast.Name(id=used) if used in self.imported:
                module, name = self.imported[used]
            case _:
                return
        rooms = {*module.split(".")}
        if LEFT_OUT & rooms or not (shows or CLAIMS in rooms) or not (found := definition(module, name)):
            return
        if found in self.shown:
            return
        self.shown.add(found)
        home, source = found
        yield name, home, source
        if CLAIMS in rooms:
            yield from self._inside(home, source, shows)

    def _inside(self, home: str, source: str, shows: bool) -> Iterator[tuple[str, str, str]]:
        """What a function of claims.py uses of that file, and of what the file imports."""
        tree = ast.parse(PACKAGES.joinpath(*home.split(".")).with_suffix(".py").read_text("utf-8"))
        here = {part.name: (home, part.name) for part in tree.body if isinstance(part, ast.FunctionDef)}
        given = {part.arg for part in ast.walk(ast.parse(source)) if isinstance(part, ast.arg)}
        inner = Reader()
        inner.shown = self.shown
        inner.imported = {name: at for name, at in (imports(tree) | here).items() if name not in given}
        yield from inner.read(source, shows)


def imports(tree: ast.AST) -> dict[str, tuple[str, str]]:
    """`imports(ast.parse("from attnlab.masks import causal as mask"))` is mask's module and name."""
    return {
        each.asname or each.name: (part.module or "", each.name)
        for part in ast.walk(tree)
        if isinstance(part, ast.ImportFrom) and (part.module or "").partition(".")[0] in READ
        for each in part.names
    }


@cache
def definition(module: str, name: str) -> tuple[str, str] | None:
    """`definition("attnlab.training.loop", "train")` is its module and its lines; None for no code."""
    path = PACKAGES.joinpath(*module.split("."))
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    if not file.exists():
        return None
    text = file.read_text("utf-8")
    for part in ast.parse(text).body:
        if isinstance(part, ast.FunctionDef | ast.ClassDef) and part.name == name:
            first = min([part.lineno, *(each.lineno for each in part.decorator_list)])
            return module, "\n".join(text.splitlines()[first - 1 : part.end_lineno])
        if isinstance(part, ast.ImportFrom) and part.module and name in [each.name for each in part.names]:
            return definition(part.module, name)
    return None


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_transform(Sources)
    return {"parallel_read_safe": True}
