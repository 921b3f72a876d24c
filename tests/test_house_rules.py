"""The house rules of the packages: floors, style, and examples that run."""

import ast
import builtins
import doctest
import importlib
import keyword
import os
import pkgutil
import re
import subprocess
import sys
import tokenize
from collections import Counter
from pathlib import Path

import pytest

import attnlab
import bookkit
import chapters
import checkup
from bookkit import registry
from tools import ROOT
from tools.chapters import notebooks, stamps

# 92 characters are what the page shows of a line of code without scrolling.
FOR_PAGES = ["--config", "extend-exclude=[]", "--config", "format.exclude=[]", "--config", "line-length=92"]
CHAPTERS = [*FOR_PAGES, *notebooks.chapters()]
CLAIMS = ROOT.glob("src/chapters/*/claims.py")  # which the pages show, too
PACKAGES = (attnlab, bookkit, chapters, checkup)
ROOMS = [
    module.name
    for package in PACKAGES
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
]
LINT_IMPORTS = Path(sys.executable).with_name("lint-imports")


def succeeds(*command, **variables):
    run = subprocess.run(command, cwd=ROOT, env=os.environ | variables, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr


def test_a_room_imports_only_from_below():
    """pyproject.toml says which room stands on which floor, and every room must be named there."""
    succeeds(LINT_IMPORTS, PYTHONPATH=os.pathsep.join(["book", *sys.path]))


@pytest.mark.parametrize("name", ROOMS)
def test_the_examples_in_docstrings_are_true(name):
    results = doctest.testmod(importlib.import_module(name))
    assert results.failed == 0


def test_every_docstring_begins_with_an_example():
    for name in ROOMS:
        if name.endswith((".accepted", ".claims")):
            continue  # written as readers write; each claim is a sentence of its own
        for key, thing in vars(importlib.import_module(name)).items():
            if not key.startswith("_") and getattr(thing, "__module__", None) == name and callable(thing):
                first = (thing.__doc__ or "").strip().splitlines()[0]
                is_error = isinstance(thing, type) and issubclass(thing, Exception)
                assert "`" in first or is_error, f"{name}.{key}: its docstring begins without an example"


def names_in(file):
    """All names of the code: those of its strings, and so of its docstrings, are none."""
    with tokenize.open(file) as code:
        return {each.string for each in tokenize.generate_tokens(code.readline) if each.type == tokenize.NAME}


def names_told(file):
    """The names that stand alone in backticks, like `PACKAGES`, in the docstrings of the code."""
    for node in stamps.statements(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            yield from re.findall(r"(?<!`)`([A-Za-z_]\w*)`(?!`)", ast.get_docstring(node) or "")


def test_a_name_in_a_docstring_exists():
    files = [file for package in PACKAGES for file in Path(package.__path__[0]).rglob("*.py")]
    known = {*dir(builtins), *keyword.kwlist, *".".join(ROOMS).split(".")}.union(*map(names_in, files))
    told = {(str(file), name) for file in files for name in names_told(file)}
    assert told, "no docstring tells a name"
    assert not {(file, name) for file, name in told if name not in known}


@pytest.mark.parametrize(
    "command",
    [
        ["ruff", "check", "--no-cache"],
        ["ruff", "format", "--check", "--no-cache"],
        ["ruff", "format", "--check", "--no-cache", *CHAPTERS, *CLAIMS],
        ["ruff", "check", "--no-cache", *CHAPTERS],
    ],
    ids=["ruff", "format", "format chapters", "ruff chapters"],
)
def test_style(command):
    succeeds(sys.executable, "-m", *command)


def files_of_code(*folders):
    files = [file for folder in folders for kind in ("*.py", "*.js", "*.mjs") for file in folder.rglob(kind)]
    return [file for file in files if "node_modules" not in file.parts]


def lines_of_file(file):
    return len(file.read_text("utf-8").splitlines())


def test_no_file_of_code_is_long_and_no_folder_of_the_packages_is_wide():
    files = files_of_code(*(ROOT / folder for folder in ("book", "src", "tools", "tests")))
    assert not {file.name for file in files if lines_of_file(file) > 450}
    folders = Counter(file.parent for file in files)
    packages = (ROOT / "src" / "attnlab", ROOT / "src" / "bookkit")
    assert not {f for f, count in folders.items() if count > 12 and any(map(f.is_relative_to, packages))}


def lines_in(*folders):
    return sum(map(lines_of_file, files_of_code(*folders)))


def test_the_tests_stay_lighter_than_half_of_what_they_test():
    assert lines_in(ROOT / "tests") <= 0.45 * lines_in(ROOT / "book", ROOT / "src", ROOT / "tools")


# Lines of code of a chapter, its folder and its notebook together, since checks and measurements move between
# the two: what a new one may have; what older ones had, which may only shrink. What is_it_any_good had of
# writing lies in a_gpt_of_your_own now, with a hundred of its lines. A training in the page takes fifty.
MOST = 2300
OLDER = {
    **{"the_transformer": 5150, "looking_inside": 4100, "fourteen_patients": 3900, "a_gpt_of_your_own": 3769},
    **{"translating_with_attention": 3400, "the_repair_shop": 3400},
    **{"three_ways_to_read_a_sequence": 2650, "is_it_any_good": 2535},
    # Six exercises, and what its page shows of heads that can't run there.
    **{"a_real_model_opened": 2610},
    **{"where_am_i": 2600, "many_heads": 2550, "from_words_to_vectors": 2400, "who_may_look_where": 2400},
}


def lines_of(chapter):
    cells = notebooks.code_cells(notebooks.read(chapter.notebook))
    folder = ROOT / "src" / "chapters" / chapter.package
    return lines_in(folder) + sum(len(cell.source.splitlines()) for cell in cells)


def test_no_chapter_outgrows_what_a_chapter_may_have():
    lines = {chapter.package: lines_of(chapter) for chapter in registry.chapters()}
    assert not {name: count for name, count in lines.items() if count > OLDER.get(name, MOST)}
