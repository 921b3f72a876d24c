"""Docstrings as a text: what is read from files, what is held out, and that no copy is trained on."""

import socket
from pathlib import Path

import pytest

from attnlab.corpora import docstrings
from attnlab.corpora.docstrings import digest, documented, is_held_out, read, split, without_copies

LONG = "about forty characters, and then again; " * 6 + "end of "


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
    assert list(documented(file)) == [module, f"{outer}\n\nindented", awaited, method]


def test_what_is_too_short_or_no_python_of_ours_has_none(tmp_path: Path) -> None:
    put(tmp_path, "lengths.py", "x" * 199, "y" * 200)
    (tmp_path / "template.py").write_text(f'def {{name}}():\n    """{LONG}it"""\n')
    (tmp_path / "escapes.py").write_text(f'def f():\n    """\\d {LONG}it"""\n')  # a warning, at other times
    (tmp_path / "latin.py").write_bytes(f'def f():\n    """\xe9 {LONG}it"""\n'.encode("latin-1"))
    found = {file.stem: list(documented(file)) for file in tmp_path.glob("*.py")}
    assert found.pop("template") == []
    assert found == {"lengths": ["y" * 200], "escapes": [f"\\d {LONG}it"], "latin": [f"� {LONG}it"]}


def test_files_are_read_in_the_order_of_their_names_and_never_imported(package: Path) -> None:
    names = [f"{folder}{letter}.py" for letter in "cab" for folder in ("", "z/", "b/")]
    for name in names:
        put(package, name, f"{LONG}{name}")
    (package / "data.txt").write_text(f'"""{LONG}it"""')
    for held_out in (False, True):
        chosen = [name for name in sorted(names) if is_held_out(f"made_up/{name}") == held_out]
        assert read("made_up", held_out) == [f"{LONG}{name}" for name in chosen]
    for absent in ("no_such_package", "ast"):
        with pytest.raises(FileNotFoundError, match=f"one that is installed here, got '{absent}'"):
            read(absent)


# ---- what is held out ----

# Stored, since held-out files must be the same on all machines, today and next year.
HELD_OUT = [4, 18, 22, 24, 32, 34, 44, 58, 64, 101, 111, 121, 186, 196]


def test_what_is_held_out_hangs_on_the_name_alone(package: Path) -> None:
    assert [number for number in range(200) if is_held_out(f"numpy/file{number}.py")] == HELD_OUT
    # A file in a folder has one name, whatever parts folders here, and wherever the package lies.
    put(package, "in/a/file6.py", f"{LONG}six")
    assert is_held_out("made_up/in/a/file6.py")
    assert read("made_up", held_out=True) == [f"{LONG}six"]


# ---- copies ----


def test_a_copy_is_left_out_and_the_first_stays() -> None:
    first, other = words(0, 40), words(100, 40)
    assert without_copies([first, other, first]) == [first, other]
    assert without_copies([first, first.replace(" ", "\n  ")]) == [first], "other spaces are no other text"


@pytest.mark.parametrize(
    ("first", "text", "stays"),
    [
        # Of 48 words 43 runs of six; 18 copied words are 13 of them, 30.2 %, and 17 are 27.9 %.
        (words(0, 48), f"{words(0, 17)} {words(500, 31)}", True),
        (words(0, 48), f"{words(0, 18)} {words(500, 30)}", False),
        (words(0, 40), f"{words(0, 8)} {words(500, 7)}", True),  # 3 runs of 10
        ("a b", "a b c", True),  # a short text is one run
        ("a b", "a b", False),
    ],
)
def test_a_near_copy_has_more_than_three_runs_of_ten_in_common(first: str, text: str, stays: bool) -> None:
    assert without_copies([first, text]) == [first, text][: 1 + stays]
    assert len(without_copies([first, text], most=0.5)) == 1 + (text != first)


def test_a_text_that_is_left_out_counts_as_nothing() -> None:
    """Its own words may come again: nobody has read them."""
    left_out = f"{words(0, 30)} {words(100, 20)}"
    assert without_copies([words(0, 30), left_out, words(100, 20)]) == [words(0, 30), words(100, 20)]


def test_what_was_seen_counts_and_grows() -> None:
    seen = docstrings.shingles(words(0, 40))
    assert without_copies([words(0, 40), words(100, 40)], seen) == [words(100, 40)]
    assert seen == docstrings.shingles(words(0, 40)) | docstrings.shingles(words(100, 40))


# ---- training and validation ----


@pytest.fixture
def two_packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Two packages of a hundred files, each with a text of its own, and with copies within and between."""
    for name, first in (("made_up_a", 0), ("made_up_b", 100)):
        for number in range(100):
            own = words(1000 * (first + number), 40)
            common = words(1000 * (number % 10), 40)  # as in the first files of the first package
            put(tmp_path / name, f"file{number}.py", own, common)
    monkeypatch.syspath_prepend(str(tmp_path))
    return ["made_up_a", "made_up_b"]


def test_nothing_of_validation_is_trained_on(two_packages: list[str]) -> None:
    training, validation = split(two_packages)
    assert set(training) | set(validation) == {words(1000 * number, 40) for number in range(200)}
    assert len(training) + len(validation) == 200, "each text once, wherever it was copied to"
    held_out = {text for name in two_packages for text in read(name, held_out=True)}
    assert set(validation) == held_out
    # The last package's held-out copy of a text is reason enough not to train on it in the first.
    both = {text for name in two_packages for text in read(name)} & held_out
    assert both
    assert not both & set(training)


def test_a_digest_is_of_all_texts_in_their_order() -> None:
    assert digest(["one text", "another"]) == "90456ba1"
    others = (["another", "one text"], ["one text"], ["one text", "another", ""], ["one texta", "nother"])
    assert len({digest(texts) for texts in others} - {"90456ba1"}) == len(others)
