"""The house rules of attnlab: floors, style, types, and examples that run."""

import ast
import doctest
import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import notebooks
import pytest

import attnlab

# A room may import only from the floors below its own.
FLOORS = {
    "shapes": 0, "runtime": 0, "claims": 0,
    "scores": 1, "masks": 1, "positions": 1, "plots": 1, "explore": 1,
    "text": 1, "distributed_worker": 1,
    "attention": 2, "training": 2,
    "layers": 3,
    "exercises": 4,
}  # fmt: skip
# 92 characters are what the page shows of a line of code without scrolling.
CHAPTERS = ["--config", "extend-exclude=[]", "--config", "line-length=92", *notebooks.chapters()]
ROOMS = [module.name for module in pkgutil.walk_packages(attnlab.__path__, "attnlab.")]


def room(module):
    return module.split(".")[1]


@pytest.mark.parametrize("name", ROOMS)
def test_a_room_imports_only_from_floors_below(name):
    tree = ast.parse(Path(importlib.util.find_spec(name).origin).read_text(encoding="utf-8"))
    relative = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.level]
    assert not relative, "write imports in full: tools/notebooks.py follows them by name"
    for imported in notebooks.imported_modules(ast.unparse(tree)):
        if imported == "attnlab" or room(imported) == room(name):
            continue
        assert FLOORS[room(imported)] < FLOORS[room(name)], f"{name} imports {imported}"


@pytest.mark.parametrize("name", ROOMS)
def test_the_examples_in_docstrings_are_true(name):
    results = doctest.testmod(importlib.import_module(name))
    assert results.failed == 0


def public_things(name):
    module = importlib.import_module(name)
    for key, thing in vars(module).items():
        if not key.startswith("_") and getattr(thing, "__module__", None) == name and callable(thing):
            yield f"{name}.{key}", thing


def test_every_docstring_begins_with_an_example():
    for name in ROOMS:
        for label, thing in public_things(name):
            first = (thing.__doc__ or "").strip().splitlines()[0]
            is_error = isinstance(thing, type) and issubclass(thing, Exception)
            assert "`" in first or is_error, (
                f"{label}: its docstring begins {first!r}, which holds no example"
            )


@pytest.mark.parametrize(
    "command",
    [
        ["ruff", "check", "--no-cache"],
        ["ruff", "format", "--check", "--no-cache"],
        ["ruff", "format", "--check", "--no-cache", *CHAPTERS],
        ["ruff", "check", "--no-cache", *CHAPTERS],
        ["mypy"],
    ],
    ids=["ruff", "format", "format chapters", "ruff chapters", "mypy"],
)
def test_style_and_types(command):
    more = ["--cache-dir", str(notebooks.ROOT / ".mypy_cache")] if command == ["mypy"] else []
    run = subprocess.run(
        [sys.executable, "-m", *command, *more],
        cwd=notebooks.ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
