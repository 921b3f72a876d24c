"""Answers: what can be read, what counts as equal; and how a difference, an input and an error are told."""

import math

import numpy as np
import pytest
import torch

from bookkit.checking import answers, wording
from bookkit.checking.answers import WrongTypeError, close, difference, read, right_answer
from bookkit.checking.inputs import draw, whole
from bookkit.checking.modules import Example

TENSOR = (torch.tensor([[0.5, 2.0], [1.0, -3.0]]),)
NUMBER, WHOLE = right_answer(2.5), right_answer(73_728)
IDS = (torch.tensor([3, 1, 2]),)
ENORMOUS = torch.zeros(1).expand(10**6, 10**6)  # four terabytes, if it were copied
NAN, INF = math.nan, math.inf


class Boastful(torch.Tensor):
    """Claims to be equal to everything."""

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        return True


@pytest.mark.parametrize(
    ("answer", "right", "words"),
    [
        (TENSOR[0].numpy(), TENSOR, "returns ndarray where a tensor is expected"),
        (TENSOR[0].as_subclass(Boastful), TENSOR, "returns Boastful where"),
        (TENSOR[0].long(), TENSOR, "returns int64 numbers where float32 ones"),
        (TENSOR[0] + 0j, TENSOR, "returns complex64 numbers where"),
        (TENSOR[0].to_sparse(), TENSOR, "a tensor of another kind"),
        (TENSOR[0].to("meta"), TENSOR, "or on another device"),
        *((answer, NUMBER, "a number is expected") for answer in (True, "2.5", 2.5 + 0j, torch.ones(2))),
        (torch.tensor([True, False, True]), IDS, "returns bool numbers where int64 ones"),
        *((answer, NUMBER * 2, "2 results, words and total, are") for answer in ((1, 2, 3), (1,), 1)),
        ([3, 1], TENSOR + NUMBER, "a list of numbers where 2 results, words and total, are expected"),
    ],
)
def test_what_is_no_answer_is_refused_in_words(answer, right, words):
    with pytest.raises(WrongTypeError, match=words):
        read(answer, right, ("words", "total")[: len(right)])


def test_a_list_of_results_will_do_and_each_is_copied():
    mine = TENSOR[0].clone()
    got = read([mine, 73_728], TENSOR + WHOLE, ("first", "second"))
    mine.zero_()
    assert answers.all_close(got, TENSOR + WHOLE)


def test_of_an_enormous_result_nothing_is_copied_and_nothing_goes_on_with_it():
    (got,) = read(ENORMOUS, TENSOR, ("scores",))
    assert difference("scores", got, *TENSOR) == ("scores has shape (1000000, 1000000), expected (2, 2)",)
    assert not close(got, got)
    with pytest.raises(WrongTypeError, match="far too many numbers"):
        answers.returned(ENORMOUS)
    assert answers.returned(*TENSOR) is TENSOR[0]


# ---- what counts as equal: rounding is forgiven, and no more ----

HUNDRED = torch.tensor([100.0, 0.0])


@pytest.mark.parametrize(
    ("answer", "right", "equal"),
    [
        *((number, WHOLE, True) for number in (73_728, 73_728.0, np.int64(73_728), np.float64(73_728))),
        *((torch.tensor(number), WHOLE, True) for number in (73_728, [73_728.0])),
        *((number, WHOLE, False) for number in (73_729, 73_727.0, 73_728.5, 2**70, NAN, INF, -INF, 1e300)),
        *((IDS[0].to(dtype), IDS, True) for dtype in (torch.int8, torch.uint8, torch.int32)),
        (torch.tensor([100_001, 5]), (torch.tensor([100_000, 5]),), False),
        (HUNDRED + 0.005, (HUNDRED,), True),
        (HUNDRED + 0.02, (HUNDRED,), False),
        (torch.tensor([0.0001]), (torch.tensor([0.0002]),), False),
        (torch.tensor([1e-7]), (torch.tensor([0.0]),), True),
        (torch.tensor([NAN, INF]), (torch.tensor([NAN, INF]),), True),
        (torch.tensor([NAN]), (torch.tensor([1.0]),), False),
        (torch.ones(2), (torch.ones(2, 1),), False),
        (torch.ones(0, 3), (torch.ones(0, 3),), True),
    ],
)
def test_rounding_is_forgiven_and_whole_numbers_of_any_type_must_be_equal(answer, right, equal):
    assert close(*read(answer, right, ("it",)), *right) == equal


def test_precision_counts_but_of_whole_numbers_and_of_a_number_on_its_own():
    assert answers.other_dtype(TENSOR[0].half(), *TENSOR)
    assert answers.other_dtype(TENSOR[0].double(), *TENSOR)
    assert not answers.other_dtype(*right_answer(2), *NUMBER)
    assert not answers.other_dtype(IDS[0].to(torch.uint8), *IDS)


# ---- how a difference is told ----

MASK = torch.tensor([[True, False], [True, True]])
DOUBLED = "expected it = [[0.5, 2.0], [1.0, -3.0]] /      got it = [[0.5, 2.5], [1.0, -1.0]] / "
OTHER_MASK = "expected it = [[True, False], [True, True]] /      got it = [[True, True], [True, False]] / "
TOLD_IDS = "expected it = [3, 1, 2] /      got it = [7, 5, 6] / "
ROW = torch.zeros(30)


def placed(**numbers):
    """`placed(at_3=5.0)` are thirty zeros, but for a 5 at place 3."""
    row = ROW.clone()
    for place, number in numbers.items():
        row[int(place.removeprefix("at_"))] = number
    return row


@pytest.mark.parametrize(
    ("got", "right", "lines"),
    [
        (59_904.0, WHOLE[0], "it: expected 73728, got 59904"),
        (36_864.5, WHOLE[0], "it: expected 73728, got 36860.0"),
        (INF, WHOLE[0], "it: expected 73728, got inf"),
        (
            TENSOR[0] + torch.tensor([[0.0, 0.5], [0.0, 2.0]]),
            TENSOR[0],
            DOUBLED + "largest difference 2.0, at [1, 1]: expected -3.0, got -1.0",
        ),
        (
            torch.tensor([[True, True], [True, False]]),
            MASK,
            OTHER_MASK + "first difference, at [0, 1]: expected False, got True",
        ),
        (IDS[0].to(torch.int8) + 4, IDS[0], TOLD_IDS + "largest difference 4, at [0]: expected 3, got 7"),
        # Of equal differences the first, and what is not finite comes before all else.
        (placed(at_4=1.0, at_9=1.0 + 1e-6), ROW, "largest difference 1.0, at [4]: expected 0.0, got 1.0"),
        (placed(at_3=5.0, at_7=NAN), ROW, "not a finite number, at [7]: expected 0.0, got nan"),
        (TENSOR[0], TENSOR[0], ""),
    ],
)
def test_the_largest_difference_is_told_with_its_place(got, right, lines):
    assert " / ".join(difference("it", *read(got, (right,), ("it",)), right)) == lines


# ---- wording: the same on every machine ----


def made_for_a_check(kind):
    return type("_Reader", (kind,), {"__module__": "chapters.any.exercises.one"})()


def test_rounding_noise_does_not_show_and_whole_numbers_are_written_whole():
    noisy = torch.tensor([0.125, 1e-9, -1e-9, 1 / 3, float("nan")], dtype=torch.float64)
    for noise in (-1e-7, 0.0, 1e-7):
        assert wording.as_text(noisy * (1 + noise)) == "[0.125, 0.0, 0.0, 0.3333, nan]"
        assert wording.as_text(torch.tensor([0.12345]) * (1 + noise)) == "[0.1235]"
    assert wording.as_text(torch.tensor([[73_728, -1]])) == "[[73728, -1]]"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (torch.ones(2), "key = torch.tensor([1.0, 1.0])"),
        (torch.ones(2, dtype=torch.float64), "key = torch.tensor([1.0, 1.0], dtype=torch.float64)"),
        (whole(7, 9), "key = torch.tensor([7, 9])"),
        (torch.ones(4, 5), "key of shape (4, 5), float32"),
        ("sea", "key = sea"),
        (0.5, "key = 0.5"),
        (torch.nn.Sequential(torch.nn.Linear(2, 2)), "key = Sequential(…)"),
        (made_for_a_check(torch.nn.Module), "key = a module made for this check"),
        (made_for_a_check(torch.nn.Identity), "key = Identity(…)"),
        (Example("a plain tensor (2, 3)"), "key = a plain tensor (2, 3)"),
    ],
)
def test_an_input_is_shown_as_a_reader_would_type_it_or_by_its_shape(value, shown):
    assert wording.rendered("key", value) == shown


# --- inputs ---


def test_inputs_are_exact_in_every_dtype():
    single, double = draw(3, (4, 5))[0], draw(3, (4, 5), dtype=torch.float64)[0]
    assert torch.equal(single.double(), double)
    assert torch.equal(single * 8, (single * 8).round())
    assert single.abs().max() <= 2
    assert len(single.unique()) > 10
