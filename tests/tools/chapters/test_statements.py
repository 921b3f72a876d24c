"""No chapter states a number that nothing holds; and the search for what holds it can fail."""

import subprocess
import sys

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from bookkit import mime_types
from tools import ROOT
from tools.chapters import notebooks, stamps, statements

CLAIM = {"sentence": "raw, d_k = 64: mean of 20 seeds", "numbers": {"at_most": 0.6}, "measured": 0.48349}


@pytest.mark.parametrize("path", notebooks.chapters(), ids=lambda path: path.stem)
def test_every_number_in_the_prose_is_held(path, record_property):
    _, *listed = lines = [*statements.table(path)]
    assert listed
    record_property("numbers", lines)  # for the last lines of a run
    loose = statements.loose(lines)
    assert not loose, "\n".join([statements.HELP, *loose])


def chapter(prose, code="runs = 33", section="## Learning"):
    claim = new_output("display_data", {mime_types.CLAIM: CLAIM, "text/plain": "✓ …"})
    printed = new_output("stream", text="scores 7 and 12\n")
    return new_notebook(
        cells=[
            new_markdown_cell("# A chapter\n\nIt comes to 48 %."),
            new_markdown_cell(f"{section}\n\n{prose}", id="text"),
            new_code_cell(code, id="train", outputs=[claim, printed]),
            new_markdown_cell("## Elsewhere\n\nNothing."),
        ]
    )


def holder(prose, **more):
    """Of the one number in the section."""
    (_, statement) = statements.statements(chapter(prose, **more))
    return statement.holder


@pytest.mark.parametrize(
    ("prose", "expected"),
    [
        ("About 48 % are right.", "measured: raw, d_k = 64: mean of 20 seeds"),
        ("A share of 0.48.", "measured: raw, d_k = 64: mean of 20 seeds"),
        ("A share of 0.483.", "measured: raw, d_k = 64: mean of 20 seeds"),
        ("Never above 60 %.", "claimed: raw, d_k = 64: mean of 20 seeds"),
        ("At $d_k = 64$.", "named: raw, d_k = 64: mean of 20 seeds"),
        ("The scores are 12.", "printed: train"),
        ("A third, $1/3$.", "set: train"),
        ("The rate is 10^{-4}.", "set: train"),
        ("There are 1,024 keys.", "set: train"),
    ],
)
def test_a_number_is_held_by_what_is_near(prose, expected):
    assert holder(prose, code="seeds, rate = 20, 1e-4\nshare = 1 / 3\nkeys = 2**10") == expected


@pytest.mark.parametrize(
    "prose",
    ["About 49 % are right.", "A share of 0.50.", "A share of 0.484.", "At $d_k = 65$.", "It takes 3 s."],
)
def test_a_number_that_nothing_holds_is_found(prose):
    assert holder(prose) == ""


@pytest.mark.parametrize(
    "code",
    [
        "steps = 77", "small, steps = 5, 77", "steps: int = 77", "train(77)", "train(steps=77)",
        "train([5, 77])", "steps = {77: 5}", "steps = {'all': {77}}", "def train(steps=77): pass",
        "train = lambda *, steps=77: steps", "for steps in (5, 77): pass", "[train for steps in (5, 77)]",
        "steps = 77 if fast else 770", "shift = -77", "print(train(77))", "claim('right', train(77))",
        "%time steps = 5\ntrain(77)", "last[0] = 77", "share = 154 / 2", "(steps := 77)",
    ],
)  # fmt: skip
def test_code_holds_what_it_gives_to_a_name_or_a_function(code):
    assert holder("It takes 77 steps.", code=code) == "set: train"


@pytest.mark.parametrize(
    "code",
    [
        "share = 77 / epoch", "train(77 * width)", "assert train() == 77", "last = rows[77]",
        "claim('right', 77)", "claim('right', train(), at_most=77)",
        "print(77)", "steps = 77 > train()", "steps = [77 - width]",
    ],
)  # fmt: skip
def test_an_equal_literal_holds_no_result(code):
    """It is neither given to a name nor to a function: so the code works with it, or compares with it."""
    assert holder("It takes 77 steps.", code=code) == "literal: train"
    (_, statement) = statements.statements(chapter("It takes 77 steps.", code=code))
    assert not statement.is_held
    assert str(statement) == "77  “It takes 77 steps.”  (cell text)  ← NOTHING but a literal: train"


@pytest.mark.parametrize("prose", ["It gets 33 %.", "It takes 33 times as long.", "$33$ times the work."])
def test_nobody_sets_a_share_or_a_ratio(prose):
    assert holder(prose, code="runs, dropout = 33, 0.33") == "literal: train"
    assert holder(prose.replace("33", "20")) == ""  # although a claim names 20 seeds
    assert holder("With 33 runs, times two.", code="runs = 33") == "set: train"


def elsewhere(section, prose, code="runs = 33"):
    """What holds the one number of the chapter's last section."""
    notebook = chapter("Words.", code=code)
    notebook.cells[-1].source = f"## {section}\n\n{prose}"
    return statements.statements(notebook)[-1].holder


def test_what_another_section_measured_or_set_holds_nothing_by_chance_but_in_the_summary():
    assert elsewhere("Elsewhere", "It is 0.48.") == ""
    assert elsewhere("Elsewhere", "It is 33.") == "literal: train"
    assert elsewhere("Elsewhere", "It is 12.") == ""
    assert elsewhere("Elsewhere", "It is 60 %.") == "claimed: raw, d_k = 64: mean of 20 seeds (in “Learning”)"
    # The summary speaks of the whole chapter.
    assert elsewhere("What we measured", "It is 0.48.").startswith("measured: raw")
    assert elsewhere("What we measured", "With 33 runs.") == "set: train (in “Learning”)"
    assert elsewhere("What we measured", "It gets 33 %.") == "literal: train"


def test_what_is_set_among_the_imports_holds_everywhere():
    notebook = chapter("With 77 seeds.")
    notebook.cells.insert(1, new_code_cell("SEEDS = 77", id="imports"))
    assert statements.statements(notebook)[-1].holder == "set: imports"


def test_a_check_sets_what_its_exercise_asks_for(monkeypatch, tmp_path):
    check = tmp_path / "exercises.py"
    check.write_text("rows = 77")
    monkeypatch.setattr(statements, "checks", lambda: {check})
    monkeypatch.setattr(stamps, "package_files", lambda modules: [check] if modules else [])
    assert holder("Rows of 77.", code="from chapters import a_check") == f"set: {tmp_path.name}"
    assert holder("Rows of 77.", code="seeds = 20") == ""


def test_a_solution_sets_what_its_exercise_states():
    notebook = chapter("Of shape (33, 44).", section="## Exercises")
    notebook.cells[-1].source = "## Solutions"
    notebook.cells.append(new_code_cell("torch.ones(33, 44)", id="solution"))
    assert [one.holder for one in statements.statements(notebook)[1:]] == ["set: train", "set: solution"]


def test_the_list_says_what_holds_each_number_and_fails_where_nothing_does(tmp_path):
    command = [sys.executable, "-m", "tools.chapters.statements"]
    held, loose = tmp_path / "held.ipynb", tmp_path / "loose.ipynb"
    notebooks.write(chapter("With 33 runs."), held)
    notebooks.write(chapter("With 49 seeds."), loose)
    run = subprocess.run([*command, held, loose], cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.stdout.splitlines()[:3] == [
        "held.ipynb: 2 numbers stated (1 measured, 0 claimed, 0 printed, 0 named, 1 set, 0 held by nothing)",
        "  48 %  “It comes to 48 %.”  ← measured: raw, d_k = 64: mean of 20 seeds (in “Learning”)",
        "  33  “With 33 runs.”  ← set: train",
    ]
    failing = "loose.ipynb: 49  “With 49 seeds.”  (cell text)  ← NOTHING"
    assert (run.returncode, run.stderr.splitlines()) == (1, [*statements.HELP.splitlines(), failing])


@pytest.mark.parametrize(
    "prose",
    [
        "`x = 77`", "```\n77\n```", "mean 0 and variance 1", "a 100 % share", "in 2017", "Su (2024)",
        "$x_{77}$", "$e^{77}$", "Section 3.2.1", "Section 77", "Figures 77", "version 0.6.0", "PyTorch 2.13",
        "{cite}`britz77`", "float77", "[a link](https://example.org/77)", "<details data-answer=\"77\">",
        "3. the third step", "*20 minutes to read · 77 seconds to run*", "*Difficulty 1 of 5 · 77 minutes*",
    ],
)  # fmt: skip
def test_what_states_nothing_is_left_out(prose):
    assert len(statements.statements(chapter(prose))) == 1
