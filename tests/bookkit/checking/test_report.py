"""Reports: what is shown, and what is kept for the summary; and shape puzzles, which give nothing away."""

import linecache
import re

import pytest
import torch
from clocks import Clock
from exercise_cases import words
from IPython.core.formatters import DisplayFormatter
from small_checks import check_count, check_scores, check_shapes, check_shift

from bookkit import registry
from bookkit.checking import report
from bookkit.checking.puzzle import ShapePuzzle
from bookkit.checking.report import Report


@pytest.fixture(autouse=True)
def no_reports_from_elsewhere(monkeypatch):
    monkeypatch.setattr(report, "latest", {})


def test_a_check_is_called_like_a_function_and_keeps_its_report():
    assert check_count(check_count.reference).passed
    assert report.latest["count"].passed
    assert not check_count(lambda *sizes: 7).passed
    assert report.latest["count"].state == "not yet", "the latest counts"


def test_judging_and_trying_hand_nothing_in():
    check_count.judge(check_count.reference)
    check_count.trials()
    check_shapes.trials()
    assert report.latest == {}


def test_what_was_tried_once_is_not_tried_again():
    first = check_count.trials()
    assert first.keys() == check_count.mistakes.keys()
    assert all(again is first[name] for name, again in check_count.trials().items())


# As it stands in "Why divide by √d_k?", where it passes another check than these.
OF_THE_BOOK = """\
def solution(d_k, query_spread, key_spread):
    return math.sqrt(d_k * query_spread**2 * key_spread**2)
"""
OF_A_READER = OF_THE_BOOK.replace("math.sqrt(d_k * query_spread**2 * key_spread**2)", "-1")


def from_cell(source):
    """The function that is called `solution` when a cell has run, whose source is kept as IPython does."""
    name, names = f"<cell {hash(source)}>", {}
    linecache.cache[name] = len(source), None, source.splitlines(keepends=True), name
    exec(compile(source, name, "exec"), names)
    return names["solution"]


def judged_as(state, monkeypatch):
    said = Report("count", state, ("  ✓ it",))
    monkeypatch.setattr(type(check_count), "judge", lambda check, work: said)


def test_the_books_own_solution_hands_nothing_in(monkeypatch):
    judged_as("passed", monkeypatch)
    given = check_count(from_cell(OF_THE_BOOK))
    assert repr(given) == "count: passed\n  (the book's solution, not yours)"
    assert report.latest == {}


@pytest.mark.parametrize("chapter", registry.chapters(), ids=lambda chapter: chapter.name)
def test_every_solution_of_the_book_is_known_as_such(chapter):
    cells = re.findall(r"^def solution\(.*?(?=^check_)", chapter.solutions, re.DOTALL | re.MULTILINE)
    assert cells
    assert all(report.is_the_books(from_cell(source)) for source in cells), "run `make refresh`"


def test_a_function_of_the_readers_that_is_called_solution_counts(monkeypatch):
    judged_as("passed", monkeypatch)
    for work in (from_cell(OF_A_READER), eval("lambda: 0")):
        work.__name__ = "solution"
        given = check_count(work)
        assert "not yours" not in repr(given)
        assert report.latest.pop("count") is given


def test_a_solution_that_does_not_pass_is_told_why():
    solution = from_cell(OF_THE_BOOK)
    given = check_count(solution)
    assert len(given.lines) > 2
    assert given.lines[1:] == check_count.judge(solution).lines


def test_a_solution_that_is_a_class_or_a_dictionary_is_the_readers():
    check_shift(check_shift.reference)
    check_shapes(check_shapes.shapes)
    assert report.latest.keys() == {"shift", "shapes"}


def test_a_notebook_shows_the_same_text_as_a_terminal():
    given = check_scores.judge(None)
    for shown in (given, report.Text("as it is")):
        formatted, _ = DisplayFormatter().format(shown)
        assert formatted == {"text/plain": repr(shown)}
    assert repr(report.Text("as it is")) == "as it is"
    assert [*map(repr, (check_scores, check_shapes))] == ["check_scores", "check_shapes"]


# ---- shape puzzles: any answer is judged in words ----


RIGHT = check_shapes.shapes


def test_each_expression_is_judged_for_itself():
    report = check_shapes.judge({"query.mT": (50, 64), "query.sum()": (1,)})
    assert report.mistake == "not turned"
    assert repr(report).splitlines() == [
        "shapes: not yet",
        "  ✗ query.mT",
        "  ✗ query.sum()",
        "→ query.mT: `mT` turns the last two axes.",
        "→ query.sum(): an axis of length 1 is too many.",
    ]


def test_what_is_not_said_yet_is_neither_right_nor_wrong():
    report = check_shapes.judge(RIGHT | {"query.sum()": ...})
    assert repr(report).splitlines() == ["shapes: not yet", "  ✓ query.mT", "  · query.sum()"]
    for stub in (dict.fromkeys(RIGHT, ...), {}):
        assert check_shapes.judge(stub).state == "not written yet"


class Agreeable(tuple):
    """Claims to be equal to everything."""

    __slots__ = ()
    __hash__ = tuple.__hash__

    def __eq__(self, other):
        return True


NO_SHAPE = "query.mT: a shape is a tuple of whole numbers"
TOO_MANY = "axis of length 1 too many"


@pytest.mark.parametrize(
    ("shape", "name", "said"),
    [
        ((64, 1, 50), TOO_MANY, ""),
        ((50, 64, 1), TOO_MANY, ""),
        ((64, 2), None, "query.mT: axis 1, counted from 0, has another size."),
        ((64,), None, "query.mT: your shape has too few axes."),
        ((64, 50, 2), None, "query.mT: your shape has too many axes."),
        (8, None, "a single number, which (8) is, too. As a shape of one axis it is written (8,)."),
        *((shape, None, NO_SHAPE) for shape in ("(64, 50)", None, (64.0, 50.0), (True, True), {64: 50})),
        *((shape, None, NO_SHAPE) for shape in (torch.ones(2), Agreeable((1,)))),
    ],
    ids=lambda part: type(part).__name__,
)
def test_what_is_seen_in_any_puzzle(shape, name, said):
    report = check_shapes.judge(RIGHT | {"query.mT": shape})
    assert not report.passed
    assert report.mistake == name
    assert said in words(report)


def test_what_lacks_an_axis_of_length_1_or_has_another_order_is_told_so():
    puzzle = ShapePuzzle("column", difficulty=1, minutes=1, shapes={"column": (8, 1, 3)}, mistakes={})
    assert puzzle.judge({"column": (8, 3)}).mistake == "axis of length 1 missing"
    assert puzzle.judge({"column": (3, 1, 8)}).mistake == "in another order"
    assert puzzle.judge({"column": (8, 3, 3)}).mistake is None


def test_a_changed_question_and_what_is_no_dictionary_are_told_so():
    assert "leave them as they were" in words(check_shapes.judge({"query.T": (64, 50), "query.sum()": ()}))
    for answers in (None, ..., [(64, 50)], "shapes", 3):
        assert "check_shapes(my_shapes)" in words(check_shapes.judge(answers))


def test_a_function_that_finds_the_shapes_is_run_with_care(monkeypatch):
    clock = Clock(monkeypatch)
    assert check_shapes.judge(lambda: check_shapes.shapes).passed
    assert "It raises ZeroDivisionError: division by zero" in words(check_shapes.judge(lambda: 1 / 0))
    assert "does not finish within 10 seconds" in words(check_shapes.judge(lambda: clock.passes(11)))
    assert "the dictionary" in words(check_shapes.judge(lambda: None))
