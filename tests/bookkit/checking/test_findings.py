"""What is seen in wrong answers that no catalogue knows, and remarked on right ones; never without reason."""

import dataclasses
import math
import sys

import pytest
import torch
from clocks import Clock
from exercise_cases import words
from small_checks import check_attention, check_count, check_holder, check_scores, check_weights, small

import attnlab.attention
import attnlab.scores
from bookkit.checking import guard
from bookkit.checking.inputs import draw
from bookkit.other_words import PRODUCTS, SOFTMAXES, changed

scores, attention, count = check_scores.reference, check_attention.reference, check_count.reference


def in_float32(query, key):
    return scores(query, key).float()


def every_axis_turned(query, key):
    return query @ key.permute(*range(key.dim())[::-1]) / query.shape[-1] ** 0.5


def first_key_alone(query, key):
    return scores(query, query[..., :1, :]) + 0 * scores(query, key)


def half_detached(query, key):
    return scores(query / 2, key) + scores(query.detach() / 2, key)


def by_numpy(query, key):
    return torch.from_numpy(scores(query, key).numpy())


def in_place(query, key):
    return scores(query.mul_(1.5), key) / 1.5


def emptying(model):
    right = check_holder.reference(model)
    del model.plain
    return right


def seeding(*sizes):
    torch.manual_seed(0)
    return count(*sizes)


def result(right, place, change):
    """The right results, one of them changed."""

    def code(*inputs):
        results = [*right(*inputs)]
        results[place] = change(results[place])
        return tuple(results)

    return code


# The name of what is seen, words of what is said, and code in which it is seen.
SEEN = {
    check_scores: [
        ("transposed", "scores: the right numbers, turned", changed(scores, lambda right: right.mT)),
        ("axis of length 1 too many", "keepdim", changed(scores, lambda right: right[None])),
        ("axis of length 1 too many", "unsqueeze", changed(scores, lambda right: right.unsqueeze(-2))),
        ("axis of length 1 missing", "scores: the right numbers, but", changed(scores, torch.squeeze)),
        ("in other places", "scores: the right numbers", changed(scores, lambda right: right.flip(-1))),
        ("in other places", "reshape", changed(scores, lambda right: right.mT.reshape(right.shape))),
        ("upside down", "this is 1 divided by", changed(scores, torch.reciprocal)),
        ("squared", "the square of", changed(scores, torch.square)),
        ("root", "the square root of", changed(scores, torch.sqrt)),
        ("rounded", "right, but for the decimals", changed(scores, torch.round)),
        ("rounded", "right, but for the decimals", changed(scores, torch.floor)),
        ("rounded", "right, but for the decimals", changed(scores, torch.ceil)),
        ("sign reversed", "scores has the wrong sign", changed(scores, torch.neg)),
        ("constant factor", "scores is 1.5 times what", changed(scores, lambda right: 1.5 * right)),
        ("constant difference", "scores is 3.0 larger", changed(scores, lambda right: right + 3)),
        ("constant difference", "scores is 3.0 smaller", changed(scores, lambda right: right - 3)),
        ("leading axes", "Count axes from the end", every_axis_turned),
        ("another dtype", "The numbers are right, but not always of the inputs' dtype", in_float32),
        ("ignored input", "whatever is given as key", first_key_alone),
        ("no gradient", "no gradient reaches key, and", lambda query, key: scores(query, key.detach())),
        ("no gradient", "reaches query and key, and", lambda *inputs: scores(*inputs).detach()),
        ("wrong gradient", "the gradient of query is not", half_detached),
        ("fails with gradients", "It raises RuntimeError", by_numpy),
        ("changes its inputs", "It changes query: a caller does not expect that. `+=`", in_place),
    ],
    check_attention: [
        ("transposed", "weights: the right numbers, turned", result(attention, 1, lambda part: part.mT)),
        (
            "constant factor",
            "output is 3 times what it should be",
            result(attention, 0, lambda part: 3 * part),
        ),
        (
            "axis of length 1 too many",
            "output and weights: the right numbers",
            lambda *inputs: tuple(part[None] for part in attention(*inputs)),
        ),
    ],
    check_count: [
        ("constant factor", "numbers is 2 times what", changed(count, lambda right: 2 * right)),
        ("constant difference", "numbers is 1 larger than", changed(count, lambda right: right + 1)),
        ("ignored input", "whatever is given as doubled.", lambda rows, columns, doubled: rows * columns),
        ("ignored input", "whatever is given as rows, columns and doubled.", lambda *sizes: 7),
        ("changes settings", "It changes PyTorch's random numbers: a caller", seeding),
    ],
    check_holder: [("changes its inputs", "It changes model: a caller does not expect that. What", emptying)],
}


@pytest.mark.parametrize(
    ("check", "name", "said", "code"),
    [
        pytest.param(check, *row, id=f"{check.name}-{row[0]}-{place}")
        for check, rows in SEEN.items()
        for place, row in enumerate(rows)
    ],
)
def test_what_is_seen_is_named_and_said(check, name, said, code):
    report = check.judge(code)
    assert not report.passed
    assert report.mistake == name, report
    assert said in words(report), report


def overflowing(query, key, value, temperature):
    powers = (query @ key.mT / temperature).exp()
    weights = powers / powers.sum(-1, keepdim=True)
    return weights @ value, weights


def test_large_numbers_are_seen_where_smaller_ones_are_right_and_where_they_are_finite():
    check = dataclasses.replace(check_attention, mistakes={})
    report = check.judge(overflowing)
    assert report.mistake == "large numbers"
    assert "Take each row's own largest score away" in words(report)
    assert "The smallest input that fails" in words(report)
    for code in (
        lambda *inputs: tuple(part * math.nan for part in attention(*inputs)),
        lambda *inputs: tuple(part / (part.abs().max() < 0.999) for part in attention(*inputs)),
    ):
        assert check.judge(code).mistake != "large numbers"


# Faults that come near one of the findings, and are none of them.
NEARLY = {
    "turned once": lambda query, key: scores(query, key).mT if query.dim() > 2 else scores(query, key) + 1,
    "a factor for each case": lambda query, key: scores(query, key) * len(key),
    "a gap for each case": lambda query, key: scores(query, key) + len(key),
    "a factor but for one case": lambda query, key: scores(query, key) * (1 if query.dim() > 3 else 2),
    "heads alone": lambda query, key: scores(query, key) * (query.dim() < 4),
    "one number more": lambda query, key: scores(query, torch.cat([key, key[..., :1, :]], dim=-2)),
    "other numbers": lambda query, key: scores(query, key).sin(),
    "the same for 1 - x": lambda query, key: scores((query - 0.5).abs(), (key - 0.5).abs()),
    "the key's shape": lambda query, key: scores(query, torch.ones_like(key)) + scores(query, key) * 1e-3,
}


@pytest.mark.parametrize("fault", NEARLY)
def test_nothing_is_seen_where_it_is_not_so(fault):
    report = check_scores.judge(NEARLY[fault])
    assert not report.passed
    assert report.mistake is None, report
    assert "The smallest input that fails" in words(report)


def halves(count):
    return torch.arange(count) / 2


check_row = small(torch.arange, [3], [5], takes=("length",))
check_double = small(
    lambda query: 2 * query, [torch.ones(3, 4)], [torch.ones(2, 3, 4, dtype=torch.float64)], takes=("query",)
)
check_halves = small(halves, [1], [5], takes=("count",))
check_constant = small(lambda number: 2.0, [1], [3], takes=("number",))
check_positive = small(
    lambda numbers: numbers > 0,
    *([torch.tensor([1, -1])], [torch.tensor([1, 2, -1])]),
    takes=("numbers",),
    trainable=False,
)
check_root = small(
    lambda share, keys: math.sqrt(keys - 1) + math.log(1 - share),
    [0.5, 2],
    [0.75, 50],
    takes=("share", "keys"),
)


@pytest.mark.parametrize(
    ("check", "code", "name", "said"),
    [
        (check_count, lambda *sizes: math.nan, None, ""),  # tells nothing of the inputs
        (check_count, lambda *sizes: 2 * count(*sizes) + (count(*sizes) > 1000), None, ""),  # nearly a factor
        (check_row, lambda length: torch.arange(length).flip(0), "in another order", ""),
        # Axes are not blamed for a dtype.
        (check_double, lambda query: query @ (2 * torch.eye(4)), None, ""),
        (check_double, lambda query: 2 * query.flip(0).float().flip(0), "another dtype", ""),
        (
            check_halves,
            lambda count: halves(count).double(),
            "another dtype",
            "but of float64 where float32 is expected: `.to(torch.float32)`.",  # where no input has a dtype
        ),
        # All zero is not called rounded.
        (check_weights, lambda query, key: torch.zeros(len(query), len(key)), "ignored input", ""),
        (check_constant, lambda number: 5.0, None, ""),  # the right answer never changes
        (check_positive, lambda numbers: numbers > -5, None, "first difference, at [1]: expected False"),
        # To probe with inputs that make no sense is no evidence.
        (check_root, lambda share, keys: 1.25 * keys, "ignored input", ""),
        (check_root, lambda share, keys: 1.25 * keys + share, None, ""),
    ],
)
def test_what_is_seen_of_numbers_dtypes_and_inputs_is_seen_where_it_is_so(check, code, name, said):
    report = check.judge(code)
    assert not report.passed
    assert report.mistake == name, report
    assert said in words(report)


def test_what_was_stopped_is_not_looked_at(monkeypatch):
    clock = Clock(monkeypatch)

    def code(query, key):
        if query.dim() == 4:
            clock.passes(guard.TIME_LIMIT + 1)
        return scores(query, key)

    assert check_scores.judge(code).mistake is None


# --- right, but not the reader's own ---


class Products(torch.nn.Module):
    def forward(self, query, key):
        return query @ key.mT


@pytest.mark.parametrize(
    ("without", "name"),
    [
        ((attnlab,), "masked_softmax"),
        ((attnlab.attention,), "masked_softmax"),
        ((attnlab.attention.masked_softmax,), "masked_softmax"),
        ((Products,), "Products"),
        ((Products, attnlab), "Products and masked_softmax"),
        ((attnlab.scores, attnlab.attention.attend), ""),
        ((), ""),
    ],
)
def test_what_the_work_is_to_do_without_is_named_where_it_is_called(without, name):
    check = dataclasses.replace(check_weights, without=without)
    report = check.judge(lambda query, key: attnlab.attention.masked_softmax(Products()(query, key)))
    assert report.passed == (name == ""), report
    if name:
        assert report.mistake == "ready-made"
        assert f"The answers are right, but {name} " in words(report)


def test_what_a_helper_calls_in_turn_is_not_named():
    def hidden_nowhere(query, key):
        scores = query @ key.mT
        return attnlab.attention.masked_softmax(scores, torch.ones_like(scores) > 0)

    report = dataclasses.replace(check_weights, without=(attnlab,)).judge(hidden_nowhere)
    assert "but masked_softmax is there already, and your code calls it" in words(report)


def test_what_the_question_itself_calls_is_no_doing_of_the_readers():
    def ask(work, query, key):
        attnlab.scores.dot(query, key)
        return work(query, key)

    check = dataclasses.replace(check_weights, without=(attnlab,), ask=ask)
    assert check.judge(lambda query, key: (query @ key.mT).softmax(-1)).passed
    assert sys.getprofile() is None


# ---- remarks: on right code that loops, repeats itself or would overflow, and on no other ----


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


def divided_in_place(query, key):
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


@pytest.mark.parametrize(
    "code", [divided_in_place, two_different_products, the_same_after_a_change, passing_tensors]
)
def test_other_right_code_passes_without(code):
    report = check_scores.judge(code)
    assert report.passed
    assert REMARK not in words(report)
    assert REMARK not in words(check_scores.judge(lambda query, key: row_by_row(query, key) + 1)), "wrong"


@pytest.mark.parametrize("product", PRODUCTS)
def test_of_all_ways_to_multiply_only_the_loops_get_one(product):
    code = PRODUCTS[product]
    report = check_scores.judge(lambda query, key: code(query, key) / query.shape[-1] ** 0.5)
    assert report.passed
    assert (REMARK in words(report)) == (product == "loops")


@pytest.mark.parametrize("softmax", SOFTMAXES)
def test_a_softmax_that_holds_gets_no_remark(softmax):
    report = check_weights.judge(lambda query, key: SOFTMAXES[softmax](query @ key.mT))
    assert report.passed
    assert REMARK not in words(report)


def test_exercises_that_nothing_trains_through_get_no_remarks():
    few, more = draw(1, (3, 2)), draw(3, (9, 2))
    untrained = small(lambda query: query.sum().item(), few, more, takes=("query",), trainable=False)
    report = untrained.judge(lambda query: sum(number.item() for row in query for number in row))
    assert report.passed
    assert REMARK not in words(report)
