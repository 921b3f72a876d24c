"""Do the tests notice? Each week other lines of the code are made wrong, one at a time, and a test must fail.

Which lines, the date says, so that a year sees most of the code: `make mutants`, or SEED=2026-11-30 to see
those of another day again. Some of them change nothing that could be noticed, so a share may live: those
that do are printed, to be looked at by a person, who adds a test or leaves them.
"""

import argparse
import ast
import datetime
import functools
import itertools
import os
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tools import ROOT
from tools.progress import Progress

COPIED = ("src", "book/_static", "tools")
# The tests that run the scripts in Node.
SCRIPTS = ("models_in_node", "states_and_pytorch", "training_scripts", "truth_script", "live_scripts")
MANY = 60
# Of 120 in exercises half lived: most were numbers of a case that might as well be others.
MOST_THAT_LIVE = 0.6
QUICK = "not slow and not thorough and not weekly"  # the others need the site, or too long
TOO_LONG = 300  # seconds, far above what the tests of one part take
# All passed, or there was no test to run.
UNNOTICED = (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    **{ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult},
    **{ast.MatMult: ast.Mult, ast.Pow: ast.Mult},
}
COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    **{ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt},
    **{ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In},
    **{ast.Is: ast.IsNot, ast.IsNot: ast.Is},
}
# In a script: what stands there, and what stands there then.
IN_SCRIPTS = {
    r" \+ ": " - ", r" - ": " + ", r" \* ": " + ", r" / ": " * ", r" < ": " <= ", r" > ": " >= ",
    r" === ": " !== ", r" !== ": " === ", r" && ": " || ", r" \|\| ": " && ", r"\btrue\b": "false",
    r"(?<![\w.#])1\b": "2",
}  # fmt: skip


class Mutant(NamedTuple):
    """`Mutant("src/attnlab/masks.py", 12, "a < b", "a <= b", …)`: `text` is the file with this fault."""

    file: str
    line: int
    right: str
    wrong: str
    text: str

    def __str__(self) -> str:
        right, wrong = (" ".join(words.split())[:60] for words in (self.right, self.wrong))
        return f"{self.file}:{self.line}: {right} → {wrong}"


def wrong(node: ast.AST) -> ast.AST | None:
    """`wrong(ast.parse("a < b", mode="eval").body)` is a <= b; None: nothing goes in the node's place."""
    match node:
        case ast.BinOp(left, op, right) if type(op) in OPERATORS:
            return ast.BinOp(left, OPERATORS[type(op)](), right)
        case ast.Compare(left, [op], right):
            return ast.Compare(left, [COMPARISONS[type(op)]()], right)
        case ast.BoolOp(op, values):
            return ast.BoolOp(ast.Or() if isinstance(op, ast.And) else ast.And(), values)
        case ast.Constant(bool(value)):
            return ast.Constant(not value)
        case ast.Constant(int(value) | float(value)):
            return ast.Constant(value + 1)
        case ast.UnaryOp(ast.USub() | ast.Not(), operand):
            return operand
        case ast.Lambda(ast.arguments(args=[first, *_]) as given):
            return ast.Lambda(given, ast.Name(first.arg))
        case ast.Return(ast.expr()):
            return ast.Return()
    return None


def of_python(file: str, source: str) -> Iterator[Mutant]:
    """All that `wrong` makes of the code, but for annotations."""
    data = source.encode()
    starts = list(itertools.accumulate(map(len, data.splitlines(keepends=True)), initial=0))
    tree = ast.parse(source)
    tops = [getattr(node, name, None) for node in ast.walk(tree) for name in ("annotation", "returns")]
    types = {node for top in tops if isinstance(top, ast.AST) for node in ast.walk(top)}
    for node in ast.walk(tree):
        if node in types or not isinstance(node, ast.expr | ast.stmt) or not (new := wrong(node)):
            continue
        start, end = starts[node.lineno - 1] + node.col_offset, starts[(node.end_lineno or 0) - 1]
        end += node.end_col_offset or 0
        words = f"({ast.unparse(new)})" if isinstance(new, ast.expr) else ast.unparse(new)
        text = (data[:start] + words.encode() + data[end:]).decode()
        yield Mutant(file, node.lineno, data[start:end].decode(), words, text)


def of_a_script(file: str, source: str) -> Iterator[Mutant]:
    """By signs between spaces, which comments hardly have."""
    for pattern, new in IN_SCRIPTS.items():
        for found in re.finditer(pattern, source):
            line = source.count("\n", 0, found.start()) + 1
            text = source[: found.start()] + new + source[found.end() :]
            words = source.splitlines()[line - 1]
            if not words.strip().startswith(("//", "*", "/*")):
                yield Mutant(file, line, words.strip(), new.strip(), text)


def of(file: str) -> list[Mutant]:
    """`of("src/attnlab/masks.py")` are all its mutants that are still code."""
    source = (ROOT / file).read_text(encoding="utf-8")
    return [*(of_a_script if file.endswith(".js") else of_python)(file, source)]


def drawn(many: int, seed: str) -> list[Mutant]:
    """From files drawn by their length: so each line of the code is as likely as any other."""
    dice = random.Random(seed)
    files = sorted(
        str(path.relative_to(ROOT))
        for folder in COPIED
        for path in (ROOT / folder).rglob("*")
        if path.suffix in (".py", ".js") and path.name != "accepted.py"
    )
    lengths = [len((ROOT / file).read_text(encoding="utf-8").splitlines()) for file in files]
    found: list[Mutant] = []
    while len(found) < many:
        (file,) = dice.choices(files, lengths)
        if (possible := of(file)) and (one := dice.choice(possible)) not in found:
            found.append(one)
    return found


def tests_of(file: str) -> list[str]:
    """What is asked about a file: the tests of its part of the house; of an exercise those that name it."""
    match Path(file).parts:
        case ("src", "chapters", chapter, "exercises", name) if name != "__init__.py":
            exercise = re.sub(r"(_mistakes|_parts)?\.py$", "", name)
            return ["tests/chapters", "-k", f"{exercise} or test_{chapter}"]
        case ("src", "chapters", chapter, *_):
            return ["tests/chapters", f"book/{chapter.replace('_', '-')}.ipynb", "-k", f"{chapter} or ipynb"]
        case ("book", "_static", *_):
            return [f"tests/site/test_{name}.py" for name in SCRIPTS]
        case ("book", "_ext", *_):
            return ["tests/site"]
        case ("src", "bookkit", "checking", "mistakes", *_):
            return ["tests/bookkit/checking", "tests/chapters/test_exercises.py", "-k", "mistake"]
        case ("src", package, *_):
            return [f"tests/{package}"]
    return ["tests/tools"]


def copied(to: Path) -> None:
    """The last commit, in a repository of its own, since some tests ask git; what is installed is linked."""
    subprocess.run(["git", "clone", "--quiet", ROOT, to], check=True)
    (to / "node_modules").symlink_to(ROOT / "node_modules")


def status(tests: list[str], project: Path) -> int | None:
    """pytest's, at the first test that fails; None where they hang."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-n", "0", "-m", QUICK, *tests]
    path = {"PYTHONPATH": str(project / "src"), "ATTNLAB_DEVICE": "cpu", "PATIENCE": "8"}
    try:
        run = subprocess.run(
            command, cwd=project, env=os.environ | path, check=False,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=TOO_LONG,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return None
    return run.returncode


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", default=datetime.datetime.now(datetime.UTC).date().isoformat())
    parser.add_argument("--many", type=int, default=MANY)
    options = parser.parse_args()
    live, mutants = [], drawn(options.many, options.seed)
    with tempfile.TemporaryDirectory() as name, Progress("mutants") as progress:
        project = Path(name)
        copied(project)
        whole = functools.cache(lambda *tests: status([*tests], project) in UNNOTICED)
        for number, mutant in enumerate(mutants):
            progress.at(number / len(mutants), mutant.file)
            if not whole(*tests_of(mutant.file)):
                sys.exit(f"mutants: without any fault these fail: {' '.join(tests_of(mutant.file))}")
            right = (project / mutant.file).read_text(encoding="utf-8")
            (project / mutant.file).write_text(mutant.text, encoding="utf-8")
            if status(tests_of(mutant.file), project) in UNNOTICED:
                live.append(mutant)
            (project / mutant.file).write_text(right, encoding="utf-8")
    print(*(f"mutants: no test notices {mutant}" for mutant in live), sep="\n")
    print(f"mutants: {len(mutants) - len(live)} of {len(mutants)} noticed, seed {options.seed}")
    return int(len(live) > MOST_THAT_LIVE * len(mutants))


if __name__ == "__main__":
    sys.exit(main())
