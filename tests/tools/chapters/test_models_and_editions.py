"""`make models`, `make chapter` and `make exercises`: what they make works, and gives nothing away."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbclient
import pytest
import torch
import yaml
from bs4 import BeautifulSoup
from nbformat.v4 import new_code_cell, new_notebook
from torch import nn

from attnlab.training.history import History
from bookkit import registry, weights
from bookkit.catalogue import of_chapter
from tools import ROOT
from tools.chapters import editions, models, new_chapter, notebooks, readme, refresh, stamps

ROOM = 6_000_000  # bytes, for all stored weights together


def constant(seed):
    """A model of one number, its seed."""
    model = nn.Linear(1, 1, bias=False)
    nn.init.constant_(model.weight, seed)
    return model, History(training_losses=[2.0, 1.0], notes={"seed": torch.tensor([seed])})


@pytest.fixture
def book(tmp_path, monkeypatch):
    """A book with one chapter that has a recipe, and claims that the seed is at most 1."""
    source = f"""
import sys
sys.path.insert(0, {str(stamps.source())!r})
from torch import nn
from bookkit import weights
model = nn.Linear(1, 1, bias=False)
weights.load("a_chapter/constant", model)
assert model.weight <= 1, "the claim does not hold"
"""
    chapter = new_notebook(cells=[new_code_cell(source)], metadata=notebooks.NOTEBOOK_METADATA)
    notebooks.write(chapter, tmp_path / "a-chapter.ipynb")
    monkeypatch.setattr(models, "recipes", lambda: {"a_chapter": {"constant": constant}})
    monkeypatch.setattr(registry, "chapters", lambda: [registry.Chapter(tmp_path / "a-chapter.ipynb")])
    monkeypatch.setattr(weights, "STORED", tmp_path / "models")
    monkeypatch.setenv(weights.FOLDER_VARIABLE, "")
    return tmp_path


def test_what_is_trained_is_stored_and_what_no_recipe_makes_goes(book, capsys, monkeypatch):
    left = book / "models/a_chapter/forgotten.npz"
    left.parent.mkdir(parents=True)
    left.touch()
    monkeypatch.setattr("sys.argv", ["models.py"])
    assert models.main() == 0
    assert [*(book / "models").rglob("*.npz")] == [book / "models/a_chapter/constant.npz"]
    model = nn.Linear(1, 1, bias=False)
    assert weights.load("a_chapter/constant", model) == [2.0, 1.0]
    assert model.weight.item() == models.STORED_SEED
    assert weights.notes("a_chapter/constant")["seed"].tolist() == [models.STORED_SEED]
    assert "a_chapter/constant: 0 s, 1 kB, loss 1.000" in capsys.readouterr().out


@pytest.mark.thorough
def test_a_fresh_training_is_of_another_seed_and_leaves_the_stored_one_alone(book, capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", ["models.py", "--fresh"])
    assert models.STORED_SEED != models.FRESH_SEED == 1
    assert models.main() == 0
    assert not (book / "models").exists()
    assert "trained afresh, 0 of 1 chapters fail" in capsys.readouterr().out

    monkeypatch.setattr(models, "FRESH_SEED", 2)
    assert models.main() == 1
    said = capsys.readouterr()
    assert "the claim does not hold" in said.err
    assert "trained afresh, 1 of 1 chapters fail" in said.out


def test_every_recipe_has_its_weights_and_they_are_small():
    made = {f"{package}/{name}" for package, named in models.recipes().items() for name in named}
    stored = [*weights.STORED.rglob("*.npz")]
    assert made
    assert {f"{file.parent.name}/{file.stem}" for file in stored} == made
    assert sum(file.stat().st_size for file in stored) <= ROOM


def test_a_chapter_that_opens_anothers_weights_is_tried_with_fresh_ones_too():
    tried = {chapter.package for chapter in models.loading()}
    assert tried == {*models.recipes(), "is_it_any_good", "longer_than_it_was_trained"}


# ---- a new chapter ----


PART = "Training"


@pytest.fixture
def copy(tmp_path):
    """The project without what it builds and installs."""
    leave = shutil.ignore_patterns(".*", "_build", "node_modules", "__pycache__")
    shutil.copytree(ROOT, tmp_path / "copy", ignore=leave)
    return tmp_path / "copy"


@pytest.mark.thorough
def test_a_new_chapter_runs_builds_and_needs_nothing_else(copy):
    before = {path for path in copy.rglob("*") if path.is_file()}
    contents = (copy / "_toc.yml").read_text()
    made = new_chapter.make("a-new-chapter", "A new chapter?", PART, copy)

    assert {path for path in copy.rglob("*") if path.is_file()} - before == set(made)
    new = (copy / "_toc.yml").read_text().replace("      - file: a-new-chapter\n", "", 1)
    assert new == contents, "_toc.yml gains one line, and the rest stays"
    listed = registry.chapters(copy / "book", copy / "_toc.yml")
    (found,) = [one for one in listed if one.name == "a-new-chapter"]
    assert (found.title, found.part, found.package) == ("A new chapter?", PART, "a_new_chapter")

    # Alone in its book, executed as `make refresh` does and built with the book's own settings.
    fresh = refresh.normalise(refresh.execute(notebooks.read(found.notebook), copy / "book"), copy / "book")
    notebooks.write(fresh, found.notebook)
    assert notebooks.problems(found.notebook, copy / "book", copy / "_toc.yml") == []
    alone = {"format": "jb-book", "root": "references", "chapters": [{"file": "a-new-chapter"}]}
    (copy / "_toc.yml").write_text(yaml.safe_dump(alone))
    (copy / "node_modules").symlink_to(ROOT / "node_modules")
    program = Path(sys.executable).with_name("jupyter-book")
    options = ["--config", copy / "_config.yml", "--toc", copy / "_toc.yml", "--path-output", ".", "-W", "-n"]
    packages = {"PYTHONPATH": str(copy / "src")}
    built = subprocess.run(
        [program, "build", "book", *options],
        cwd=copy, env=os.environ | packages, capture_output=True, text=True,
    )  # fmt: skip
    page = copy / "_build/html/a-new-chapter.html"
    assert page.exists(), built.stdout + built.stderr
    headings = BeautifulSoup(page.read_text(), "html.parser").select("h1, h2")
    first = [heading.get_text().rstrip("#") for heading in headings][:3]
    assert first == ["A new chapter?", "Mistakes people make here", "Exercises"]


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"name": "Many heads"}, "NAME must be lower-case words joined by hyphens, got 'Many heads'"),
        ({"name": "where-am-i"}, "book/where-am-i.ipynb is there already"),
        ({"title": " "}, "TITLE must say what the chapter is called"),
        ({"part": "Part V"}, "PART must be one of Attention from first principles, .*, got 'Part V'"),
    ],
)
def test_what_can_not_be_made_is_told_and_leaves_no_trace(copy, wrong, words):
    before = sorted(copy.rglob("*"))
    with pytest.raises(ValueError, match=words):
        new_chapter.make(**({"name": "new", "title": "New", "part": PART, "root": copy} | wrong))
    assert sorted(copy.rglob("*")) == before


def test_the_readme_lists_the_chapters_as_they_are():
    text = readme.README.read_text(encoding="utf-8")
    assert readme.with_table(text, registry.chapters()) == text, "run `make refresh`"
    for one in registry.chapters():
        assert f"[{one.title}](book/{one.notebook.name}) | {one.goal} |" in text


# ---- hand-outs: the student's gives nothing away, the teacher's passes ----


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


@pytest.mark.thorough
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


@pytest.mark.thorough
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
    title, imports, *pairs = notebooks.read(folder / "teacher" / path.name).cells
    works = pairs[1::2]
    assert title.source.startswith("# Solutions: ")
    assert all(task.source.startswith("### ") for task in pairs[::2])
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
