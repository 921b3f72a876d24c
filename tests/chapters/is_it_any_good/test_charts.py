"""The chart of “Is it any good?” draws from the stored model's chances as attnlab does."""

import re

import pytest
import torch
import vl_convert

from attnlab.decoding import chances
from bookkit import weights
from chapters.a_gpt_of_your_own import models
from chapters.is_it_any_good import charts
from chapters.is_it_any_good.charts import IDS, KNOWN, SHARES, SURPRISES


@pytest.fixture(scope="module")
def logits():
    """`logits["A graph is"]` are the stored model's for the piece behind it."""
    model = models.gpt()
    weights.load("a_gpt_of_your_own/gpt", model, weights.STORED)
    pieces = models.pieces()
    with torch.no_grad():
        return {
            given: model(torch.tensor([[pieces.end, *pieces.encode(given)]]))[0, -1].double()
            for given in SURPRISES
        }


@pytest.mark.parametrize("given", SURPRISES)
def test_its_surprises_are_those_of_the_stored_model(logits, given):
    surprise, likeliest = (-logits[given].log_softmax(-1)).topk(KNOWN, largest=False)
    torch.testing.assert_close(torch.tensor(SURPRISES[given]).double(), 100 * surprise, atol=1, rtol=0)
    assert {*IDS[given]} == {*likeliest.tolist()}


@pytest.mark.parametrize("given", SHARES)
def test_what_the_likeliest_hold_together_at_each_temperature(logits, given):
    temperatures = torch.arange(2, 21).double() / 10
    share = (logits[given] / temperatures[:, None]).softmax(-1).topk(KNOWN).values.sum(-1)
    torch.testing.assert_close(torch.tensor(SHARES[given]).double(), 10_000 * share, atol=5, rtol=0)


@pytest.mark.parametrize("given", SURPRISES)
@pytest.mark.parametrize(
    ("temperature", "top_k", "top_p"), [(1.0, 40, 1.0), (0.2, 40, 1.0), (0.5, 5, 1.0), (2.0, 40, 0.1)]
)
def test_it_leaves_what_chances_leaves_of_all_pieces(logits, given, temperature, top_k, top_p):
    spec = charts.next_piece().to_dict()
    for control in spec["params"]:
        settings = {"given": given, "temperature": temperature, "top_k": top_k, "top_p": top_p}
        control["value"] = settings.get(control["name"], control["value"])
    picture = vl_convert.vegalite_to_svg(spec)
    shares = (logits[given] / temperature).softmax(-1)
    left = chances(logits[given], temperature, top_k, None if top_p == 1 else top_p)
    said = [float(number) for number in re.findall(r"(?:>|with |largest )([\d.]+)(?= of|<)", picture)]
    kept = [(left > 0).sum().item(), shares[left > 0].sum().item(), left.max().item()]
    # Rounded to hundredths, of surprises that are themselves in hundredths of a nat.
    assert said[-3:] == pytest.approx(kept, abs=0.011)
