"""The chart of “A GPT of your own” draws from the stored model's chances as attnlab does."""

import pytest
import torch
from living_charts import numbers, says
from playwright.sync_api import Page

from attnlab.decoding import chances
from bookkit import weights
from chapters.a_gpt_of_your_own import models
from chapters.a_gpt_of_your_own.charts import IDS, KNOWN, SHOWN, SURPRISES


@pytest.mark.parametrize("given", SURPRISES)
@torch.no_grad()
def test_its_surprises_are_those_of_the_stored_model(given):
    model = models.gpt()
    weights.load("a_gpt_of_your_own/gpt", model, weights.STORED)
    pieces = models.pieces()
    ids = torch.tensor([[pieces.end, *pieces.encode(given)]])
    surprise, likeliest = (-model(ids)[0, -1].log_softmax(-1)).topk(KNOWN, largest=False)
    torch.testing.assert_close(torch.tensor(SURPRISES[given]).float(), 100 * surprise, atol=1, rtol=0)
    assert {*IDS[given]} == {*likeliest.tolist()}


def test_each_beginning_with_several_settings(page: Page, base_url: str) -> None:
    page.goto(base_url + "a-gpt-of-your-own.html")
    chart = page.locator(".chart").first
    sliders = {name: chart.get_by_label(name, exact=True) for name in ("temperature", "top-k", "top-p")}
    for given, surprises in SURPRISES.items():
        chart.get_by_label(given, exact=True).check()
        for temperature, top_k, top_p in ((1.0, 40, 0.8), (0.5, 5, 1.0), (2.0, 40, 0.5)):
            sliders["temperature"].fill(str(temperature))
            sliders["top-k"].fill(str(top_k))
            sliders["top-p"].fill(str(top_p))
            logits = -torch.tensor(surprises).double() / 100
            left = chances(logits, temperature, top_k=top_k, top_p=top_p)
            says(chart, f"{int((left > 0).sum())} of 40 pieces stay")
            says(chart, f"largest {left.max():.2f}")
            (drawn,) = numbers(chart, "chance")
            assert len(drawn) >= SHOWN
