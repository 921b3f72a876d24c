"""`make exercises`: a student's edition that gives nothing away, a teacher's that passes, and both run."""

import re
from itertools import chain

import nbclient
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from bookkit.catalogue import of_chapter
from tools.chapters import editions, notebooks

EACH_CHAPTER = pytest.mark.parametrize("path", notebooks.chapters(), ids=lambda path: path.stem)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("exercises")
    list(editions.write(folder))
    return folder


def run(place, sources_of):
    """Chapter to what each of its cells shows as plain text, in a kernel in the edition's own folder.

    One kernel runs all chapters, and before each it forgets the names that those before it have made.
    """
    sources = {path: ["%reset -s -f", *sources_of(path)] for path in notebooks.chapters()}
    cells = {path: [new_code_cell(source) for source in sources[path]] for path in sources}
    notebook = new_notebook(cells=[*chain(*cells.values())], metadata=notebooks.NOTEBOOK_METADATA)
    # Far above what a cell takes: exercises train for seconds, and several processes share the processor.
    client = nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(place)}})
    client.execute()
    return {
        path: ["".join(data["text/plain"] for data in notebooks.displays(cell)) for cell in part[1:]]
        for path, part in cells.items()
    }


def exercise_names(path):
    exercises = of_chapter(path.stem.replace("-", "_"))
    return [exercise.name for exercise in exercises]


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


@pytest.mark.thorough
def test_the_students_exercises_run_and_none_is_passed_yet(folder):
    """Without the experiments before them, which nbval runs: all that the exercises share is imports."""

    def sources_of(path):
        imports = "\n".join(editions.needed_imports(notebooks.read(path)))
        cells = notebooks.code_cells(notebooks.read(folder / "student" / path.name))
        return [
            imports,
            *(each.source for each in cells if re.search(r"\bcheck_\w+[(,]|\bsummary\(", each.source)),
        ]

    for path, shown in run(folder / "student", sources_of).items():
        head, *states = shown[-1].splitlines()
        assert f": 0 of {len(exercise_names(path))} exercises passed" in head
        assert [state.split()[1].rstrip(":") for state in states] == exercise_names(path)
        assert "not checked" not in shown[-1]


@pytest.mark.thorough
def test_each_of_the_teachers_solutions_passes(folder):
    def sources_of(path):
        cells = notebooks.code_cells(notebooks.read(folder / "teacher" / path.name))
        return [cell.source for cell in cells]

    for path, (_, *reports) in run(folder / "teacher", sources_of).items():
        assert [report.splitlines()[0] for report in reports] == [
            f"{name}: passed" for name in exercise_names(path)
        ]


@EACH_CHAPTER
def test_the_teachers_edition_shows_each_solution_under_its_task(folder, path):
    title, _, *pairs = notebooks.read(folder / "teacher" / path.name).cells
    assert title.source.startswith("# Solutions: ")
    for task, solution in zip(pairs[::2], pairs[1::2], strict=True):
        assert task.source.startswith("### ")
        assert "solution" in solution.source
        assert solution.metadata == {}


def test_a_second_time_makes_the_same_files(folder, tmp_path):
    said = list(editions.write(tmp_path))
    assert list(editions.write(tmp_path)) == said
    assert len(said) == 2 * len(notebooks.chapters())
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
