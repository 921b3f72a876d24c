"""What the check of a reader's project finds missing: each thing that people leave out, or get wrong."""

import json
import runpy
import sys

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from bookkit import project
from bookkit.project import TEMPLATE, Side, check_project, look, report

TRIED = {0.004: 2.25, 0.008: 2.15, 0.016: 2.3}
CURVE = [3 - 0.02 * update for update in range(100)]
MINE = Side("dropout", TRIED, 0.008, [0, 1, 2], [2.0, 2.2, 2.1], CURVE, 100, 70_000)
RIVAL = Side("none", TRIED, 0.008, [0, 1, 2], [1.91, 2.09, 2.0], CURVE, 100, 70_000)
WORDS = " of the words that a reader of such a section would want to have there before the end"
FOUND = f"It costs 0.1000 ± 0.0248 bits a byte: three pairs{WORDS}."


@pytest.fixture
def handed(monkeypatch, tmp_path):
    """A project as a reader hands it over, with what is asked for changed."""

    def build(mine=MINE, rival=RIVAL, unit="bits a byte", paired=True, found=FOUND, equal="updates"):
        shown = []
        monkeypatch.setattr(project, "get_ipython", lambda: "a kernel")
        monkeypatch.setattr(project, "display", lambda data, raw: shown.append(data))
        report(mine, rival, unit=unit, paired=paired, equal=equal)
        texts = (f"Does it cost anything?{WORDS}", WORDS, found, WORDS)
        written = zip(project.SECTIONS.values(), texts, strict=True)
        cells = [new_markdown_cell(f"## {heading}:\n\n{text}") for heading, text in written]
        cells.append(new_code_cell("x.backward()", execution_count=1))
        output = new_output("display_data", data=shown[0])
        cells.append(new_code_cell("report(mine, rival)", execution_count=2, outputs=[output]))
        cells.append(new_code_cell('check_project("my-project.ipynb")'))
        nbformat.write(new_notebook(cells=cells), tmp_path / "mine.ipynb")
        return tmp_path / "mine.ipynb"

    return build


def lacks(path):
    return {(each.thing, each.lack) for each in look(path) if each.lack}


def changed(path, cell, **parts):
    notebook = json.loads(path.read_text())
    notebook["cells"][cell].update(parts)
    path.write_text(json.dumps(notebook))
    return path


def test_a_whole_project_lacks_nothing_in_pairs_and_as_two_groups(handed, capsys):
    assert check_project(handed())
    assert capsys.readouterr().out.endswith("→ Nothing is missing that a program can see.\n")
    assert not lacks(handed(paired=False, found=FOUND.replace("± 0.0248", r"$\pm$ 0.217")))


def test_honest_work_is_not_refused(handed):
    mine = MINE._replace(tried=TRIED | {0.032: float("nan")}, losses=[2.0, 2.0, 1.9], updates=200)
    rival = RIVAL._replace(losses=[1.91, 1.89, 1.8])
    found = "### In short\n" + FOUND.replace("0.1000 ± 0.0248", "0,1 % ± 0,03 %")
    assert not lacks(handed(mine, rival, equal="time", found=found))


@pytest.mark.parametrize(
    ("thing", "said", "changes"),
    [
        ("seeds", "the least", {"mine": MINE._replace(seeds=[0], losses=[2.0])}),
        ("seeds", "comes twice", {"rival": RIVAL._replace(seeds=[0, 0, 1])}),
        ("seeds", "very same loss", {"mine": MINE._replace(losses=[2.0, 2.0, 2.0])}),
        ("seeds", "the same seeds on both", {"rival": RIVAL._replace(seeds=[3, 4, 5])}),
        ("seeds", "the unit is a training", {"mine": MINE._replace(losses=[2.0, 2.1] * 400)}),
        ("interval", "one standard error,", {"found": FOUND.replace("0.0248", "0.0058")}),
        ("interval", "1.96 standard errors", {"found": FOUND.replace("0.0248", "0.0113")}),
        ("interval", "it says 0 ± 0.02", {"found": FOUND.replace("0.1000 ± 0.0248", "0 ± 0.02")}),
        ("interval", "it says 0.2000", {"found": FOUND.replace("0.1000", "0.2000")}),
        ("interval", "no “number ± number”", {"found": f"It costs some bits a byte{WORDS}."}),
        ("unit", "does not say of what", {"unit": "loss"}),
        ("unit", "does not say “nats a word”", {"unit": "nats a word"}),
        ("rival", "100 updates, and yours 200", {"mine": MINE._replace(updates=200)}),
        ("rival", "50,000 weights", {"rival": RIVAL._replace(weights=50_000)}),
        ("rival", "both sides", {"rival": RIVAL._replace(name="dropout")}),
        ("rates", "the rival: its rate was not", {"rival": RIVAL._replace(tried={0.008: 2.15})}),
        ("rates", "was better", {"rival": RIVAL._replace(rate=0.004)}),
        ("rates", "outermost", {"mine": MINE._replace(tried={0.008: 2.15, 0.016: 2.3})}),
        ("rates", "report another", {"mine": MINE._replace(losses=[2.15, 2.2, 2.0])}),
        ("training", "no lower", {"mine": MINE._replace(curve=CURVE[::-1])}),
        ("length", "words", {"found": FOUND + WORDS * 60}),
    ],
)
def test_what_people_leave_out_is_told(handed, thing, said, changes):
    assert any(each == thing and said in lack for each, lack in lacks(handed(**changes)))


def test_an_error_a_cell_not_run_and_a_missing_section_are_told_with_their_cells(handed):
    error = new_output("error", ename="KeyError", evalue="'a'")
    told = {lack for _, lack in lacks(changed(handed(), 4, outputs=[error], execution_count=7))}
    assert told == {"it ended with KeyError: 'a'", "it ran before the cell above it"}
    path = changed(changed(handed(), 4, execution_count=None), 2, source="")
    assert {"cells 5", "no section “## What I found”"} == {each.place for each in look(path) if each.lack}


def test_the_template_as_it_is_lacks_all_but_length():
    assert {thing for thing, _ in lacks(TEMPLATE)} == project.GOOD.keys() - {"length"}


@pytest.mark.parametrize("content", [None, "no JSON", "[]", '{"cells": [{}]}'])
def test_what_is_no_notebook_is_told_in_one_sentence(tmp_path, monkeypatch, content):
    if content is not None:
        (tmp_path / "x.ipynb").write_text(content)
    monkeypatch.setattr(sys, "argv", ["project", str(tmp_path / "x.ipynb")])
    with pytest.raises(SystemExit, match="path must be a notebook"):
        runpy.run_path(project.__file__, run_name="__main__")


def test_a_loss_that_is_no_number_is_not_stored():
    with pytest.raises(ValueError, match="JSON"):
        report(MINE._replace(losses=[float("nan")]), RIVAL, unit="bits a byte", paired=True)


@pytest.mark.slow
def test_the_code_of_the_template_runs(capsys):
    code = "\n".join(
        cell.source for cell in nbformat.read(TEMPLATE, 4).cells[4:-1] if cell.cell_type == "code"
    )
    for long, short in {"100, 64": "2, 8", "range(1, 6)": "range(2)", ":29]": ":1]", "29:]": "-1:]"}.items():
        assert long in code
        code = code.replace(long, short)
    exec(code, {})
    assert "dropout 0.1 minus no dropout: " in capsys.readouterr().out
