"""Shape puzzles: every known mistake is named, nothing is given away, and any answer is judged in words."""

import time

import pytest
import torch
from exercise_cases import words
from small_checks import check_shapes

from bookkit import exercises, guard
from bookkit.puzzle import ShapePuzzle

PUZZLES = [check_shapes, *(one for _, one in exercises.every_exercise() if isinstance(one, ShapePuzzle))]
EACH_PUZZLE = pytest.mark.parametrize("puzzle", PUZZLES, ids=lambda puzzle: puzzle.name)

# --- what the book promises of every puzzle ---


@EACH_PUZZLE
@pytest.mark.parametrize("kind", [tuple, list, torch.Size])
def test_the_right_shapes_are_accepted(puzzle, kind):
    assert puzzle.judge({expression: kind(shape) for expression, shape in puzzle.shapes.items()}).passed


@EACH_PUZZLE
def test_a_known_mistake_is_rejected_and_named_by_its_own_sentence_alone(puzzle):
    for name, report in puzzle.trials().items():
        assert report.state == "not yet"
        assert report.mistake == name
        assert [known for known, (said, _) in puzzle.mistakes.items() if said in words(report)] == [name]


@EACH_PUZZLE
def test_no_shape_is_two_mistakes_or_right(puzzle):
    for expression, right in puzzle.shapes.items():
        said = [shapes[expression] for _, shapes in puzzle.mistakes.values() if expression in shapes]
        assert len({right, *said}) == len(said) + 1, expression


@EACH_PUZZLE
def test_a_mistake_is_about_the_puzzles_own_expressions(puzzle):
    for _, shapes in puzzle.mistakes.values():
        assert shapes.keys() <= puzzle.shapes.keys()


def wrong_shapes(puzzle, expression):
    """Shapes that nobody would name, of as many axes, of more and of fewer."""
    right = puzzle.shapes[expression]
    named = [shapes.get(expression) for _, shapes in puzzle.mistakes.values()]
    shapes = [tuple(size + 1 for size in right) or (3, 3), (*right, 7), right[2:] + (9,) * (len(right) > 2)]
    return [shape for shape in shapes if shape not in (right, *named)]


@EACH_PUZZLE
def test_an_unknown_fault_is_rejected_without_a_name_and_nothing_is_given_away(puzzle):
    for expression, right in puzzle.shapes.items():
        for shape in wrong_shapes(puzzle, expression):
            report = puzzle.judge({**puzzle.shapes, expression: shape})
            assert report.state == "not yet"
            assert report.mistake not in puzzle.mistakes
            assert f"✗ {expression}" in words(report)
            # An expression may itself hold the shape that comes out: alibi_bias(4, 6, 6).
            assert not right or str(right) not in words(report).replace(expression, "")


# --- what a check says ---


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
    report = check_shapes.judge({"query.mT": (64, 50), "query.sum()": ...})
    assert repr(report).splitlines() == ["shapes: not yet", "  ✓ query.mT", "  · query.sum()"]


@EACH_PUZZLE
def test_a_stub_is_not_written_yet(puzzle):
    for stub in (dict.fromkeys(puzzle.shapes, ...), {}):
        assert puzzle.judge(stub).state == "not written yet"


def test_the_place_to_look_at():
    assert "query.mT: axis 1, counted from 0, has another size." in words(
        check_shapes.judge(check_shapes.shapes | {"query.mT": (64, 51)})
    )
    assert "query.mT: your shape has too few axes." in words(
        check_shapes.judge(check_shapes.shapes | {"query.mT": (64,)})
    )
    assert "query.mT: your shape has too many axes." in words(
        check_shapes.judge(check_shapes.shapes | {"query.mT": (64, 50, 2)})
    )


@pytest.mark.parametrize(
    ("shape", "name"),
    [
        ((1, 64, 50), "axis of length 1 too many"),
        ((64, 1, 50), "axis of length 1 too many"),
        ((50, 64, 1), "axis of length 1 too many"),
        ((64, 2), None),
    ],
)
def test_what_is_seen_in_any_puzzle(shape, name):
    assert check_shapes.judge(check_shapes.shapes | {"query.mT": shape}).mistake == name


def test_what_lacks_an_axis_of_length_1_or_has_another_order_is_told_so():
    puzzle = ShapePuzzle("column", difficulty=1, minutes=1, shapes={"column": (8, 1, 3)}, mistakes={})
    assert puzzle.judge({"column": (8, 3)}).mistake == "axis of length 1 missing"
    assert puzzle.judge({"column": (3, 1, 8)}).mistake == "in another order"
    assert puzzle.judge({"column": (8, 3, 3)}).mistake is None


def test_a_number_is_told_how_a_shape_of_one_axis_is_written():
    said = words(check_shapes.judge(check_shapes.shapes | {"query.mT": (8)}))  # noqa: RUF100, UP034
    assert "a single number, which (8) is, too. As a shape of one axis it is written (8,)." in said


class Agreeable(tuple):
    """Claims to be equal to everything."""

    __slots__ = ()
    __hash__ = tuple.__hash__

    def __eq__(self, other):
        return True


@pytest.mark.parametrize(
    "shape",
    ["(64, 50)", None, (64.0, 50.0), (True, True), torch.ones(2), Agreeable((1,)), {64: 50}],
    ids=lambda shape: type(shape).__name__,
)
def test_what_is_no_shape_is_told_so(shape):
    report = check_shapes.judge(check_shapes.shapes | {"query.mT": shape})
    assert not report.passed
    assert "query.mT: a shape is a tuple of whole numbers" in words(report)


def test_a_changed_question_is_told_so():
    assert "leave them as they were" in words(check_shapes.judge({"query.T": (64, 50), "query.sum()": ()}))


@pytest.mark.parametrize("answers", [None, ..., [(64, 50)], "shapes", 3])
def test_what_is_no_dictionary_is_asked_for_one(answers):
    assert "check_shapes(my_shapes)" in words(check_shapes.judge(answers))


def loop():
    while True:
        time.sleep(0.01)


def test_a_function_that_finds_the_shapes_is_run_with_care(monkeypatch):
    monkeypatch.setattr(guard, "TIME_LIMIT", 0.1)
    assert check_shapes.judge(lambda: check_shapes.shapes).passed
    assert "It raises ZeroDivisionError: division by zero" in words(check_shapes.judge(lambda: 1 / 0))
    assert "does not finish within 0.1 seconds" in words(check_shapes.judge(loop))
    assert "the dictionary" in words(check_shapes.judge(lambda: None))
