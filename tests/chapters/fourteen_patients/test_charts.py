"""The chart shows what was stored, and gives no patient's name away."""

import json

import pytest
import vl_convert

from chapters.fourteen_patients import charts
from chapters.fourteen_patients.patients import BY_NAME, curves


def test_it_draws_with_every_letter():
    for letter in charts.LETTERS:
        spec = charts.unnamed().to_dict()
        spec["params"][0]["value"] = letter
        drawn = vl_convert.vegalite_to_svg(spec)
        assert drawn.count("<path") > 20
        assert charts.said(f"patient {letter}", charts.LETTERS[letter]) in drawn


def test_no_name_of_a_cause_stands_in_it():
    said = json.dumps(charts.unnamed().to_dict())
    assert not [name for name in charts.LETTERS.values() if name in said]


@pytest.mark.parametrize("name", [*charts.LETTERS.values(), "healthy"])
def test_its_points_are_the_means_over_seeds(name):
    drawn = [row["loss"] for row in charts.of("A", name) if row["kind"] == "training"]
    assert drawn == pytest.approx(curves(name).training.mean(0).tolist(), abs=0.006)


def test_each_letter_has_a_patient_of_its_own():
    assert len(set(charts.LETTERS.values())) == len(charts.LETTERS) == 8
    assert set(charts.LETTERS.values()) <= set(BY_NAME)
