"""Shape puzzles: any answer is judged in words, and nothing is given away."""

import pytest
import torch
from clocks import Clock
from exercise_cases import words
from small_checks import check_shapes

from bookkit.checking.puzzle import ShapePuzzle

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
        ((1, 64, 50), TOO_MANY, ""),
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
