"""A chapter opens as a lesson. What proves it is there, folded, by one tag on a cell of code:

    headline      the rows of its claims stand open, its code is folded
    measurement   its code is folded; the figure, or what it prints, stands open
    bookkeeping   one line, such as “✓ 6 checks hold”, opens to its code and rows

Of a picture's code the page has a small mark in its corner. Code that does no more than call for a drawing is
in the notebook alone. MyST-NB folds the cells, and book.js opens all of them at once for those who wish.
"""

import ast
import json
import symtable
from typing import Any

from sphinx.application import Sphinx
from sphinx.util import logging

from bookkit.mime_types import CHART, CLAIM, DRAWING, FIGURE

logger = logging.getLogger(__name__)
FOLDS = {"headline": "hide-input", "measurement": "hide-input", "bookkeeping": "hide-cell"}
# A mark in the picture's corner, which says it to those who ask.
DRAWN = '<span class="mark" title="How this was drawn"><span class="unseen">How this was drawn</span></span>'
EVERYWHERE = {"device"}  # each chapter's set-up makes it, and says so
Cell = dict[str, Any]


def layer(cell: Cell) -> str | None:
    """`layer(cell)` is "headline", "measurement" or "bookkeeping", and None for a cell of the lesson."""
    found = [tag for tag in cell["metadata"].get("tags", []) if tag in FOLDS]
    if len(found) > 1:
        raise ValueError(f"it has the tags of two layers, {' and '.join(found)}: leave one")
    if found and cell["cell_type"] != "code":
        raise ValueError(f"it is text, and the tag {found[0]} is for code")
    return found[0] if found else None


def prompt(layer: str, cell: Cell) -> str:
    """What stands in the place of what is folded."""
    if layer == "bookkeeping":
        count = sum(CLAIM in output.get("data", {}) for output in cell["outputs"])
        if not count:
            raise ValueError("it is tagged bookkeeping and claims nothing: a measurement?")
        return "✓ 1 check holds" if count == 1 else f"✓ {count} checks hold"
    if not cell["outputs"]:
        return "Set-up"
    if layer == "headline":
        return "How this was checked"
    drawn = any({CHART, DRAWING, FIGURE} & output.get("data", {}).keys() for output in cell["outputs"])
    return DRAWN if drawn else "How this was measured"


def only_draws(cell: Cell) -> bool:
    """Whether all that it does is to call for a drawing: `drawings.two_drawers()`."""
    match ast.parse("".join(cell["source"])).body:
        case [ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id="drawings"))))]:
            return True
    return False


def fold(cell: Cell, layer: str) -> None:
    """Say in MyST-NB's words what the tag of the layer means."""
    words = prompt(layer, cell)
    if words == DRAWN and only_draws(cell):
        cell["metadata"]["tags"] += ["remove-input"]
        return
    cell["metadata"]["tags"] += [FOLDS[layer]]
    cell["metadata"].setdefault("mystnb", {}).setdefault("code_prompt_show", words)


def names(code: str) -> tuple[set[str], set[str]]:
    """`names("y = f(x)")` is ({"y"}, {"f", "x"}): what a cell makes, but for imports, and what it takes."""
    whole = symtable.symtable(code, "cell", "exec")
    made = {name.get_name() for name in whole.get_symbols() if name.is_assigned() and not name.is_imported()}
    scopes = [whole]
    for scope in scopes:
        scopes += scope.get_children()
    taken = {
        name.get_name()
        for scope in scopes
        for name in scope.get_symbols()
        if name.is_referenced() and (scope is whole or name.is_global())
    }
    return made, taken - made


class Lesson:
    """What the open cells, from the first on, use without its having been defined before their readers."""

    def __init__(self) -> None:
        self.folded: dict[str, str] = {}  # a name, and the cell whose fold hides where it comes from

    def read(self, cell: Cell, name: str, layer: str | None) -> None:
        """Take the next cell; an open one may not use a name whose only definition is folded."""
        try:
            made, taken = names("".join(cell["source"]))
        except SyntaxError:  # a line of IPython's own
            return
        if layer:
            self.folded |= dict.fromkeys(made - EVERYWHERE, name)
            return
        for one in sorted(taken & self.folded.keys()):
            raise ValueError(
                f"it uses {one}, which {self.folded[one]} defines in a fold: open that, or fold this"
            )
        for one in made:
            self.folded.pop(one, None)


def read(app: Sphinx, page: str, source: list[str]) -> None:
    if not app.env.doc2path(page).endswith(".ipynb"):
        return
    notebook = json.loads(source[0])
    lesson = Lesson()
    for number, cell in enumerate(notebook["cells"], 1):
        try:
            its = layer(cell)
            if cell["cell_type"] == "code" and "hide-cell" not in cell["metadata"].get("tags", []):
                lesson.read(cell, f"cell {number}", its)
            if its:
                fold(cell, its)
        except ValueError as reason:
            logger.error("%s.ipynb: cell %d: %s", page, number, reason)
    source[0] = json.dumps(notebook)


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("source-read", read)
    return {"parallel_read_safe": True}
