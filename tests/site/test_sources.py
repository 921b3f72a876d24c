"""What a chapter's code uses of the book's packages opens in place: its own lines, once."""

import inspect

import pytest
from tiers import left_to

from _ext import sources
from attnlab.corpora import agreement
from bookkit import registry

CHAPTERS = [chapter.name for chapter in registry.chapters()]


def read(*cells: str) -> list[tuple[str, str]]:
    """Names and modules, in the order in which they are shown."""
    reader = sources.Reader()
    return [(name, module) for cell in cells for name, module, _ in reader.read(cell, shows=True)]


def test_a_name_is_shown_with_the_first_cell_that_uses_it():
    imports = "from attnlab.attention import attend\nfrom attnlab import scores"
    assert read(imports) == []
    used = "attend(1, 2, 3, score=scores.dot)"
    both = {("attend", "attnlab.attention"), ("dot", "attnlab.scores")}
    assert {*read(imports, used)} == both
    assert len(read(imports, used, used, "scores.dot(1, 2)")) == 2


def test_a_name_is_shown_under_its_own_name_where_it_is_defined():
    assert read("from attnlab.attention import attend as look\nlook()") == [("attend", "attnlab.attention")]


@pytest.mark.parametrize(
    "cell",
    [
        "from chapters.where_am_i import drawings\ndrawings.clocks([])",
        "from chapters.where_am_i.exercises import check_reach\ncheck_reach(1)",
        "from attnlab.corpora.grammar import CLASSES\nCLASSES",
        "from torch.nn import Linear\nLinear(1, 1)",
        "from bookkit.claims import claim\nclaim('one', 1, expected=1)",
        "from attnlab import scores\nother.dot(1)",
        "%pip install attnlab",
    ],
    ids=["a picture", "a check", "no code", "another package", "the machinery", "another's", "IPython's"],
)
def test_all_else_is_not(cell):
    assert read(cell) == []


def test_a_cell_in_a_fold_shows_nothing_and_its_imports_hold():
    reader = sources.Reader()
    assert not list(reader.read("from attnlab.attention import attend\nattend()", shows=False))
    assert [name for name, *_ in reader.read("attend()", shows=True)] == ["attend"]


def test_a_definition_is_its_own_lines_with_its_decorators():
    module, lines = sources.definition("attnlab.corpora.agreement", "expected") or ("", "")
    assert module == "attnlab.corpora.agreement"
    assert lines == inspect.getsource(agreement.expected).rstrip("\n")


@pytest.mark.parametrize("chapter", left_to(pytest.mark.thorough, CHAPTERS, but=CHAPTERS[:2]))
def test_each_fold_of_a_page_holds_the_code_that_it_names(soup, chapter):
    named = []
    for fold in soup(f"{chapter}.html").select("details.source"):
        name, module = (code.get_text() for code in fold.summary.select("code"))
        _, source = sources.definition(module, name)
        assert fold.select_one("pre").get_text().strip() == source.strip()
        named.append((name, module))
    assert len(named) == len({*named})
    assert named
