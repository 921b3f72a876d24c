"""A chapter's stamp changes with what its code does, and with nothing else, on whichever Python."""

import pytest

from tools.chapters import stamps

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


@pytest.mark.parametrize(
    ("right", "other"),
    [
        ("at most", "at the very most"),
        ("  # at most", ""),
        ("\n\n@final", "\n# Of the last kind.\n@final"),
        ("Türen.", "Türen mit\n\nSchlössern."),
        ("in brackets", "within brackets"),
        ("1,  # in brackets\n\n", "1,\n"),
        ("Opens.", "Opens and shuts."),
        ("Whether it opens.", "Whether it will."),
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
        ("count < self", "count <= self"),
        ('"""Nothing yet."""', 'return "Nothing yet."'),
        ("    return 2 * count", '    """Both."""'),
        ("import math\n", "import math\n\n'told'\n"),
        ("@final(", "@sealed("),
        ('case {"name"', 'case {"surname"'),
        ("{by['#']} # ", "{by['#']} "),
        ("Gate  \n", "Gate\n"),
        ("\n\n# no comment", "\n# no comment"),
        ("# no comment", "# a comment"),
        ("async def", "def"),
        ("2 * count", "count * 2"),
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
