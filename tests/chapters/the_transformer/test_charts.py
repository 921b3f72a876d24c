"""The chart of “The Transformer” draws the stored model's probabilities, and the grammar's chances."""

import math

import pytest
import torch
from living_charts import numbers, says
from playwright.sync_api import Page

from attnlab.corpora import agreement
from bookkit import weights
from chapters.the_transformer import models
from chapters.the_transformer.charts import SHOWN, SURPRISES, _chances


@pytest.mark.parametrize("beginning", SURPRISES)
@torch.no_grad()
def test_its_surprises_are_those_of_the_stored_model(beginning):
    model = models.LANGUAGE_MODELS["language-model"]()
    weights.load("the_transformer/language-model", model, weights.STORED)
    places = {word: place for place, word in enumerate(models.WORDS)}
    words = torch.tensor([[models.START, *map(places.__getitem__, beginning.split())]])
    surprise = -model(words)[0, -1].log_softmax(-1)
    expected = surprise[[places[word] for word in agreement.WORDS]]
    torch.testing.assert_close(torch.tensor(SURPRISES[beginning]).float(), 100 * expected, atol=0.51, rtol=0)


@pytest.mark.parametrize("beginning", SURPRISES)
def test_its_chances_are_those_with_which_the_grammar_draws(beginning):
    own = _chances(beginning)
    assert sum(own.values()) == pytest.approx(1)
    for verb in agreement.VERBS:
        found = [word for word in (verb, f"{verb}s") if word in own]
        assert len(found) == 1, "one of the two agrees with the subject"
        costs = agreement.surprises([*beginning.split(), *found, "."])
        assert own[found[0]] == pytest.approx(math.exp(-costs[-2]))


@pytest.mark.thorough
def test_each_beginning_at_several_temperatures(page: Page, base_url: str) -> None:
    page.goto(base_url + "the-transformer.html")
    chart = page.locator(".chart").first
    slider = chart.get_by_role("slider")
    for beginning, surprises in reversed(SURPRISES.items()):
        chart.get_by_label(beginning, exact=True).check()
        impossible = torch.tensor([word not in _chances(beginning) for word in agreement.WORDS])
        for temperature in (0.3, 2.0, 1.0):
            slider.fill(str(temperature))
            shares = (-torch.tensor(surprises).double() / 100 / temperature).softmax(-1)
            says(chart, f"temperature {temperature:.1f}")
            says(chart, f"largest {shares.max():.2f}")
            says(chart, f"forbids {shares[impossible].sum():.3f}")
            weight, chance = numbers(chart, "weight", "chance")
            assert len(weight) >= SHOWN + 1
            assert chance.max() > 0.1
