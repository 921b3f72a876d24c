"""`make grade`: a class of made-up hand-ins of every kind, made from the real hand-out of a chapter."""

import csv
import json
import re
import socket
import subprocess
import sys

import pytest
import torch
from accessible import in_both_colours
from nbformat.v4 import new_code_cell

from bookkit.catalogue import every_exercise
from bookkit.checking.exercise import Exercise
from bookkit.checking.report import Report
from chapters.where_am_i.exercises import check_reach
from tools import ROOT
from tools.chapters import editions, notebooks
from tools.grade import grader, sandbox, table

CHAPTER = notebooks.BOOK / "what-is-attention.ipynb"
OTHER = notebooks.BOOK / "text-as-tensors.ipynb"
pytestmark = pytest.mark.thorough

EXERCISES = ["soft_lookup", "gate_shapes", "needed_temperature", "repaired_regression", "learned_bandwidth"]
# Of the code in the hand-out: where the second exercise stands, in whose place trouble is put.
HANDED_OUT = notebooks.code_cells(editions.for_students(notebooks.read(CHAPTER)))
PLACE = next(place for place, cell in enumerate(HANDED_OUT, 1) if "check_gate_shapes(" in cell.source)

WRONG = """def mine(query, key, value, temperature):
    return query @ key.mT, query


check_soft_lookup(mine)"""

MULTIPLIED = """def mine(query, key, value, temperature):
    weights = torch.softmax(query @ key.mT * temperature, dim=-1)
    return weights @ value, weights


check_soft_lookup(mine)"""

FORGER = """import gc, json, os
from multiprocessing.connection import Connection

(pipe,) = [thing for thing in gc.get_objects() if isinstance(thing, Connection)]
for name in ("soft_lookup", "gate_shapes", "needed_temperature", "repaired_regression", "learned_bandwidth"):
    words = {"exercise": name, "state": "passed", "answers": [[]], "gradients": {}}
    pipe.send_bytes(json.dumps(words).encode())
pipe.send_bytes(json.dumps({"end": True}).encode())
"""

TAMPERER = """import sys
from bookkit.checking import exercise, report

right = report.Report("soft_lookup", "passed", ())
exercise.Exercise.judge = lambda self, work: right
sys.modules["bookkit.checking.report"].latest["soft_lookup"] = right
"""

REPLACER = """def check_soft_lookup(work):
    print("soft_lookup: passed")


"""

VANDAL = """import socket, subprocess
from pathlib import Path

for deed in (
    lambda: Path("FOLDER", "grades.csv").write_text("mallory,5"),
    lambda: socket.create_connection(("192.0.2.1", 80), 1),
    lambda: socket.create_connection(("127.0.0.1", PORT), 1),
    lambda: subprocess.run(["touch", "FOLDER/touched"]),
    lambda: subprocess.Popen(["sleep", "98.7"], start_new_session=True),
):
    try:
        deed()
    except OSError:
        pass
print("What is attention?: 5 of 5 exercises passed")
Path("mine.txt").write_text("in its own folder")
assert not Path("FOLDER", "all right.ipynb").read_bytes(), "the work of others"
"""


# What the book's solutions do, under another name: that of a solution does not count.
RIGHT = {
    re.search(r"check_(\w+)", cell.source)[1]: cell.source.replace("solution", "mine")
    for cell in filter(editions.is_solution, notebooks.read(CHAPTER).cells)
}
UNCHECKED = {name: source.partition("\n\n\ncheck_")[0] for name, source in RIGHT.items()}
UNCHECKED["soft_lookup"] = UNCHECKED["soft_lookup"].replace("mine", "my_soft_lookup")


def trouble(code):
    return {"soft_lookup": RIGHT["soft_lookup"], "gate_shapes": code}


NOT_WRITTEN = "not written yet"
STARTED = [NOT_WRITTEN, NOT_WRITTEN, "not yet: still broken", NOT_WRITTEN]  # the repair is broken as it comes
STOPPED = ["passed", *["not reached"] * 4]
# Each hand-in: what stands in the place of the stubs, how the exercises stand then, and what is remarked.
HAND_INS = {
    "all right": (RIGHT, ["passed"] * 5, ""),
    "untouched": ({}, [NOT_WRITTEN, *STARTED], ""),
    "half of the whole chapter": (
        {name: RIGHT[name] for name in EXERCISES[2:]},
        [NOT_WRITTEN, NOT_WRITTEN, *["passed"] * 3],
        "",
    ),
    "older, with a known mistake": (
        {"soft_lookup": MULTIPLIED},
        ["not yet: multiplied", *STARTED],
        "was handed out by another release of the book",
    ),
    "hanging": (
        trouble("import time\nwhile True:\n    time.sleep(1)"),
        STOPPED,
        rf"cell {PLACE} does not end within 20 seconds.*",
    ),
    "memory hog": (
        trouble("hoard = []\nwhile True:\n    hoard.append(torch.empty(10**7))"),
        STOPPED,
        rf"cell {PLACE} fills more than 1.5 GB of memory.*",
    ),
    "ends itself": (trouble("import os\nos._exit(0)"), STOPPED, rf"cell {PLACE} ends its own process.*"),
    "checks deleted": (
        UNCHECKED,
        ["passed", *["missing"] * 4],
        "does not call check_soft_lookup, check_gate_shapes, check_needed_temperature, "
        "check_repaired_regression and check_learned_bandwidth",
    ),
    "check replaced": (
        {"soft_lookup": REPLACER + WRONG},
        ["not yet: ignored input", *STARTED],
        "puts something else in the place of check_soft_lookup",
    ),
    "machinery changed": (
        {"soft_lookup": TAMPERER + WRONG},
        ["not believed", NOT_WRITTEN, *["not believed"] * 3],
        "calls wrong answers passed: .*; replaces bookkit.checking.exercise.Exercise.judge",
    ),
    "forger": (trouble(FORGER), ["not believed"] * 5, "calls wrong answers passed: .*"),
    "syntax error": (
        RIGHT | {"gate_shapes": "my_shapes = {\ncheck_gate_shapes(my_shapes)"},
        ["passed", "missing", *["passed"] * 3],
        f"cell {PLACE}: raises SyntaxError: incomplete input .*",
    ),
    "vandal": (
        trouble(VANDAL),
        ["passed", "missing", *STARTED[1:]],
        r".*writes to \S+/grades.csv: refused; reaches for the network: refused"
        f"(; cell {PLACE}: raises AssertionError: the work of others)?",  # where there are no walls
    ),
}
# And two that are no hand-in, with what is remarked.
OTHERS = {
    "folder of her own/other chapter": "another chapter's: “Text as tensors”",
    "'=broken+JSON": "not a notebook: NotJSONError: .*",
}


@pytest.fixture(scope="module")
def listener():
    """On this machine, where a chapter's processes may talk to each other, but not from within walls."""
    with socket.socket() as waiting:
        waiting.bind(("127.0.0.1", 0))
        waiting.listen()
        waiting.setblocking(False)
        yield waiting


@pytest.fixture(scope="module")
def folder(tmp_path_factory, listener):
    folder = tmp_path_factory.mktemp("hand-ins")
    for name, (answers, _, _) in HAND_INS.items():
        notebook = notebooks.read(CHAPTER)
        if name != "half of the whole chapter":
            notebook = editions.for_students(notebook)
        if name.startswith("older"):
            notebook.metadata["attnlab"]["code"] = "another"
        for cell in filter(lambda cell: not editions.is_solution(cell), notebooks.code_cells(notebook)):
            for exercise, answer in answers.items():
                if f"check_{exercise}(" in cell.source:
                    port = str(listener.getsockname()[1])
                    cell.source = answer.replace("FOLDER", str(folder)).replace("PORT", port)
                    break
        notebooks.write(notebook, folder / f"{name}.ipynb")
    (folder / "folder of her own").mkdir()
    other = editions.for_students(notebooks.read(OTHER))
    notebooks.write(other, folder / "folder of her own" / "other chapter.ipynb")
    (folder / "=broken+JSON.ipynb").write_text("{")
    return folder


@pytest.fixture(scope="module")
def graded(folder):
    """What the command said, and for each hand-in its row of the CSV."""
    command = [sys.executable, "-m", "tools.grade", folder, "--seconds", "20", "--memory", "1500000000"]
    command.append("--trust")  # some systems that this is tested on have no walls
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert "Warning" not in run.stderr
    with (folder / "grades.csv").open(encoding="utf-8-sig", newline="") as file:
        return run.stdout, {row["hand-in"]: row for row in csv.DictReader(file)}


@pytest.mark.slow
@pytest.mark.parametrize("name", [*HAND_INS, *OTHERS])
def test_each_is_told_for_what_it_is(graded, name):
    _, rows = graded
    _, states, remark = HAND_INS.get(name) or (None, [""] * 5, OTHERS[name])
    assert len(rows) == len(HAND_INS | OTHERS)
    assert [rows[name][exercise] for exercise in EXERCISES] == states
    assert rows[name]["passed"] == str(states.count("passed"))
    assert re.fullmatch(remark, rows[name]["remarks"])


@pytest.mark.slow
def test_nothing_gets_out_and_nothing_is_left(graded, folder, listener):
    said, rows = graded
    # What other programs do and what detaches itself, only the system's own walls can hold.
    walled = "walled in by the system" in said
    try:
        listener.accept()[0].close()
        called = True
    except BlockingIOError:
        called = False
    running = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert called != walled
    assert ("the work of others" in rows["vandal"]["remarks"]) != walled
    assert (folder / "touched").exists() != walled
    assert ("sleep 98.7" in running) != walled


@pytest.mark.slow
def test_the_page_can_be_read_by_everybody(graded, folder, page):
    page.goto((folder / "grades.html").as_uri())
    assert not in_both_colours(page, rules={})  # all that axe knows
    assert page.locator("caption").all_inner_texts() == ["Who passed what", "Mistakes that were recognised"]
    assert page.locator("script").count() == 0
    assert page.get_by_role("rowheader", name="=broken+JSON").count() == 1


# ---- what is believed ----


def test_a_work_called_solution_counts_unless_it_is_the_books_or_another_is_handed_in():
    def cells(*sources):
        return [new_code_cell(source) for source in sources]

    books, mine = "def solution(): ...\ncheck_one(solution)", "check_one(my_one)"
    hers = books.replace("...", "return 1")
    of_the_book = frozenset([books])
    assert grader.works(cells(books), of_the_book) == {}
    assert grader.works(cells(hers, books), of_the_book) == {"check_one": (1, "solution")}
    assert grader.works(cells(mine, hers), of_the_book) == {"check_one": (1, "my_one")}


CHECKS = grader.checks("what_is_attention")


def told_of(check, work):
    """What the process of a hand-in tells of a work, having come through the pipe."""
    return json.loads(json.dumps(sandbox.judged(check, "work", {"work": work})))


@pytest.mark.parametrize("check", [check for _, check in every_exercise()], ids=str)
def test_every_exercise_of_the_book_can_be_passed(check):
    assert grader.believed(check, told_of(check, check.right_work())).state == "passed"


@pytest.mark.parametrize(
    ("weights", "answer"),
    [
        ("(query @ key.mT * temperature).softmax(-1)", "weights @ value"),
        ("(query @ key.mT / temperature).softmax(-1).detach()", "weights @ value"),
        ("(query @ key.mT / temperature).softmax(-1)", "(weights @ value).double()"),
    ],
    ids=["wrong", "no gradient", "another precision"],
)
def test_answers_that_are_not_right_are_no_pass_whatever_is_said_of_them(weights, answer, monkeypatch):
    says_passed = Report("soft_lookup", "passed", ())
    monkeypatch.setattr(Exercise, "judge", lambda check, work: says_passed)
    names = {"torch": torch}
    exec(
        f"def mine(query, key, value, temperature):\n    weights = {weights}\n    return {answer}, weights",
        names,
    )
    told = told_of(CHECKS["soft_lookup"], names["mine"])
    assert told["answers"]
    assert grader.believed(CHECKS["soft_lookup"], told).state == "not believed"


@pytest.mark.parametrize(
    "told", [{}, {"answers": 1}, {"answers": [], "gradients": {}}, {"answers": [[{"dtype": "load"}]]}]
)
@pytest.mark.parametrize("name", EXERCISES)
def test_a_pass_without_answers_is_not_believed(name, told):
    assert grader.believed(CHECKS[name], told | {"state": "passed"}).state == "not believed"


def test_an_experiments_shares_are_looked_at_again():
    told = told_of(check_reach, check_reach.right_work())
    told["answers"][1] = sandbox.encoded(torch.full((5,), 0.1))
    assert grader.believed(check_reach, told).state == "not believed"


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int64, torch.bool, torch.complex64])
@pytest.mark.parametrize("shape", [(), (0, 2), (2, 3)])
def test_tensors_cross_as_plain_data(dtype, shape):
    there = sandbox.decoded(json.loads(json.dumps(sandbox.encoded(torch.ones(shape, dtype=dtype)))))
    assert there.dtype == dtype
    assert torch.equal(there, torch.ones(shape, dtype=dtype))


@pytest.mark.parametrize("name", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"])
def test_a_spreadsheet_does_not_reckon(name):
    assert (table.as_text(name), table.as_text(f"a{name}")) == (f"'{name}", f"a{name}")


# ---- what a folder can be ----
@pytest.mark.parametrize(
    ("files", "words"),
    [
        (None, "say where the hand-ins are: make grade FOLDER=hand-ins"),
        ({}, "there is no notebook in"),
        ({"one.ipynb": "nonsense"}, "is a chapter of this book"),
    ],
)
def test_a_folder_without_hand_ins_is_told_in_one_line(tmp_path, monkeypatch, capsys, files, words):
    for name, text in (files or {}).items():
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(sys, "argv", ["grade", "" if files is None else str(tmp_path)])
    assert grader.main() == 1
    said = capsys.readouterr().err
    assert words in said
    assert said.count("\n") == 1


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [{"source": 3}]}']
)
def test_what_is_no_notebook_is_told(tmp_path, text):
    path = tmp_path / "one.ipynb"
    path.write_text(text)
    with pytest.raises(grader.UnreadableError, match="not a notebook: "):
        grader.read(path)
