"""The chart shows what was stored, and gives no patient's name away."""

import json
import re

import pytest
import vl_convert

from chapters.fourteen_patients import charts
from chapters.fourteen_patients.patients import BY_NAME, curves

pytestmark = pytest.mark.thorough


def test_it_draws_with_every_letter():
    for letter in charts.LETTERS:
        spec = charts.unnamed().to_dict()
        spec["params"][0]["value"] = letter
        drawn = vl_convert.vegalite_to_svg(spec)
        assert drawn.count("<path") > 20
        end = curves(charts.LETTERS[letter]).last().mean().item()
        assert re.search(rf"patient {letter} ends at [\d.]+, validation {end:.1f}", drawn)


def test_no_name_of_a_cause_stands_in_it():
    said = json.dumps(charts.unnamed().to_dict())
    assert not [name for name in charts.LETTERS.values() if name in said]


@pytest.mark.parametrize(("letter", "name"), [*charts.LETTERS.items(), ("healthy", "healthy")])
def test_its_points_are_the_means_over_seeds(letter, name):
    rows = [row for data in charts.unnamed().to_dict()["datasets"].values() for row in data]
    drawn = {row["kind"]: row["loss"] for row in rows if row["letter"] == letter and "kind" in row}
    stored = curves(name)
    assert drawn["training"] == pytest.approx(stored.training.mean(0).tolist(), abs=0.006)
    assert drawn["validation"] == pytest.approx(stored.validation.mean(0).tolist(), abs=0.006)


def test_each_letter_has_a_patient_of_its_own():
    assert len(set(charts.LETTERS.values())) == len(charts.LETTERS) == 8
    assert set(charts.LETTERS.values()) <= set(BY_NAME)
