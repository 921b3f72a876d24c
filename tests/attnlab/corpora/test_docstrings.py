"""Docstrings as a text: what is read from files, what is held out, and that no copy is trained on."""

import socket
import subprocess
import sys
from pathlib import Path

import pytest

from attnlab.corpora import docstrings
from attnlab.corpora.docstrings import digest, documented, is_held_out, read, split, without_copies

LONG = "about forty characters, and then again; " * 6


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty package that can be found, and would be noticed if it were imported."""
    folder = tmp_path / "made_up"
    folder.mkdir()
    (folder / "__init__.py").write_text("raise AssertionError('it was imported')\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    return folder


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket.socket, "connect", lambda *_: pytest.fail("it wants the network"))


def put(folder: Path, name: str, *texts: str) -> None:
    """A file of functions, each with one of the texts."""
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    code = [f'def f{number}():\n    """{text}"""\n' for number, text in enumerate(texts)]
    (folder / name).write_text("".join(code), encoding="utf-8")


def words(first: int, count: int) -> str:
    """`words(3, 2)` is "word3 word4"."""
    return " ".join(f"word{number}" for number in range(first, first + count))


# ---- what is read ----


def test_a_file_is_read_from_the_outside_in(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    module, outer, method, short, awaited = (LONG + name for name in ("module", "class", "method", "x", "é"))
    file.write_text(
        f'"""{module}"""\nclass A:\n    """{outer}\n\n      indented\n    """\n'
        f'    def m(self):\n        """{method}"""\n    def n(self):\n        """{short[:50]}"""\n'
        f'async def f():\n    """{awaited}"""\nx = """{LONG}no docstring"""\n',
        encoding="utf-8",
    )
    # Whatever stands before every line of a docstring is the code's indentation, not the text's.
    assert list(documented(file)) == [module, f"{outer}\n\n  indented", awaited, method]


def test_a_text_has_200_characters_or_more(tmp_path: Path) -> None:
    put(tmp_path, "a.py", "x" * 199, "y" * 200)
    assert list(documented(tmp_path / "a.py")) == ["y" * 200]


def test_what_is_no_python_of_ours_has_none(tmp_path: Path) -> None:
    (tmp_path / "template.py").write_text(f'def {{name}}():\n    """{LONG}"""\n')
    (tmp_path / "escapes.py").write_text(f'def f():\n    """\\d {LONG}"""\n')  # a warning, at other times
    (tmp_path / "latin.py").write_bytes(f'def f():\n    """\xe9 {LONG}"""\n'.encode("latin-1"))
    assert list(documented(tmp_path / "template.py")) == []
    assert list(documented(tmp_path / "escapes.py")) == [f"\\d {LONG}".strip()]
    assert list(documented(tmp_path / "latin.py")) == [f"� {LONG}".strip()]


def test_files_are_read_in_the_order_of_their_names_and_never_imported(package: Path) -> None:
    names = [f"{folder}{letter}.py" for letter in "cab" for folder in ("", "z/", "b/")]
    for name in names:
        put(package, name, f"{LONG}{name}")
    (package / "data.txt").write_text(f'"""{LONG}"""')
    for held_out in (False, True):
        chosen = [name for name in sorted(names) if is_held_out(f"made_up/{name}") == held_out]
        assert read("made_up", held_out) == [f"{LONG}{name}" for name in chosen]


@pytest.mark.parametrize("package", ["no_such_package", "ast"])
def test_a_package_that_is_not_here_is_refused(package: str) -> None:
    with pytest.raises(FileNotFoundError, match=f"package must be one that is installed here, got '{package}'"):
        read(package)


# ---- what is held out ----

HELD_OUT = {"networkx/algorithms/bipartite/matching.py", "networkx/classes/tests/test_function.py"}


def test_one_file_in_twenty_is_held_out() -> None:
    names = [f"package/folder{number % 7}/file{number}.py" for number in range(20_000)]
    # As many heads as a coin with 1 in 20 shows: five of its standard deviations are 154.
    assert abs(sum(map(is_held_out, names)) - 1000) < 154


def test_what_is_held_out_does_not_depend_on_the_machine() -> None:
    """By the names alone; Python's own `hash` would say something else in each process."""
    names = [f"numpy/file{number}.py" for number in range(200)]
    assert [name for name in names if is_held_out(name)] == NAMED
    code = f"from attnlab.corpora.docstrings import is_held_out as f; print([n for n in {names} if f(n)])"
    for seed in ("1", "2"):
        environment = {"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)}
        said = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
        assert said.stdout.strip() == str(NAMED)
