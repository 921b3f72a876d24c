"""Attempts: fresh inputs for each, what is changed is noticed, gradients of what can have one."""

import copy
import dataclasses

import pytest
import torch
from small_checks import Holder, check_attention, check_count, check_holder, check_scores
from torch import nn

from bookkit.checking.attempts import Case, gradients
from bookkit.checking.inputs import exact


def attempted(check, work, place=0):
    case = check.cases[place]
    return check.attempt(work, case, check.right(case.fresh()))


# --- inputs ---


def test_a_case_gives_fresh_inputs_each_time():
    case = Case("right for one", exact([1, 2]), Holder(), ["sea"])
    tensor, module, words = case.fresh()
    tensor.zero_()
    module.plain.zero_()
    del module.weight
    words.append("rock")
    again, fresh, text = case.fresh()
    assert again.sum() == 3
    assert fresh.plain.sum() == 6
    assert fresh.weight.sum() == 5
    assert text == ["sea"]


def test_what_stands_twice_in_an_object_stands_twice_in_its_copy():
    shared = Holder()
    (model,) = Case("right for a shared module", nn.ModuleList([shared, shared])).fresh()
    assert model[0] is model[1]


TENSOR_CHANGES = {
    "values": lambda query: query.mul_(2),
    "shape": lambda query: query.resize_(1),
    "dtype": lambda query: setattr(query, "data", query.double()),
    "gradient": lambda query: query.requires_grad_(),
}


@pytest.mark.parametrize("change", TENSOR_CHANGES)
def test_a_changed_tensor_is_noticed(change):
    def code(query, key):
        answer = check_scores.reference(query, key)
        TENSOR_CHANGES[change](query)
        return answer

    attempt = attempted(check_scores, code)
    assert attempt.passed
    assert attempt.changed == ("query",)


OBJECT_CHANGES = {
    "an attribute removed": lambda model: delattr(model, "plain"),
    "an attribute added": lambda model: setattr(model, "count", 6),
    "a tensor in place": lambda model: model.plain.zero_(),
    "a tensor of a list": lambda model: model.listed[0].add_(1),
    "a longer list": lambda model: model.listed.append(torch.ones(1)),
    "a parameter frozen": lambda model: model.requires_grad_(False),
    "a parameter's values": lambda model: nn.init.zeros_(model.weight),
    "evaluation": lambda model: model.eval(),
    "another dtype": lambda model: model.double(),
    "another device": lambda model: model.to("meta"),
    "another module inside": lambda model: setattr(model, "inside", nn.Identity()),
}


@pytest.mark.parametrize("change", OBJECT_CHANGES)
def test_a_changed_object_is_noticed(change):
    def code(model):
        answer = check_holder.reference(model)
        OBJECT_CHANGES[change](model)
        return answer

    for place in range(2):
        attempt = attempted(check_holder, code, place)
        assert attempt.passed
        assert attempt.changed == ("model",)


def test_what_only_looks_changes_nothing():
    def code(model):
        copy.deepcopy(model).double()
        list(model.state_dict().items())
        model.apply(lambda module: None)
        return check_holder.reference(model)

    assert attempted(check_holder, code).changed == ()


# --- what was made of a case ---


def as_tensor(rows, columns, doubled):
    return torch.ones(rows, columns)


def with_reference(check, reference):
    other = copy.copy(check)
    object.__setattr__(other, "reference", reference)
    return other


@pytest.mark.parametrize(
    ("check", "work", "fault"),
    [
        (check_scores, check_scores.reference, ()),
        (check_count, lambda *sizes: 7, ("numbers: expected 6, got 7",)),
        (check_scores, lambda query, key: query, ("scores has shape (1, 4), expected (1, 3)",)),
        (
            check_scores,
            lambda query, key: check_scores.reference(query, key).half(),
            ("scores is float16, expected float32, as the inputs are",),
        ),
        (  # where no input is a tensor, no input is a reason
            with_reference(check_count, as_tensor),
            lambda *sizes: as_tensor(*sizes).double(),
            ("numbers is float64, expected float32",),
        ),
        (  # numbers that stand for something are said in words
            dataclasses.replace(check_count, meanings={"numbers": {6: "all of them", 5: "too few"}}),
            lambda rows, columns, doubled: rows + columns,
            ("expected numbers: all of them", "     got numbers: too few"),
        ),
    ],
)
def test_an_attempt_tells_its_fault(check, work, fault):
    attempt = attempted(check, work)
    assert attempt.fault(None) == fault
    assert attempt.passed == (not fault)


# --- gradients ---


def test_gradients_reach_what_they_should_where_recording_is_off_too():
    case, right = check_attention.cases[-1], check_attention.reference
    with torch.no_grad():
        found = gradients(check_attention, right, case)
    assert list(found) == ["query", "key", "value"]
    assert all(gradient.abs().sum() > 0 for gradient in found.values())


def test_the_gradients_of_several_numbers_do_not_cancel():
    # The sum of each row of weights is 1 whatever the query: a plain sum of them would have no gradient.
    weights = with_reference(check_scores, lambda query, key: (query @ key.mT).softmax(-1))
    assert gradients(weights, weights.reference, weights.cases[1])["query"].abs().max() > 0.01


@pytest.mark.parametrize("again", [True, False])
def test_work_that_trains_is_tried_on_the_cases_alone(again):
    asked = []

    def code(rows, columns, doubled):
        asked.append(rows)
        return rows * columns

    check = dataclasses.replace(check_count, again=again)
    assert check.judge(code).mistake == ("ignored input" if again else None)
    assert (len(asked) > len(check.cases)) == again
