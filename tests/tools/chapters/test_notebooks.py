"""Each chapter is stored as a clean run of the committed code leaves it; each way to break that is named."""

import base64
import copy
import json
import subprocess
from pathlib import Path

import nbformat
import pytest

from bookkit import mime_types
from bookkit.mime_types import CLAIM
from tools.chapters import notebooks, refresh, stamps


@pytest.mark.parametrize("path", notebooks.chapters(), ids=lambda path: path.stem)
def test_a_chapter_is_fit_to_publish(path):
    problems = notebooks.problems(path)
    assert not problems, "\n".join([path.name, *problems])


# ---- a small book to break ----

FIGURE = {"image/svg+xml": "<svg/>", "text/plain": "a line that rises"}


def cell(source, number, *displayed):
    outputs = [nbformat.v4.new_output("display_data", data=data) for data in displayed]
    return nbformat.v4.new_code_cell(source, execution_count=number, outputs=outputs, id=f"cell-{number}")


@pytest.fixture
def book(tmp_path):
    room, made = tmp_path / "src/attnlab", tmp_path / "book"
    for folder in (room, made):
        folder.mkdir(parents=True)
    (room / "__init__.py").write_text("")
    (room / "scores.py").write_text("from attnlab import shapes\n")
    (room / "shapes.py").write_text("x = 1\n")
    (room / "layers.py").write_text("y = 1\n")
    (made / "_toc.yml").write_text("root: index\nparts:\n- chapters:\n  - file: chapter\n")
    return made


def store(book, before=lambda notebook: None, after=lambda notebook: None):
    """Write a sound chapter, with one thing changed before or after it was stamped, and list its problems."""
    cells = [cell("from attnlab import scores", 1), cell("draw()", 2, copy.deepcopy(FIGURE))]
    cells[1].metadata["mystnb"] = {"image": {"alt": FIGURE["text/plain"]}}
    notebook = nbformat.v4.new_notebook(cells=cells, metadata=copy.deepcopy(notebooks.NOTEBOOK_METADATA))
    before(notebook)
    notebook.metadata["attnlab"] = stamps.stamp(notebook, book)
    after(notebook)
    notebooks.write(notebook, book / "chapter.ipynb")
    return problems(book)


def problems(book):
    return notebooks.problems(book / "chapter.ipynb", book, book / "_toc.yml")


def test_a_sound_chapter_has_no_problems_and_the_list_for_a_commit_names_one_that_has(book):
    assert store(book) == []
    assert notebooks.all_problems(book, book / "_toc.yml") == []
    (problem,) = store(book, lambda notebook: notebook.cells[1].update(execution_count=7))
    assert notebooks.all_problems(book, book / "_toc.yml") == [f"chapter.ipynb: {problem}"]


def test_half_a_notebook_is_named_with_what_mends_it(book):
    store(book)
    file = book / "chapter.ipynb"
    file.write_text(file.read_text()[:100])
    (line,) = notebooks.all_problems(book, book / "_toc.yml")
    assert line.startswith("chapter.ipynb is no whole notebook (")
    assert line.endswith(": restore it, as by `git checkout HEAD -- book/chapter.ipynb`")


ERROR = nbformat.v4.new_output("error", ename="ValueError", evalue="", traceback=[])


@pytest.mark.parametrize(
    ("words", "change"),
    [
        ("code cell 1 is a solution: move it", lambda one, _: one.metadata.update(tags=["hide-cell"])),
        ("not executed from top to bottom", lambda _, two: two.update(execution_count=7)),
        ("code cell 2 draws a figure without alt text", lambda _, two: two.metadata.clear()),
        ("code cell 2 draws 2 figures", lambda _, two: two.update(outputs=two.outputs * 2)),
        (
            "code cell 2: its figure is no SVG (mismatched tag: line 1, column 10): run `make refresh`",
            lambda _, two: two.outputs[0].data.update({"image/svg+xml": "<svg><g></svg>"}),
        ),
        ("code cell 2 stores an error", lambda _, two: two.update(outputs=[ERROR])),
        (
            "code cell 2 shows HTML with no plain text",
            lambda _, two: two.outputs[0].update(data={"text/html": "<b>64</b>"}),
        ),
        ("code cell 1 is empty", lambda one, _: one.update(source="\n")),
        ("code cell 1 has more than 25 lines", lambda one, _: one.update(source="x = 1\n" * 26)),
    ],
)
def test_a_chapter_stored_wrongly_is_named(book, words, change):
    (problem,) = store(book, lambda notebook: change(*notebook.cells))
    assert words in problem
    (problem,) = store(book, lambda notebook: notebook.metadata.update(widgets={}))
    assert "stray metadata ['widgets']" in problem
    (book / "_toc.yml").write_text("root: index\n")
    (problem,) = store(book)
    assert "missing from _toc.yml" in problem


def test_an_edit_after_the_run_is_named(book):
    falls = {"text/plain": "a line that falls"}
    (problem,) = store(book, after=lambda notebook: notebook.cells[1].outputs[0].data.update(falls))
    assert "stored outputs were edited" in problem
    (problem,) = store(book, after=lambda notebook: notebook.cells[1].update(source="draw(2)"))
    assert "made by other code" in problem


def test_an_edit_of_the_package_counts_for_the_chapters_that_import_it(book):
    store(book)
    (stamps.source(book) / "attnlab/layers.py").write_text("y = 2\n")
    assert problems(book) == []
    # shapes is imported by scores, and scores by the chapter
    (stamps.source(book) / "attnlab/shapes.py").write_text("x = 2\n")
    (problem,) = problems(book)
    assert "made by other code" in problem


# ---- refresh ----


@pytest.mark.thorough
def test_executing_twice_gives_the_same_file_as_jupyterlab_saves_it(tmp_path):
    """Which is what Jupyter's server does with what it is sent: JSON from JavaScript, which has no 2.0."""
    source = "print(1)\nprint(2)\nfrom bookkit.claims import claim\nclaim('two', 2.0, expected=2.0)"
    paths = tmp_path / "first.ipynb", tmp_path / "second.ipynb", tmp_path / "saved.ipynb"
    for path in paths[:2]:
        cells = nbformat.v4.new_notebook(cells=[cell(source, 0), cell("3", 1)])
        made = refresh.normalise(refresh.execute(cells))
        notebooks.write(made, path)
    as_javascript = json.loads(
        paths[0].read_text("utf-8"), parse_float=lambda n: int(float(n)) if float(n) % 1 == 0 else float(n)
    )
    nbformat.write(nbformat.from_dict(nbformat.reads(json.dumps(as_javascript), 4)), paths[2])
    assert len({path.read_bytes() for path in paths}) == 1
    assert made.cells[0].outputs[0].text == "1\n2\n", "what a cell prints is one output, however it was sent"
    assert [each.execution_count for each in made.cells] == [1, 2]
    assert CLAIM in made.cells[0].outputs[1].data


def told(value, bound):
    """A notebook with a claim, as a run leaves it."""
    claim = {
        CLAIM: {"measured": value, "numbers": {"at_most": bound}},
        "text/html": f"measured {value}, claimed at most {bound}",
        "text/plain": f"x [at most {bound}]",
    }
    return nbformat.v4.new_notebook(cells=[cell("claim()", 1, claim)])


def test_what_a_claim_measured_is_not_compared_and_its_words_are():
    assert refresh.says_the_same(told(0.1, 1), told(0.2, 1))
    assert not refresh.says_the_same(told(0.1, 1), told(0.1, 2))


def test_a_chart_has_a_picture_that_changes_nothing_and_both_it_and_a_figure_have_their_words():
    values, encoding = [{"x": 1}], {"x": {"field": "x", "type": "ordinal"}}
    chart = {
        mime_types.CHART: {"mark": "bar", "data": values, "encoding": encoding},
        "text/plain": "One bar.",
    }
    drawing = cell("draw()", 2, copy.deepcopy(FIGURE))
    notebook = nbformat.v4.new_notebook(cells=[cell("chart()", 1, chart), drawing])
    without = copy.deepcopy(notebook)
    stamp = stamps.stamp(notebook)
    refresh.normalise(notebook)
    data = notebook.cells[0].outputs[0].data
    assert base64.b64decode(data[mime_types.PICTURE]).startswith(b"\x89PNG")
    assert notebook.cells[0].metadata["alt"] == "One bar."
    assert notebooks.alt_text(drawing) == "a line that rises"
    assert notebook.metadata["attnlab"] == stamp
    assert refresh.says_the_same(notebook, without)
    picture = data[mime_types.PICTURE]
    data[mime_types.PICTURE] = "what JupyterLab drew"
    refresh.normalise(notebook)
    assert data[mime_types.PICTURE] == picture


@pytest.mark.parametrize(
    ("tags", "folded"), [(["hide-cell"], True), (["remove-cell"], True), (["raises-exception"], False)]
)
def test_solutions_are_folded_in_jupyterlab_and_colab_and_other_cells_are_not(tags, folded):
    found = cell("1", 1)
    found.metadata |= {"tags": tags, "jupyter": {"outputs_hidden": True, "source_hidden": not folded}}
    refresh.fold(found)
    folds = {"jupyter": {"source_hidden": True}, "cellView": "form"} if folded else {}
    assert found.metadata == {"tags": tags} | folds


@pytest.mark.parametrize(("bound", "as_committed"), [(1, True), (2, False)])
def test_a_readers_run_leaves_no_trace_where_it_said_the_same(tmp_path, monkeypatch, bound, as_committed):
    path = tmp_path / "chapter.ipynb"
    notebooks.write(refresh.normalise(told(0.1, 1)), path)
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@example.org"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "A chapter"]):
        subprocess.run([*git, *command], check=True)
    committed = path.read_bytes()
    notebooks.write(told(0.2, 1), path)
    monkeypatch.setattr(refresh, "execute", lambda notebook: told(0.3, bound))
    assert refresh.refresh(path, everything=False) == "stored"
    assert (path.read_bytes() == committed) == as_committed
    assert notebooks.claims(notebooks.read(path)) == notebooks.claims(
        told(0.1 if as_committed else 0.3, bound)
    )


@pytest.mark.parametrize(
    ("stamped", "after", "everything", "done"),
    [
        (True, told(0.2, 2), False, "unchanged"),
        (True, told(0.2, 1), True, "same"),
        (True, told(0.2, 2), True, "stored"),
        (False, told(0.2, 1), False, "stored"),  # its code changed
    ],
)
def test_a_chapter_is_executed_and_stored_as_far_as_needed(
    stamped, after, everything, done, tmp_path, monkeypatch
):
    path = tmp_path / "chapter.ipynb"
    before = told(0.1, 1)
    notebooks.write(refresh.normalise(before) if stamped else before, path)
    monkeypatch.setattr(refresh, "execute", lambda notebook: copy.deepcopy(after))
    stored = notebooks.read(path)
    assert refresh.refresh(path, everything) == done
    assert (notebooks.read(path) == stored) == (done != "stored")
    if not stamped:
        assert notebooks.read(path).metadata["attnlab"] == stamps.stamp(after)


def test_a_changed_solution_is_known_before_its_check_is_run(monkeypatch):
    """Run first, the check takes it for a reader's, and that is what is stored."""
    done = []
    monkeypatch.setattr("sys.argv", ["refresh"])
    monkeypatch.setattr(refresh.notebooks, "chapters", lambda: [Path("one.ipynb")])
    monkeypatch.setattr(refresh, "note_solutions", lambda: done.append("noted"))
    monkeypatch.setattr(refresh, "refresh", lambda path, everything: done.append(path.stem) or "unchanged")
    monkeypatch.setattr(refresh.readme, "write", lambda: False)
    monkeypatch.setattr(refresh.known_mistakes, "note", lambda changed: False)
    assert refresh.main() == 0
    assert done == ["noted", "one"]
