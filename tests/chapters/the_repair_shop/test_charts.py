"""The chart shows what eight layers measure."""

import re

import pytest
import torch
import vl_convert

from chapters.the_repair_shop import charts
from chapters.the_repair_shop.screws import SIZES, by_layer


def said(screw, step):
    """What the readout says of the gradients of layers 1 and 8, and of the bits in layer 1."""
    spec = charts.by_layer().to_dict()
    for control in spec["params"]:
        control["value"] = {"screw": screw, "step": step}.get(control["name"], control["value"])
    picture = vl_convert.vegalite_to_svg(spec)
    found = re.search(
        r"layer 1: ([\d.]+), of layer 8: ([\d.]+).*?bits in layer 1: ([\d.]+)", picture, re.DOTALL
    )
    return [float(each) for each in found.groups()]


@pytest.mark.parametrize(
    ("screw", "step"), [("weights larger", 0), ("scores larger", 3), ("stream fades", 8)]
)
def test_it_shows_what_is_measured(screw, step):
    gradient, bits = by_layer(screw, SIZES[screw][step])
    first, last, wide = said(screw, step)
    assert first == pytest.approx(10 ** gradient[0].item(), rel=0.03)
    assert last == pytest.approx(10 ** gradient[-1].item(), rel=0.03)
    assert wide == pytest.approx(bits[0].item(), abs=0.02)


@pytest.mark.parametrize("screw", SIZES)
def test_each_setting_is_stored(screw):
    for stored in (charts.GRADIENTS[screw], charts.BITS[screw]):
        assert len(stored) == len(SIZES[screw])
        assert {len(row.split()) for row in stored} == {8}


def test_the_description_says_what_it_shows():
    bits = torch.tensor([[int(each) / 100 for each in row.split()] for row in charts.BITS["scores larger"]])
    steep = torch.tensor(
        [[int(each) / 100 for each in row.split()] for row in charts.GRADIENTS["weights larger"]]
    )
    assert bits[3].mean().item() == pytest.approx(3, abs=0.2)
    assert 10 ** (steep[8, 0] - steep[0, 0]).item() == pytest.approx(160, rel=0.05)
