"""A chapter's stamp changes with what its code does, and with nothing else, on whichever Python."""

import json
import os
import shutil
import subprocess

import pytest

from tools import ROOT
from tools.chapters import notebooks, stamps

# Blanks that end a line are written as “·”.
ROOM = '''"""Türen."""; import math

@final(
    1,  # in brackets

)
class Gate:
    """Opens."""

    limit = 3  # at most

    def opens(self, count):
        """Whether it opens."""
        return count < self.limit

    def sign(self, by):
        match by:
            case {"name": name}:
                return f"{name!r:>{self.limit}} {by['#']} # {{}}"
        return """Gate··

# no comment
"""


'''.replace("·", " ")
LATER = 'async def later():\n    """Nothing yet."""\n\n\n'
TWICE = "def twice(count):\n    return 2 * count\n"
ROOM += LATER + TWICE


@pytest.fixture
def book(tmp_path):
    room = tmp_path / "src/attnlab"
    room.mkdir(parents=True)
    (room / "__init__.py").write_text("")
    (room / "shapes.py").write_text("x = 1\n")
    return tmp_path / "book"


def notebook(*sources):
    return {"cells": [{"cell_type": "code", "source": source, "outputs": []} for source in sources]}


def digest_with(book, room):
    (stamps.source(book) / "attnlab/shapes.py").write_bytes(room.encode())
    return stamps.code_digest(notebook("import attnlab.shapes"), book)


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_it_is_the_same_on_each_system_and_each_python(book, line_end):
    assert digest_with(book, ROOM.replace("\n", line_end)) == "392b6f836812aba3"


@pytest.mark.thorough
@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13", "3.14"])
def test_another_python_without_any_package_gives_every_chapter_the_same(version):
    program = """\
import json
from tools.chapters import stamps
chapters = stamps.BOOK.glob("*.ipynb")
print(json.dumps({chapter.name: stamps.stamp(stamps.read(chapter)) for chapter in chapters}))"""
    told = subprocess.run(
        [python(version), "-S", "-c", program], env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    assert json.loads(told) == {
        path.name: stamps.stamp(notebooks.read(path)) for path in notebooks.chapters()
    }


def python(version):
    """Where this version is, on PATH or among pyenv's, whose own program on PATH may be none that runs."""
    name = f"python{version}"
    found = [shutil.which(name)]
    if pyenv := shutil.which("pyenv"):
        told = subprocess.run([pyenv, "whence", "--path", name], capture_output=True, text=True, check=False)
        found += told.stdout.splitlines()
    for program in filter(None, found):
        if subprocess.run([program, "-c", ""], capture_output=True, check=False).returncode == 0:
            return program
    pytest.skip(f"there is no {name} here, neither on PATH nor by pyenv")


@pytest.mark.parametrize(
    ("right", "other"),
    [
        ("  # at most", ""),
        ("\n\n@final", "\n# Of the last kind.\n@final"),
        ("Türen.", "Türen mit\n\nSchlössern."),
        ("1,  # in brackets\n\n", "1,\n"),
        ("Nothing yet.", "Nothing at all."),
        ('    """Opens."""\n', ""),
        ("def twice(count):\n", 'def twice(count):\n    """Both."""\n'),
        ("2 * count\n", "2 * count  \n\n"),
    ],
)
def test_words_and_layout_change_nothing(book, right, other):
    assert ROOM.count(right) == 1
    assert digest_with(book, ROOM) == digest_with(book, ROOM.replace(right, other))


@pytest.mark.parametrize(
    ("right", "other"),
    [
        ("limit = 3", "limit = 4"),
        ('"""Nothing yet."""', 'return "Nothing yet."'),
        ("    return 2 * count", '    """Both."""'),
        ("import math\n", "import math\n\n'told'\n"),
        ("{by['#']} # ", "{by['#']} "),
        ("Gate  \n", "Gate\n"),
        ("\n\n# no comment", "\n# no comment"),
        ("# no comment", "# a comment"),
        (LATER + TWICE, TWICE + LATER),  # of two with one name the second is called
    ],
)
def test_whatever_code_does_counts(book, right, other):
    assert ROOM.count(right) == 1
    assert digest_with(book, ROOM) != digest_with(book, ROOM.replace(right, other))


def test_the_words_of_a_cell_count():
    """Readers see them beside the outputs."""
    one, two = (notebook(f"1  # {word}") for word in ("one", "two"))
    assert stamps.code_digest(one) != stamps.code_digest(two)


def test_the_sample_texts_and_stored_weights_count_for_the_chapters_that_read_them(book):
    source = stamps.source(book)
    sample = source / "attnlab/corpora/data/sample/reviews/1.txt"
    weights = source / "models/a_chapter/small.npz"
    recipes, room = source / "chapters/a_chapter/models.py", source / "attnlab/corpora/text.py"
    for file in (sample, weights, recipes, room):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()

    def digests(text, stored=b"one"):
        sample.write_bytes(text)
        weights.write_bytes(stored)
        rooms = "attnlab.corpora.text", "chapters.a_chapter.models", "attnlab.shapes"
        return [stamps.code_digest(notebook(f"import {each}"), book) for each in rooms]

    text, trained, neither = digests(b"good\n")
    another_text, *others = digests(b"bad\n")
    assert (another_text == text, others) == (False, [trained, neither])
    same_text, trained_anew, still_neither = digests(b"good\n", b"two")
    assert (same_text, trained_anew == trained, still_neither) == (text, False, neither)
    (sample.parent / ".DS_Store").touch()
    assert digests(b"good\r\n")[0] == text, "as another system checks it out, and has it looked at"


def test_code_that_does_not_parse_is_told_with_its_place(book):
    with pytest.raises(SyntaxError, match=r"\(shapes.py, line 2\)"):
        digest_with(book, "x = 1\ny = (\n")
    with pytest.raises(SyntaxError, match=r"\(code cell 2, line 2\)"):
        stamps.code_digest(notebook("1", "%time\nx = (\n"), book)
