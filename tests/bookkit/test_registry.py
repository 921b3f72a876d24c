"""The list of chapters comes from the table of contents and the notebooks, and from nowhere else."""

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from bookkit import registry
from bookkit.mime_types import CLAIM
from bookkit.registry import Chapter

OPENING = """# Where now?

*25 minutes to read · more*

Then you will be able to

- say
  this;
- do other things.
"""


def stored(folder, name="a-chapter", opening=OPENING):
    path = folder / f"{name}.ipynb"
    # The cell for Colab comes before the title.
    nbformat.write(new_notebook(cells=[new_code_cell("1"), new_markdown_cell(opening)]), path)
    return path


def test_a_chapter_says_what_it_is_called_how_long_it_takes_and_what_for(tmp_path):
    chapter = Chapter(stored(tmp_path))
    assert (chapter.name, chapter.package) == ("a-chapter", "a_chapter")
    assert (chapter.title, chapter.minutes, chapter.goal) == ("Where now?", "25 minutes to read", "say this")


def test_a_chapter_has_the_claims_of_all_its_cells_in_order(tmp_path):
    printed = new_output("stream", text="7\n")
    one, two, three = (
        new_output("display_data", data={CLAIM: {"sentence": name}, "text/plain": name}) for name in "abc"
    )
    cells = new_code_cell("1", outputs=[one, printed, two]), new_code_cell("2", outputs=[three])
    path = tmp_path / "a-chapter.ipynb"
    nbformat.write(new_notebook(cells=[new_markdown_cell(OPENING), *cells]), path)
    assert [claim["sentence"] for claim in Chapter(path).claims] == ["a", "b", "c"]


@pytest.mark.parametrize("end", [".\n", "\n", ".\n\nAnd then."])
def test_the_first_goal_ends_where_it_ends(tmp_path, end):
    opening = OPENING.replace(";\n- do other things.\n", end)
    assert Chapter(stored(tmp_path, opening=opening)).goal == "say this"


def test_a_drawing_may_stand_above_the_goals_and_the_sections_come_after(tmp_path):
    above, _, goals = OPENING.partition("you will be able to")
    cells = [
        new_markdown_cell(above),
        new_code_cell("draw()"),
        new_markdown_cell("you will be able to" + goals),
        new_markdown_cell("## First\n\nyou will be able to\n\n- do the rest"),
    ]
    path = tmp_path / "a-chapter.ipynb"
    nbformat.write(new_notebook(cells=cells), path)
    assert (Chapter(path).title, Chapter(path).goal) == ("Where now?", "say this")
    assert "First" not in Chapter(path).opening


@pytest.mark.parametrize(("right", "wrong"), [("minutes to read", "hours to read"), ("- say", "say")])
def test_a_chapter_that_does_not_say_so_is_told(tmp_path, right, wrong):
    opening = OPENING.replace(right, wrong).replace("- do other things.", "")
    chapter = Chapter(stored(tmp_path, opening=opening))
    with pytest.raises(ValueError, match=r"a-chapter\.ipynb: its opening must say"):
        _ = chapter.minutes, chapter.goal


def test_the_order_is_that_of_the_contents_and_other_pages_and_appendices_are_no_chapters(tmp_path):
    for name in ("first-by-name", "second-by-name", "unlisted", "an-appendix"):
        stored(tmp_path, name)
    contents = tmp_path / "_toc.yml"
    contents.write_text(
        "root: index\nparts:\n- caption: Begin\n  chapters: [{file: second-by-name}, {file: notation}]\n"
        "- caption: Go on\n  chapters:\n  - file: first-by-name\n"
        "- caption: Appendices\n  chapters: [{file: an-appendix}, {file: notation}]\n"
    )
    found = [(chapter.name, chapter.part) for chapter in registry.chapters(tmp_path, contents)]
    assert found == [("second-by-name", "Begin"), ("first-by-name", "Go on")]
    all_of_them = [chapter.name for chapter in registry.notebooks(tmp_path, contents)]
    assert all_of_them == ["second-by-name", "first-by-name", "an-appendix"]


def test_a_chapter_that_is_not_there_is_refused_with_those_that_are(tmp_path):
    stored(tmp_path)
    with pytest.raises(ValueError, match="chapter must be one of a_chapter, got 'why'"):
        registry.chapter("why", tmp_path)


def test_each_chapter_of_the_book_has_its_folder_and_each_folder_its_chapter():
    folders = {path.parent.name for path in (registry.BOOK / "chapters").glob("*/__init__.py")}
    assert folders == {chapter.package for chapter in registry.chapters()}
