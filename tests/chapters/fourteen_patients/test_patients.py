"""Ill lines of the page stand in ill code, mended ones in healthy code; checkup names what it is said to."""

import inspect

import pytest
import torch

from chapters.fourteen_patients import (
    checked,
    ill_models,
    ill_trainings,
    models,
    patients,
    training,
    writer,
)
from chapters.fourteen_patients.patients import PATIENTS

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


def test_the_writer_that_hides_by_a_number_is_the_healthy_one_in_float32():
    assert torch.allclose(built(ill_models.HalfPrecision)(IDS), built(writer.Writer)(IDS), atol=1e-6)
    assert not built(writer.Writer).half()(IDS).isnan().any()


@pytest.mark.parametrize(
    ("name", "inquiry", "where"),
    [
        ("not shifted", "output", ""),
        ("off by one", "sight", "blocks.0.attention"),
        ("wrong axis", "sight", "blocks.0.attention"),
        ("large start", "start", ""),
        ("in a list", "parameters", "blocks[0]"),
        ("half precision", "numbers", "blocks.0.attention"),
        ("filler counted", "output", ""),
        ("places begin again", "cache", ""),
    ],
)
def test_checkup_names_it(name, inquiry, where):
    assert next((one.inquiry, one.where) for one in checked.findings(name)) == (inquiry, where)


def test_checkup_finds_nothing_in_the_healthy_writer():
    assert checked.findings("healthy") == []


def test_numbers_of_letters_leave_one_for_filler():
    assert training.numbered("aba?", "ab").tolist() == [1, 2, 1]
