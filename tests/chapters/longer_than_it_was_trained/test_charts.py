"""The chart of longer texts turns pairs as attnlab does."""

import math
import re

import pytest
import torch
import vl_convert

from attnlab.positions import stretched
from attnlab.today.model import Today
from chapters.longer_than_it_was_trained import charts
from chapters.longer_than_it_was_trained.charts import FARTHEST, FAST, LARGEST, LONGEST, SLOW, STEP, WAYS

pytestmark = pytest.mark.thorough

FREQUENCIES = Today(16, 96, heads=6, groups=2, hidden=8, layers=1, longest=LONGEST).frequencies.double()


def said(distance: int, factor: int, how: str) -> tuple[int, float]:
    """How many pairs the readout counts, and the radians of the slowest."""
    spec = charts.angles().to_dict()
    for control in spec["params"]:
        settings = {"distance": distance, "factor": factor, "how": how}
        control["value"] = settings.get(control["name"], control["value"])
    found = re.search(
        r"(\d) of 8 pairs.*turned ([\d.]+) radians", vl_convert.vegalite_to_svg(spec), re.DOTALL
    )
    return int(found[1]), float(found[2])


def counted(distance: int, factor: int, how: str) -> tuple[int, float]:
    """The same, by attnlab."""
    made = stretched(FREQUENCIES, factor, LONGEST, how, slow=SLOW, fast=FAST) * distance
    reached = (FREQUENCIES * (LONGEST - 1)).clamp(max=2 * math.pi)
    return int((made % (2 * math.pi) > reached + 1e-9).sum()), made.min().item()


@pytest.mark.parametrize("how", WAYS)
@pytest.mark.parametrize(("distance", "factor"), [(8, 1), (508, 1), (1016, 4), (1016, 8), (1016, 128)])
def test_it_counts_what_was_never_seen(distance, factor, how):
    never, slowest = said(distance, factor, how)
    expected, angle = counted(distance, factor, how)
    assert never == expected
    assert slowest == pytest.approx(angle, rel=5e-4)


def test_within_the_training_length_all_is_seen():
    assert {said(distance, 1, "mixed")[0] for distance in (8, 64, 120)} == {0}


@pytest.mark.parametrize("how", WAYS)
def test_each_step_of_a_slider_is_told(how):
    """To four digits the slowest pair has turned another angle."""
    places = torch.arange(STEP, FARTHEST + 1, STEP).tolist()
    for factor in (1, LARGEST):
        told = [f"{counted(place, factor, how)[1]:.4g}" for place in places]
        assert len({*told}) == len(told)
    told = [f"{counted(FARTHEST, factor, how)[1]:.4g}" for factor in range(1, LARGEST + 1)]
    assert len({*told}) == len(told)


def test_the_description_says_what_it_begins_with():
    assert said(508, 1, "interpolated")[0] == 4
    assert said(508, 4, "interpolated")[0] == 0
    assert "508 places, four dots" in charts.DESCRIPTION
