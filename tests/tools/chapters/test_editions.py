"""`make exercises`: a student's edition that gives nothing away, a teacher's that passes, and both run."""

import re
import subprocess
import sys

import nbclient
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from bookkit import registry
from bookkit.catalogue import of_chapter
from tools.chapters import editions, notebooks, stamps

CHAPTERS = [chapter.notebook for chapter in registry.chapters()]
EACH_CHAPTER = pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("exercises")
    list(editions.write(folder))
    return folder


def run(place, cells):
    """What each of these cells shows as plain text, in a kernel in the edition's own folder."""
    notebook = new_notebook(cells=cells, metadata=notebooks.NOTEBOOK_METADATA)
    # Far above what a cell takes: several processes share the processor.
    client = nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(place)}})
    client.execute()
    return [*map(shown, cells)]


def shown(cell):
    return "".join(data["text/plain"] for data in notebooks.displays(cell))


def unknown_names(cells):
    """What ruff says of names that these cells use and none of them brings, beside one that it must find."""
    source = "\n".join([*map(stamps.plain_python, cells), "nothing_brings_this"])
    command = [sys.executable, "-m", "ruff", "check", "--isolated", "--select=F821", "-"]
    said = subprocess.run(command, input=source, stdout=subprocess.PIPE, text=True, check=False).stdout
    found = re.findall("Undefined name `(.*?)`", said)
    found.remove("nothing_brings_this")
    return found


def is_of_an_exercise(cell):
    return bool(re.search(r"\bcheck_\w+[(,]|\bsummary\(", cell.source))


def exercise_names(path):
    return [exercise.name for exercise in of_chapter(path.stem.replace("-", "_"))]


def plain(source):
    """Without indentation and blank lines, so that a passage is found wherever it stands."""
    return "\n".join(line.strip() for line in source.splitlines() if line.strip())


@EACH_CHAPTER
def test_no_solution_is_left_for_students(folder, path):
    chapter = notebooks.read(folder / "student" / path.name)
    student, in_code = chapter.cells, "\n".join(cell.source for cell in notebooks.code_cells(chapter))
    assert not any(editions.is_solution(cell) for cell in student)
    for _, solution in editions.solutions(notebooks.read(path)):
        body = plain(solution.source).partition("\n")[2].partition("\ncheck_")[0]
        assert body
        for cell in student:
            assert body not in plain(cell.source)
            # Code may share a line with a solution, as broken code must; a hint may not.
            if cell.cell_type == "markdown":
                own = [line for line in body.splitlines() if len(line) > 1 and line not in in_code]
                assert not [line for line in own if line in cell.source]


@EACH_CHAPTER
def test_students_keep_all_else_and_no_output(folder, path):
    chapter, student = notebooks.read(path), notebooks.read(folder / "student" / path.name)
    kept = [cell.source for cell in student.cells]
    assert kept == [cell.source for cell in chapter.cells[: len(kept)]]
    (heading, *rest) = chapter.cells[len(kept) :]
    assert heading.source.startswith("## Solutions")
    assert all(cell.cell_type == "code" or cell.source.startswith("**") for cell in rest)
    assert sum(map(editions.is_solution, rest)) == len(exercise_names(path))
    for cell in notebooks.code_cells(student):
        assert cell.outputs == []
        assert cell.execution_count is None


# nbval runs all these cells in their chapters, and compares what they show: here it need not be done again.
@pytest.mark.thorough
@EACH_CHAPTER
def test_the_students_exercises_need_nothing_but_imports_and_none_is_passed_yet(folder, path):
    student = notebooks.code_cells(notebooks.read(folder / "student" / path.name))
    imports = new_code_cell("\n".join(editions.needed_imports(notebooks.read(path))))
    assert not unknown_names([imports, *filter(is_of_an_exercise, student)])
    *_, summary = filter(is_of_an_exercise, notebooks.code_cells(notebooks.read(path))[: len(student)])
    head, *states = shown(summary).splitlines()
    assert f": 0 of {len(exercise_names(path))} exercises passed" in head
    assert [state.split()[1].rstrip(":") for state in states] == exercise_names(path)
    assert "not checked" not in shown(summary)


@pytest.mark.thorough
@EACH_CHAPTER
def test_each_of_the_teachers_solutions_needs_nothing_but_imports_and_passes(folder, path):
    imports, *works = notebooks.code_cells(notebooks.read(folder / "teacher" / path.name))
    assert not unknown_names([imports, *works])
    in_the_chapter = [*filter(editions.is_solution, notebooks.code_cells(notebooks.read(path)))]
    for name, work, solution in zip(exercise_names(path), works, in_the_chapter, strict=True):
        assert work.source.endswith(solution.source)  # the cells before it may help it
        assert f"{name}: passed" in shown(solution)


@pytest.mark.thorough
def test_both_editions_run_where_they_are(folder):
    """With the packages that lie beside them, which are the same for all chapters: one is enough."""
    path = notebooks.BOOK / "what-is-attention.ipynb"
    student = notebooks.code_cells(notebooks.read(folder / "student" / path.name))
    assert f": 0 of {len(exercise_names(path))} " in run(folder / "student", student)[-1]
    teacher = notebooks.code_cells(notebooks.read(folder / "teacher" / path.name))
    _, *reports = run(folder / "teacher", teacher)
    passed = [f"{name}: passed" for name in exercise_names(path)]
    assert [report.splitlines()[0] for report in reports] == passed


@EACH_CHAPTER
def test_the_teachers_edition_shows_each_solution_under_its_task(folder, path):
    title, _, *pairs = notebooks.read(folder / "teacher" / path.name).cells
    assert title.source.startswith("# Solutions: ")
    for task, solution in zip(pairs[::2], pairs[1::2], strict=True):
        assert task.source.startswith("### ")
        assert "solution" in solution.source
        assert solution.metadata == {}


@pytest.mark.thorough
def test_a_second_time_makes_the_same_files(folder, tmp_path):
    said = list(editions.write(tmp_path))
    assert list(editions.write(tmp_path)) == said
    assert len(said) == 2 * len(CHAPTERS)
    for path in tmp_path.rglob("*.*"):
        assert path.is_dir() or path.read_bytes() == (folder / path.relative_to(tmp_path)).read_bytes()


def test_only_imports_that_a_solution_uses_are_taken():
    source = (
        "def solution(query):\n    scores = query @ query\n    return math.sqrt(scores)\n\n\ncheck(solution)"
    )
    cells = [
        new_code_cell("import math\nfrom attnlab import scores"),
        new_code_cell("import math\nfrom attnlab import check, plots"),
        new_markdown_cell("## Solutions"),
        new_markdown_cell("**A product**"),
        new_code_cell(source, metadata={"tags": ["hide-cell"]}),
    ]
    found = editions.needed_imports(new_notebook(cells=cells))
    assert found == ["import math", "from attnlab import check, plots"]
