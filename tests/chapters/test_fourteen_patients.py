"""“Fourteen patients”: what only its exercises say, its chart and its models."""

import inspect
import json
import re

import pytest
import torch
from exercise_cases import telling, told, words
from living_charts import drawn
from torch import nn
from torch.nn.modules.module import register_module_forward_hook

from chapters.fourteen_patients import (
    charts,
    exercise_drawings,
    ill_models,
    ill_trainings,
    models,
    patients,
    training,
    writer,
)
from chapters.fourteen_patients.accepted import (
    TRUTH,
    TWO,
    handed,
    losses,
    right,
    with_an_exit_stack,
)
from chapters.fourteen_patients.exercises import (
    check_eight_patients,
    check_first_nan,
    check_out_of_the_band,
    check_repaired_parts,
    ward,
)
from chapters.fourteen_patients.exercises.out_of_the_band_parts import (
    PAIRED,
    apart,
    example,
    first_row,
    in_common,
    outside,
)
from chapters.fourteen_patients.exercises.ward_tests import TESTS, found
from chapters.fourteen_patients.patients import PATIENTS, curves
from chapters.fourteen_patients.training import Training

# --- first_nan ---


test_who_looks_for_the_first_is_told = telling(
    told(check_first_nan, lambda model, batch: model, "Return its name"),
    told(check_first_nan, lambda model, batch: 7, "It returns int, where a name or None is expected."),
    told(check_first_nan, lambda model, batch: str(model(batch) + model(batch)), "more than once"),
)


def test_a_hook_on_all_modules_is_told_and_does_not_outlive_the_check():
    calls = []

    def code(model, batch):
        register_module_forward_hook(lambda *_: calls.append(1))
        return with_an_exit_stack(model, batch)

    assert check_first_nan.judge(code).mistake == "hooks stay"
    calls.clear()
    nn.Identity()(torch.ones(1))
    assert not calls


# --- repaired_parts ---


test_who_repairs_is_told = telling(
    told(
        check_repaired_parts, lambda model, *_: model.zero_grad() or 1.0, "It leaves no gradient in `.grad`"
    ),
)


# --- out_of_the_band ---


def said(**numbers):
    return handed(lambda curves: curves._replace(**numbers), follow=False)


LEAVES, TOLD = 15, 7  # of the example


@pytest.mark.thorough
def test_the_dictionary_itself_will_do():
    assert (example().leaves, example().told) == (LEAVES, TOLD)
    assert check_out_of_the_band.judge(handed()()).passed


@pytest.mark.thorough
def test_the_right_number_is_not_given_away():
    for change in (said(leaves=LEAVES + 3), said(leaves=2), said(leaves=None)):
        assert f"update {LEAVES} " not in words(check_out_of_the_band.judge(change))


def test_a_row_stays_on_one_side():
    """Above and below in turn is no row."""
    healthy = torch.randn(5, 30, dtype=torch.float64)
    sides = torch.where(torch.arange(30) % 2 > 0, 9.0, -9.0)
    assert first_row(apart(healthy, healthy + sides)) is None
    assert first_row(outside(healthy, healthy + sides)) is None
    assert first_row(outside(healthy, healthy + 9)) == 0


class Fast(Training):
    """A rate ten times too high."""

    rate = 4e-2


class Silent(Training):
    """One block does not learn."""

    def __init__(self, seed):
        super().__init__(seed)
        self.model.blocks[0].requires_grad_(False)


@pytest.fixture(scope="module")
def healthy():
    return losses(Training)


@pytest.mark.thorough
@pytest.mark.slow
@pytest.mark.parametrize("kind", [Fast, Silent])
def test_curves_of_a_training_are_judged_as_such(kind, healthy):
    """And in pairs they have their ups and downs in common, which curves of other seeds have not."""
    planted = losses(kind)
    common = in_common(healthy.double(), planted.double())
    assert common.diagonal().mean() > PAIRED
    assert common[~torch.eye(5, dtype=torch.bool)].mean() < 0
    curves = {
        "seeds": range(5),
        "healthy": healthy,
        "ill": planted,
        "leaves": first_row(outside(healthy, planted)),
        "told": first_row(apart(healthy, planted)),
    }
    assert check_out_of_the_band.judge(lambda: curves).passed


# --- eight_patients ---


NUMBERS = pytest.mark.parametrize("number", TRUTH)
HEALTHY = next(number for number, causes in TRUTH.items() if not causes)


def changed(number, said):
    return {**right(), number: said}


@pytest.mark.thorough
@NUMBERS
def test_each_test_finds_its_own_fault_and_no_other(number):
    patient = ward.admitted()[number]
    assert {cause for cause in ward.CAUSES if found(patient, cause)} == TRUTH[number]


def test_as_many_causes_ail_nobody_and_one_patient_has_two():
    assert len(ward.CAUSES) == 16
    assert len(frozenset().union(*TRUTH.values())) == 8
    assert set(TESTS) == set(ward.CAUSES)
    assert sorted(map(len, TRUTH.values())) == [0, 1, 1, 1, 1, 1, 1, 2]


@pytest.mark.thorough
@NUMBERS
def test_no_wrong_answer_is_told_the_right_one(number):
    """Nor does it help to have touched a patient before."""
    for cause in sorted(ward.CAUSES.keys() - TRUTH[number]):
        said = words(check_eight_patients.judge(changed(number, cause)))
        assert f"patient {number}: {cause}? " in said
        assert not [own for own in TRUTH[number] if own in said.replace(cause, "")]
        assert f"✗ patient {number}" in said


@pytest.mark.thorough
def test_nothing_is_told_of_who_is_not_answered_and_a_word_nearly_right_is_asked_about():
    said = check_eight_patients.judge(changed(3, ...))
    assert said.state == "not yet"
    assert said.lines[2:3] == ("  · patient 3",)
    assert said.lines[8:] == ("→ patient 3: no answer yet.",)
    assert "no answer" not in words(check_eight_patients.judge({1: "no positions"}))
    assert 'Is "no positions" meant?' in words(check_eight_patients.judge(changed(1, "no position")))


@pytest.mark.thorough
def test_a_twin_is_untouched_and_the_healthy_one_learns():
    patient = ward.admitted()[HEALTHY]
    before = [weight.clone() for weight in patient.model.parameters()]
    loss = patient.held_out()
    patient.train(20)
    assert patient.held_out() < loss - 0.8
    twins = [*ward.twin(patient).model.parameters()]
    assert all(torch.equal(one, other) for one, other in zip(before, twins, strict=True))


@pytest.mark.thorough
def test_a_batch_is_the_same_each_time_and_its_padding_is_told():
    one, other = ward.admitted()[1].batch(3), ward.admitted()[2].batch(3)
    assert all(map(torch.equal, one, other))
    assert torch.equal(one.kept, one.targets != ward.FILLER)
    assert not one.kept.all()


@pytest.mark.thorough
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


# --- the chart ---


@pytest.mark.thorough
def test_it_draws_with_every_letter():
    for letter in charts.LETTERS:
        picture = drawn(charts.unnamed(), letter=letter)
        assert picture.count("<path") > 20
        end = curves(charts.LETTERS[letter]).last().mean().item()
        assert re.search(rf"patient {letter} ends at [\d.]+, validation {end:.1f}", picture)


@pytest.mark.thorough
def test_no_name_of_a_cause_stands_in_it():
    said = json.dumps(charts.unnamed().to_dict())
    assert not [name for name in charts.LETTERS.values() if name in said]


@pytest.mark.thorough
@pytest.mark.parametrize(("letter", "name"), [*charts.LETTERS.items(), ("healthy", "healthy")])
def test_its_points_are_the_means_over_seeds(letter, name):
    rows = [row for data in charts.unnamed().to_dict()["datasets"].values() for row in data]
    drawn = {row["kind"]: row["loss"] for row in rows if row["letter"] == letter and "kind" in row}
    stored = curves(name)
    assert drawn["training"] == pytest.approx(stored.training.mean(0).tolist(), abs=0.006)
    assert drawn["validation"] == pytest.approx(stored.validation.mean(0).tolist(), abs=0.006)


# --- patients ---


ILL = inspect.getsource(ill_models) + inspect.getsource(ill_trainings)
WELL = inspect.getsource(writer) + inspect.getsource(training) + inspect.getsource(ill_trainings)
IDS = torch.randint(1, 97, (2, 20), generator=torch.Generator().manual_seed(0))
# The healthy training shuffles nothing, so no line of it mends this.
NOWHERE_MENDED = {"shuffled"}


def built(model_class):
    torch.manual_seed(0)
    return model_class(97)


@pytest.mark.parametrize("patient", PATIENTS, ids=lambda patient: patient.name)
def test_its_lines_stand_in_the_code(patient):
    assert patient.ill.startswith("#") or patient.ill in ILL
    assert patient.name in NOWHERE_MENDED or patient.mended in WELL


def test_each_patient_was_trained_and_stored_or_needs_no_training():
    stored = {name for name in models.TRAININGS if patients.curves(name).training.shape == (3, 30)}
    untrained = {patient.name for patient in PATIENTS} - stored
    assert stored == set(models.TRAININGS)
    assert untrained == {"half precision", "places begin again"}


def test_the_healthy_writer_says_with_a_cache_what_it_says_without():
    model = built(writer.Writer)
    assert torch.equal(writer.written(model, IDS, 20), writer.written(model, IDS, 20, cached=False))
