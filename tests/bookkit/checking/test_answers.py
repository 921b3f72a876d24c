"""Answers: what can be read, what counts as equal, and how a difference is told."""

import math

import numpy as np
import pytest
import torch

from bookkit.checking import answers
from bookkit.checking.answers import WrongTypeError, close, difference, read, right_answer

TENSOR = (torch.tensor([[0.5, 2.0], [1.0, -3.0]]),)
NUMBER, WHOLE = right_answer(2.5), right_answer(73_728)


class Boastful(torch.Tensor):
    """Claims to be equal to everything."""

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        return True


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (TENSOR[0].tolist(), "returns list where a tensor is expected"),
        (3.0, "returns float where a tensor is expected"),
        (TENSOR[0].numpy(), "returns ndarray where a tensor is expected"),
        (TENSOR[0].as_subclass(Boastful), "returns Boastful where"),
        (TENSOR[0].long(), "returns int64 numbers where float32 ones"),
        (TENSOR[0] + 0j, "returns complex64 numbers where"),
        (TENSOR[0].to_sparse(), "a tensor of another kind"),
        (TENSOR[0].to("meta"), "or on another device"),
        (None, "returns None. Is there a `return`"),
    ],
)
def test_a_wrong_kind_of_tensor_is_refused_in_words(answer, expected):
    with pytest.raises(WrongTypeError, match=expected):
        read(answer, TENSOR, ("scores",))


@pytest.mark.parametrize("answer", [True, "2.5", {"answer": 2.5}, 2.5 + 0j, torch.ones(2), np.ones(1)])
def test_what_is_no_number_is_refused(answer):
    with pytest.raises(WrongTypeError, match="where a number is expected"):
        read(answer, NUMBER, ("spread",))


def test_true_or_false_are_no_whole_numbers():
    with pytest.raises(WrongTypeError, match="returns bool numbers where int64 ones"):
        read(torch.tensor([True, False]), (torch.tensor([1, 0]),), ("ids",))


@pytest.mark.parametrize("answer", [(1, 2, 3), (1,), 1])
def test_another_number_of_results_is_refused(answer):
    with pytest.raises(WrongTypeError, match="2 results, first and second, are expected"):
        read(answer, (*NUMBER, *NUMBER), ("first", "second"))


@pytest.mark.parametrize("answer", [[3, 1], (3, 1)])
def test_a_single_result_that_is_as_long_as_all_results_is_told(answer):
    expected = f"a {type(answer).__name__} of numbers where 2 results, words and total, are expected"
    with pytest.raises(WrongTypeError, match=expected):
        read(answer, (*TENSOR, *NUMBER), ("words", "total"))


def test_a_list_of_results_will_do():
    assert answers.all_close(read([2.5, 73_728], (*NUMBER, *WHOLE), ("first", "second")), (*NUMBER, *WHOLE))


def test_a_result_is_copied():
    mine = TENSOR[0].clone()
    (got,) = read(mine, TENSOR, ("scores",))
    mine.zero_()
    assert close(got, *TENSOR)


def test_of_an_enormous_result_of_another_shape_nothing_is_copied():
    enormous = torch.zeros(1).expand(10**6, 10**6)  # four terabytes, if it were copied
    (got,) = read(enormous, TENSOR, ("scores",))
    assert difference("scores", got, *TENSOR) == ("scores has shape (1000000, 1000000), expected (2, 2)",)


def test_an_enormous_result_is_close_to_nothing():
    (got,) = read(torch.zeros(1).expand(10**6, 10**6), TENSOR, ("scores",))
    assert not close(got, got)


def test_nothing_goes_on_with_an_enormous_result():
    with pytest.raises(WrongTypeError, match="far too many numbers"):
        answers.returned(torch.zeros(1).expand(10**6, 10**6))
    assert answers.returned(*TENSOR) is TENSOR[0]


# --- numbers ---


@pytest.mark.parametrize(
    "answer",
    [73_728, 73_728.0, np.int64(73_728), np.float64(73_728), torch.tensor(73_728), torch.tensor([73_728.0])],
)
def test_a_whole_number_may_come_in_any_type(answer):
    assert close(*read(answer, WHOLE, ("bytes",)), *WHOLE)


@pytest.mark.parametrize("answer", [73_729, 73_727.0, 73_728.5, 2**70, math.nan, math.inf, -math.inf, 1e300])
def test_a_whole_number_must_be_equal(answer):
    assert not close(*read(answer, WHOLE, ("bytes",)), *WHOLE)


@pytest.mark.parametrize(
    ("answer", "shown"), [(73_730, "73730"), (59_904.0, "59904"), (36_864.5, "36860.0"), (math.inf, "inf")]
)
def test_a_whole_number_is_shown_whole(answer, shown):
    got = read(answer, WHOLE, ("bytes",))
    assert difference("bytes", *got, *WHOLE) == (f"bytes: expected 73728, got {shown}",)


def test_any_whole_numbers_will_do_for_whole_numbers():
    right = torch.tensor([3, 1, 2])
    for dtype in (torch.int8, torch.uint8, torch.int32):
        got = read(right.to(dtype), (right,), ("ids",))
        assert close(*got, right)
        assert not answers.other_dtype(*got, right)
        assert difference("ids", *read((right + 1).to(dtype), (right,), ("ids",)), right)[-1] == (
            "largest difference 1, at [0]: expected 3, got 4"
        )


def test_whole_numbers_are_compared_without_a_tolerance():
    assert not close(torch.tensor([100_001, 5]), torch.tensor([100_000, 5]))


def test_precision_counts():
    assert answers.other_dtype(TENSOR[0].half(), *TENSOR)
    assert answers.other_dtype(TENSOR[0].double(), *TENSOR)
    assert not answers.other_dtype(*right_answer(2), *NUMBER), "of a number on its own it does not"


# --- what counts as equal ---


def test_rounding_is_forgiven_and_no_more():
    right = torch.tensor([100.0, 0.0])
    assert close(right + 0.005, right)
    assert not close(right + 0.02, right)
    assert not close(torch.tensor([0.0001]), torch.tensor([0.0002]))
    assert close(torch.tensor([1e-7]), torch.tensor([0.0]))
    assert close(torch.tensor([math.nan, math.inf]), torch.tensor([math.nan, math.inf]))
    assert not close(torch.tensor([math.nan]), torch.tensor([1.0]))
    assert not close(torch.ones(2), torch.ones(2, 1))
    assert close(torch.ones(0, 3), torch.ones(0, 3))


# --- how a difference is told ---


def test_the_largest_difference_is_shown_with_its_place():
    assert difference("scores", TENSOR[0] + torch.tensor([[0.0, 0.5], [0.0, 2.0]]), *TENSOR) == (
        "expected scores = [[0.5, 2.0], [1.0, -3.0]]",
        "     got scores = [[0.5, 2.5], [1.0, -1.0]]",
        "largest difference 2.0, at [1, 1]: expected -3.0, got -1.0",
    )


def test_of_equal_differences_the_first_is_shown():
    right = torch.zeros(3, 30)
    got = right.clone()
    got[1, 4], got[2, 3] = 1.0, 1.0 + 1e-6
    assert difference("table", got, right) == ("largest difference 1.0, at [1, 4]: expected 0.0, got 1.0",)


def test_of_true_and_false_the_first_difference_is_shown():
    right = torch.tensor([[True, False], [True, True]])
    assert difference("mask", torch.tensor([[True, True], [True, False]]), right) == (
        "expected mask = [[True, False], [True, True]]",
        "     got mask = [[True, True], [True, False]]",
        "first difference, at [0, 1]: expected False, got True",
    )


def test_what_is_not_finite_comes_first():
    right = torch.zeros(30)
    got = right.clone()
    got[3], got[7] = 5.0, math.nan
    assert difference("row", got, right) == ("not a finite number, at [7]: expected 0.0, got nan",)


def test_nothing_is_told_where_nothing_differs():
    assert difference("scores", *TENSOR, *TENSOR) == ()
