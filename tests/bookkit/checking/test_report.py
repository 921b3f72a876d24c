"""Reports: what is shown, and what is kept for the summary."""

import pytest
from IPython.core.formatters import DisplayFormatter
from small_checks import check_count, check_scores, check_shapes, check_shift

from bookkit.checking import report
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


def test_the_books_own_solution_hands_nothing_in():
    def solution(*sizes):
        return check_count.reference(*sizes)

    given = check_count(solution)
    assert given.passed
    assert repr(given) == "count: passed\n  (the book's solution, not yours)"
    assert report.latest == {}


def test_a_solution_that_does_not_pass_is_told_why():
    def solution(*sizes):
        return -1

    given = check_count(solution)
    assert len(given.lines) > 2
    assert given.lines[1:] == check_count.judge(solution).lines


def test_a_solution_that_is_a_class_or_a_dictionary_is_the_readers():
    check_shift(check_shift.reference)
    check_shapes(check_shapes.shapes)
    assert report.latest.keys() == {"shift", "shapes"}


def test_a_report_passes_or_does_not():
    assert Report("count", "passed", ()).passed
    assert not Report("count", "not yet", ()).passed
    assert not Report("count", "not written yet", ()).passed


def test_a_notebook_shows_the_same_text_as_a_terminal():
    given = check_scores.judge(None)
    formatted, _ = DisplayFormatter().format(given)
    assert formatted == {"text/plain": repr(given)}
    text, _ = DisplayFormatter().format(report.Text("as it is"))
    assert text == {"text/plain": "as it is"}


def test_a_check_shows_its_name():
    assert repr(check_scores) == "check_scores"
    assert repr(check_shapes) == "check_shapes"
