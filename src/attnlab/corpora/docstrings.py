"""English that lies on every reader's disk: the docstrings of packages that the book installs.

They are read from the packages' source files. Nothing is imported, downloaded or stored.
"""

import ast
import hashlib
import warnings
import zlib
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path

PACKAGES = ("torch", "sympy", "pandas", "numpy", "networkx", "matplotlib")
SHORTEST = 200  # characters: what is shorter is a remark rather than a text
HELD_OUT = 20  # one file in so many is never trained on


def read(package: str, held_out: bool = False) -> list[str]:
    """`read("networkx")` are its docstrings of 200 characters or more, in the order of its files' names.

    One file in twenty is held out: `read("networkx", held_out=True)` reads these, and only these.
    """
    spec = find_spec(package)  # of a package, finding is not importing
    if spec is None or not spec.submodule_search_locations:
        raise FileNotFoundError(f"package must be one that is installed here, got {package!r}")
    folder = Path(spec.submodule_search_locations[0])
    names = sorted(file.relative_to(folder).as_posix() for file in folder.rglob("*.py"))
    chosen = [name for name in names if is_held_out(f"{package}/{name}") == held_out]
    return [text for name in chosen for text in documented(folder / name)]


def is_held_out(name: str) -> bool:
    """`is_held_out("networkx/classes/graph.py")` is the same on every machine, and unlike for like names."""
    return zlib.crc32(name.encode()) % HELD_OUT == 0


def documented(file: Path) -> Iterator[str]:
    """`list(documented(Path("graph.py")))` are the docstrings of a file, the outer before the inner."""
    return iter(_documented(file, file.stat().st_mtime_ns))


@cache  # a chapter reads the same package several times, and parsing it takes seconds
def _documented(file: Path, written_at: int) -> list[str]:
    source = file.read_text(encoding="utf-8", errors="replace")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a backslash in somebody's string
        try:
            tree = ast.parse(source if '"""' in source else "")
        except SyntaxError:  # a template, or written for another Python
            return []
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    texts = (ast.get_docstring(node) or "" for node in ast.walk(tree) if isinstance(node, kinds))
    return [text for text in texts if len(text) >= SHORTEST]


def shingles(text: str, words: int = 6) -> set[int]:
    """`shingles("a b c d e f g")` stands for its two runs of six words; a run is kept as a number."""
    split = text.split()
    return {hash(tuple(split[start : start + words])) for start in range(max(1, len(split) - words + 1))}


def without_copies(texts: Iterable[str], seen: set[int] | None = None, most: float = 0.3) -> list[str]:
    """`without_copies(texts)` leaves out whatever is more than 30 % runs of six words that came before.

    seen: what counts as come before, to begin with. It grows by the runs of every text that stays.
    """
    before = set() if seen is None else seen
    kept = []
    for text in texts:
        runs = shingles(text)
        if len(runs & before) <= most * len(runs):
            kept.append(text)
            before |= runs
    return kept


def split(packages: Iterable[str] = PACKAGES) -> tuple[list[str], list[str]]:
    """`training, validation = split()` are the texts of all the packages, none a copy of one before.

    What is held out is read first: a text that is copied from there is not trained on.
    """
    packages = list(packages)
    seen: set[int] = set()
    validation = without_copies((text for name in packages for text in read(name, held_out=True)), seen)
    return without_copies((text for name in packages for text in read(name)), seen), validation


def digest(texts: Iterable[str]) -> str:
    """`digest(["one text", "another"])` is "90456ba1": other texts, another version, another digest."""
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:8]
