"""The pages around the chapters: the front page's list, the glossary, the reading list, the README."""

import re

import pytest

from tools.chapters.notebooks import BOOK

# What the reading list must hold.
READINGS = [
    "The Illustrated Transformer",
    "The Narrated Transformer",
    "Transformers from Scratch",
    "The Annotated Transformer",
    "Visualizing A Neural Machine Translation Model",
    "Transformer: A Novel Neural Network Architecture",
    "arxiv.org/abs/1706.03762",
    "arxiv.org/abs/1409.0473",
    "arxiv.org/abs/1508.04025",
    "arxiv.org/abs/1703.03906",
    "An Introduction to Attention",
    "Attention in Neural Networks and How to Use It",
    "The Attention Mechanism from Scratch",
    "tensorflow.org/text/tutorials/nmt_with_attention",
    "`register_buffer` and `register_parameter`",
    "Why Batch Normalization",
]


def read(page: str) -> str:
    return (BOOK / f"{page}.md").read_text("utf-8")


def glossary() -> dict[str, str]:
    """Each term with its definition."""
    body = read("glossary").partition("<!-- {glossary} -->\n")[2].partition("<!-- end -->")[0]
    entries = [entry.partition("\n") for entry in body.strip().split("\n\n")]
    return {term.strip("*"): " ".join(definition.split()) for term, _, definition in entries}


def test_the_glossary_has_each_term_once_and_in_order():
    terms = re.findall(r"^\*\*(.+)\*\*$", read("glossary"), re.MULTILINE)
    assert len(terms) > 50
    assert terms == sorted(set(terms), key=str.lower)
    assert terms == list(glossary())


@pytest.mark.parametrize(("term", "definition"), glossary().items())
def test_a_definition_is_a_sentence_or_two(term, definition):
    without_chapter = re.sub(r"\s*→\s\[.*?\]\([\w-]+\.(?:ipynb|md)\)$", "", definition)
    assert without_chapter[0].isupper() or without_chapter.startswith(("$", "`"))
    assert without_chapter.endswith((".", ".)"))
    assert len(without_chapter) < 350


@pytest.mark.parametrize("reading", READINGS)
def test_the_reading_list_holds(reading):
    entries = re.findall(r"^- .+?(?=\n- |\n\n|\Z)", read("reading-list"), re.MULTILINE | re.DOTALL)
    (entry,) = (entry for entry in entries if reading in entry.partition("). ")[0] + entry.partition(")")[0])
    assert re.search(r"\b(Read|Watch) ", entry), "say what to read it for"
    assert "→" in entry, "say after which chapter"


def test_the_notation_names_every_shape_of_the_package():
    shapes = re.findall(r"^(\w+): TypeAlias", (BOOK / "attnlab/shapes.py").read_text("utf-8"), re.MULTILINE)
    assert shapes
    assert not [name for name in shapes if f"`{name}`" not in read("notation")]
