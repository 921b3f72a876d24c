"""The exercise `eight_patients`: who is found by which test, and what wrong answers are told."""

import copy

import pytest
import torch
from exercise_cases import judged_as, words

from chapters.fourteen_patients import exercise_drawings
from chapters.fourteen_patients.exercises import check_eight_patients, ward
from chapters.fourteen_patients.exercises.ward_tests import TESTS, against, found

pytestmark = pytest.mark.thorough

TRUTH = ward.truth()
NUMBERS = pytest.mark.parametrize("number", TRUTH)
HEALTHY = next(number for number, causes in TRUTH.items() if not causes)
TWO = next(number for number, causes in TRUTH.items() if len(causes) > 1)


def with_(cause):
    return next(number for number, causes in TRUTH.items() if cause in causes)


def right():
    return {number: set(causes) or "nothing" for number, causes in TRUTH.items()}


def changed(number, said):
    return {**right(), number: said}


ONE = {number: next(iter(causes), "nothing") for number, causes in TRUTH.items()}
RIGHT = {
    check_eight_patients: {
        "sets": right(),
        "strings, and a set": {**ONE, TWO: set(TRUTH[TWO])},
        "lists": {number: sorted(causes) or ["nothing"] for number, causes in TRUTH.items()},
        "tuples, from a function": lambda: {n: tuple(c) or "nothing" for n, c in TRUTH.items()},
        "in capitals, with spaces": {
            number: [f" {cause.upper()} " for cause in causes] or "Nothing"
            for number, causes in TRUTH.items()
        },
    }
}
NAMED = {
    check_eight_patients: {
        "no scale": changed(HEALTHY, "no scale"),
        "half precision": changed(HEALTHY, {"half precision"}),
        "targets not shifted": changed(with_("padding in the loss"), "targets not shifted"),
        "softmax over the wrong axis": changed(
            with_("mask after the softmax"), "softmax over the wrong axis"
        ),
        "positions start again with a cache": changed(
            with_("mask after the softmax"), "positions start again with a cache"
        ),
        "all places, not the last": changed(with_("mask after the softmax"), "mask off by one"),
        "mask off by one": changed(with_("positions start again with a cache"), "mask off by one"),
        "nothing in the model": changed(with_("norm on the stream"), "nothing"),
        "nothing in the training": changed(with_("means of unequal parts"), "nothing"),
        "not all": changed(TWO, "weights too large at the start"),
        "rate too high": changed(TWO, {"rate too high", *TRUTH[TWO]}),
    }
}
UNKNOWN = {
    check_eight_patients: {
        "no dictionary": "nothing",
        "another key": {**right(), 9: "nothing"},
        "a number": changed(1, 4),
        "another cause": changed(1, "bad luck"),
        "an empty set": changed(HEALTHY, set()),
        "nothing and something": changed(HEALTHY, {"nothing", "no scale"}),
        "raises": lambda: 1 / 0,
    }
}
test_right, test_named, test_unknown = judged_as(RIGHT, NAMED, UNKNOWN)


@NUMBERS
def test_each_test_finds_its_own_fault_and_no_other(number):
    patient = ward.admitted()[number]
    assert {cause for cause in ward.CAUSES if found(patient, cause)} == TRUTH[number]


def test_as_many_causes_ail_nobody():
    having = frozenset().union(*TRUTH.values())
    assert len(ward.CAUSES) == 16
    assert len(having) == 8
    assert set(TESTS) == set(ward.CAUSES)


def test_one_has_two_faults_and_one_has_none():
    assert sorted(map(len, TRUTH.values())) == [0, 1, 1, 1, 1, 1, 1, 2]


@NUMBERS
def test_no_wrong_answer_is_told_the_right_one(number):
    """Nor does it help to have touched a patient before."""
    for cause in sorted(ward.CAUSES.keys() - TRUTH[number]):
        said = words(check_eight_patients.judge(changed(number, cause)))
        assert f"patient {number}: {cause}? " in said
        assert not [own for own in TRUTH[number] if own in said.replace(cause, "")]
        assert f"✗ patient {number}" in said


def test_nothing_is_told_of_who_is_not_answered():
    said = check_eight_patients.judge(changed(3, ...))
    assert said.state == "not yet"
    assert "· patient 3" in words(said)
    assert "→" not in words(said)


@pytest.mark.parametrize("answers", [None, ..., dict.fromkeys(TRUTH, ...), lambda: None])
def test_what_is_not_written_yet_is_told(answers):
    assert check_eight_patients.judge(answers).state == "not written yet"


def test_a_word_that_is_nearly_right_is_asked_about():
    assert 'Is "no positions" meant?' in words(check_eight_patients.judge(changed(1, "no position")))


def test_the_check_draws_no_numbers_and_keeps_the_patients():
    torch.manual_seed(5)
    before = torch.get_rng_state()
    patients = ward.admitted()
    weights = copy.deepcopy(patients[1].model.state_dict())
    check_eight_patients.judge(dict.fromkeys(TRUTH, "no scale"))
    against(patients[1], "rate too high")
    assert torch.equal(torch.get_rng_state(), before)
    assert all(torch.equal(weights[name], tensor) for name, tensor in patients[1].model.state_dict().items())


# --- the ward ---


def test_a_twin_is_untouched():
    patient = ward.admitted()[1]
    before = [weight.clone() for weight in patient.model.parameters()]
    patient.update(patient.batch())
    twins = [*ward.twin(patient).model.parameters()]
    assert all(torch.equal(one, other) for one, other in zip(before, twins, strict=True))


def test_the_healthy_one_learns():
    patient = ward.admitted()[HEALTHY]
    before = patient.held_out()
    patient.train(20)
    assert patient.held_out() < before - 0.8


def test_the_gradient_of_the_healthy_one_is_that_of_the_whole_batch():
    patient = ward.admitted()[HEALTHY]
    patient.model.eval()
    batch = patient.batch()
    gradients = []
    for parts in (1, 4, 16):
        loss = patient.gradient(batch, parts)
        assert loss == pytest.approx(patient.loss(batch).item(), rel=1e-5)
        gradients.append(torch.cat([weight.grad.flatten() for weight in patient.model.parameters()]))
    for other in gradients[1:]:
        torch.testing.assert_close(other, gradients[0], atol=1e-5, rtol=1e-3)


def test_a_batch_is_the_same_each_time_and_its_padding_is_told():
    one, other = ward.admitted()[1].batch(3), ward.admitted()[2].batch(3)
    assert all(map(torch.equal, one, other))
    assert torch.equal(one.kept, one.targets != ward.FILLER)
    assert not one.kept.all()


@pytest.mark.parametrize("meanings", [False, True])
def test_causes_prints_all_that_can_be_answered(capsys, meanings):
    ward.causes(meanings)
    printed = capsys.readouterr().out
    assert all(cause in printed for cause in (*ward.CAUSES, "nothing"))
    assert max(map(len, printed.splitlines())) <= 92


@pytest.mark.slow
@NUMBERS
def test_the_drawn_curves_are_those_of_the_first_updates(number):
    """Of twenty, since a training of all would take half a minute."""
    patient = ward.admitted()[number]
    trained, held_out = exercise_drawings.CURVES[number]
    assert patient.held_out() == pytest.approx(held_out[0], abs=0.4)  # of dropout that never rests, too
    losses = torch.tensor(patient.train(20)).view(4, 5).mean(1)
    assert losses.tolist() == pytest.approx(trained[:4], abs=0.6 if number == TWO else 0.1)
    assert patient.held_out() == pytest.approx(held_out[2], abs=0.6 if number == TWO else 0.1)
