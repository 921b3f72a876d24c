"""The chart of “Translating with attention” draws the stored translators' weights, and gold."""

import pytest
import torch
from living_charts import numbers, says
from playwright.sync_api import Page

from attnlab.corpora.grammar import Pair
from attnlab.corpora.grammar_check import English, Lingo, fault
from bookkit import weights
from chapters.translating_with_attention import models
from chapters.translating_with_attention.charts import PERCENT, SENTENCES


def pair(english, lingo, gold):
    links = tuple(sorted((i, j) for j, places in enumerate(gold) for i in places))
    return Pair(tuple(english.split()), tuple(lingo.split()), links)


PAIRS = [pair(*sentence) for sentence in SENTENCES.values()]


def test_its_sentences_are_sentences_that_nobody_learned_from():
    learned = {pair.english for pair in models.training_pairs()}
    for each in PAIRS:
        assert fault(each.english, English) == fault(each.lingo, Lingo) == ""
        assert each.english not in learned


@pytest.mark.parametrize("name", PERCENT)
@torch.no_grad()
def test_its_weights_are_those_of_the_stored_translators(name):
    translator = models.translator(name)
    weights.load(f"translating_with_attention/{name}", translator, weights.STORED)
    for each, percent in zip(PAIRS, PERCENT[name], strict=True):
        alone = models.sentences([each])
        memory = translator.encoder(alone.source, alone.lengths)
        looked = translator.decoder(alone.previous, memory.last, memory)[2][0, : len(each.lingo)]
        shown = torch.tensor(percent).view(len(each.lingo), len(each.english) + 1)
        torch.testing.assert_close(shown.float(), 100 * looked, atol=0.51, rtol=0)


@pytest.mark.thorough
def test_each_sentence_and_translator(page: Page, base_url: str) -> None:
    page.goto(base_url + "translating-with-attention.html")
    chart = page.locator(".chart").first
    # It begins with the first of both, and says so once something has moved.
    for place, (sentence, each) in reversed([*enumerate(zip(SENTENCES, PAIRS, strict=True))]):
        chart.get_by_label(sentence, exact=True).check()
        for name, rows in reversed(PERCENT.items()):
            chart.get_by_label(name, exact=True).check()
            looked = torch.tensor(rows[place]).view(len(each.lingo), -1)
            hits = sum((int(i), j) in each.alignment for j, i in enumerate(looked.argmax(-1)))
            says(chart, f"{name}: {hits} of {len(each.lingo)} words of Lingo")
            (bands,) = numbers(chart, "strength")
            assert len(bands) == len(each.alignment), "gold comes first, a band for each link"
