"""Shape puzzles: every known mistake is named, nothing is given away, and any answer is judged in words."""

import time

import pytest
import torch
from exercise_cases import words

from bookkit import checker, exercises, guard
from bookkit.puzzle import ShapePuzzle, WrongShapes, check_shapes, judge_shapes

PUZZLES = [exercise for _, exercise in exercises.every_exercise() if isinstance(exercise, ShapePuzzle)]
EACH_PUZZLE = pytest.mark.parametrize("puzzle", PUZZLES, ids=lambda puzzle: puzzle.name)
SMALL = ShapePuzzle(
    "small",
    difficulty=1,
    minutes=2,
    shapes={"query.mT": (64, 50), "query.sum()": ()},
    mistakes=(WrongShapes("not turned", "`mT` turns the last two axes.", {"query.mT": (50, 64)}),),
)


@pytest.fixture(autouse=True)
def no_reports_from_elsewhere(monkeypatch):
    monkeypatch.setattr(checker, "latest", {})


# --- what the book promises of every puzzle ---


@EACH_PUZZLE
@pytest.mark.parametrize("kind", [tuple, list, torch.Size])
def test_the_right_shapes_are_accepted(puzzle, kind):
    assert judge_shapes(
        puzzle, {expression: kind(shape) for expression, shape in puzzle.shapes.items()}
    ).passed


@EACH_PUZZLE
def test_a_known_mistake_is_rejected_and_named_by_its_own_sentence_alone(puzzle):
    for mistake, report in puzzle.trials():
        assert report.state == "not yet"
        assert report.mistake == mistake.name
        assert [known.name for known in puzzle.mistakes if known.sentence in words(report)] == [mistake.name]


@EACH_PUZZLE
def test_no_shape_is_two_mistakes_or_right(puzzle):
    for expression, right in puzzle.shapes.items():
        said = [mistake.shapes[expression] for mistake in puzzle.mistakes if expression in mistake.shapes]
        assert len({right, *said}) == len(said) + 1, expression


@EACH_PUZZLE
def test_a_mistake_is_about_the_puzzles_own_expressions(puzzle):
    for mistake in puzzle.mistakes:
        assert mistake.shapes.keys() <= puzzle.shapes.keys()


def wrong_shapes(puzzle, expression):
    """Shapes that nobody would name, of as many axes, of more and of fewer."""
    right = puzzle.shapes[expression]
    named = [mistake.shapes.get(expression) for mistake in puzzle.mistakes]
    shapes = [tuple(size + 1 for size in right) or (3, 3), (*right, 7), right[2:] + (9,) * (len(right) > 2)]
    return [shape for shape in shapes if shape not in (right, *named)]


@EACH_PUZZLE
def test_an_unknown_fault_is_rejected_without_a_name_and_nothing_is_given_away(puzzle):
    for expression, right in puzzle.shapes.items():
        for shape in wrong_shapes(puzzle, expression):
            report = judge_shapes(puzzle, puzzle.shapes | {expression: shape})
            assert report.state == "not yet"
            assert report.mistake is None
            assert f"✗ {expression}" in words(report)
            # An expression may itself hold the shape that comes out: alibi_bias(4, 6, 6).
            assert not right or str(right) not in words(report).replace(expression, "")


# --- what a check says ---


def test_each_expression_is_judged_for_itself():
    report = judge_shapes(SMALL, {"query.mT": (50, 64), "query.sum()": (1,)})
    assert report.mistake == "not turned"
    assert repr(report).splitlines() == [
        "small: not yet",
        "  ✗ query.mT",
        "  ✗ query.sum()",
        "→ query.mT: `mT` turns the last two axes.",
        "→ query.sum(): it has fewer axes.",
    ]


def test_what_is_not_said_yet_is_neither_right_nor_wrong():
    report = judge_shapes(SMALL, {"query.mT": (64, 50), "query.sum()": ...})
    assert repr(report).splitlines() == ["small: not yet", "  ✓ query.mT", "  · query.sum()"]


@EACH_PUZZLE
def test_a_stub_is_not_written_yet(puzzle):
    for stub in (dict.fromkeys(puzzle.shapes, ...), {}):
        assert judge_shapes(puzzle, stub).state == "not written yet"


def test_the_place_to_look_at():
    assert "query.mT: axis 1, counted from 0, has another size." in words(
        judge_shapes(SMALL, SMALL.shapes | {"query.mT": (64, 51)})
    )
    assert "query.mT: it has more axes." in words(judge_shapes(SMALL, SMALL.shapes | {"query.mT": (64,)}))


class Agreeable(tuple):
    """Claims to be equal to everything."""

    __slots__ = ()
    __hash__ = tuple.__hash__

    def __eq__(self, other):
        return True


@pytest.mark.parametrize(
    "shape",
    ["(64, 50)", 64, None, (64.0, 50.0), (True, True), torch.ones(2), Agreeable((1,)), {64: 50}],
    ids=lambda shape: type(shape).__name__,
)
def test_what_is_no_shape_is_told_so(shape):
    report = judge_shapes(SMALL, SMALL.shapes | {"query.mT": shape})
    assert not report.passed
    assert "query.mT: a shape is a tuple of whole numbers" in words(report)


def test_a_changed_question_is_told_so():
    assert "leave them as they were" in words(judge_shapes(SMALL, {"query.T": (64, 50), "query.sum()": ()}))


@pytest.mark.parametrize("answers", [None, ..., [(64, 50)], "shapes", 3])
def test_what_is_no_dictionary_is_asked_for_one(answers):
    assert "check_small(my_shapes)" in words(judge_shapes(SMALL, answers))


def loop():
    while True:
        time.sleep(0.01)


def test_a_function_that_finds_the_shapes_is_run_with_care(monkeypatch):
    monkeypatch.setattr(guard, "TIME_LIMIT", 0.1)
    assert judge_shapes(SMALL, lambda: SMALL.shapes).passed
    assert "It raises ZeroDivisionError: division by zero" in words(judge_shapes(SMALL, lambda: 1 / 0))
    assert "does not finish within 0.1 seconds" in words(judge_shapes(SMALL, loop))
    assert "the dictionary" in words(judge_shapes(SMALL, lambda: None))


def test_the_report_is_handed_in_and_the_books_own_is_not():
    def solution():
        return SMALL.shapes

    assert check_shapes(SMALL, solution).passed
    assert checker.latest == {}
    check_shapes(SMALL, SMALL.shapes)
    assert checker.latest["small"].passed
