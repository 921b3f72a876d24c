"""Remarks: on right code that loops, repeats itself or would overflow; never on other right code."""

import exercise_cases
import pytest
import torch
from exercise_cases import words
from small_checks import check_attention, check_scores, check_weights, small

from bookkit.checking.inputs import draw

REMARK = "Right. And a remark:"


def row_by_row(query, key):
    rows = [(one.unsqueeze(-2) * key).sum(-1) for one in query.unbind(-2)]
    return torch.stack(rows, dim=-2) / query.shape[-1] ** 0.5


def product_twice(query, key):
    return (query @ key.mT + query @ key.mT) / (2 * query.shape[-1] ** 0.5)


def softmax_twice(query, key, value, temperature):
    scores = query @ key.mT / temperature
    return scores.softmax(-1) @ value, scores.softmax(dim=-1)


def naive_softmax(query, key):
    powers = (query @ key.mT).exp()
    return powers / powers.sum(-1, keepdim=True)


@pytest.mark.parametrize(
    ("check", "code", "said"),
    [
        (check_scores, row_by_row, "A loop of Python's goes through"),
        (check_scores, product_twice, "The same product of the same numbers is computed twice"),
        (check_attention, softmax_twice, "The same softmax of the same numbers is computed twice"),
        (check_weights, naive_softmax, "With inputs 64 times as large this is no longer finite"),
    ],
)
def test_right_code_passes_with_a_remark(check, code, said):
    report = check.judge(code)
    assert report.passed
    assert f"{REMARK} {said}" in words(report)


def in_place(query, key):
    scores = query @ key.mT
    scores /= 2
    return (scores + scores) / query.shape[-1] ** 0.5


def two_different_products(query, key):
    return (query @ key.mT + (query + 0) @ key.mT) / (2 * query.shape[-1] ** 0.5)


def the_same_after_a_change(query, key):
    table = query.clone()
    before = table @ key.detach().mT
    table *= 3
    return (table @ key.mT / 3 + 0 * before) / query.shape[-1] ** 0.5


def passing_tensors(query, key):
    """The second takes the place in memory that the first has left."""
    less = (query - 1) @ key.mT
    more = (query + 1) @ key.mT
    return (less + more) / (2 * query.shape[-1] ** 0.5)


@pytest.mark.parametrize("code", [in_place, two_different_products, the_same_after_a_change, passing_tensors])
def test_other_right_code_passes_without(code):
    report = check_scores.judge(code)
    assert report.passed
    assert REMARK not in words(report)


@pytest.mark.parametrize("product", exercise_cases.PRODUCTS)
def test_of_all_ways_to_multiply_only_the_loops_get_one(product):
    code = exercise_cases.PRODUCTS[product]
    report = check_scores.judge(lambda query, key: code(query, key) / query.shape[-1] ** 0.5)
    assert report.passed
    assert (REMARK in words(report)) == (product == "loops")


@pytest.mark.parametrize("softmax", exercise_cases.SOFTMAXES)
def test_a_softmax_that_holds_gets_no_remark(softmax):
    report = check_weights.judge(lambda query, key: exercise_cases.SOFTMAXES[softmax](query @ key.mT))
    assert report.passed
    assert REMARK not in words(report)


def test_exercises_that_nothing_trains_through_get_no_remarks():
    few, more = draw(1, (3, 2)), draw(3, (9, 2))
    untrained = small(lambda query: query.sum().item(), few, more, takes=("query",), trainable=False)
    report = untrained.judge(lambda query: sum(number.item() for row in query for number in row))
    assert report.passed
    assert REMARK not in words(report)


def test_a_wrong_answer_gets_no_remark():
    assert REMARK not in words(check_scores.judge(lambda query, key: row_by_row(query, key) + 1))
