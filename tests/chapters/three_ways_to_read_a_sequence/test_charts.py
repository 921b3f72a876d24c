"""The chart of “Three ways to read a sequence” fills what a stack of windows hears."""

import itertools

import pytest
from living_charts import numbers, says
from playwright.sync_api import Page

from chapters.three_ways_to_read_a_sequence.charts import WORDS


def heard(layers: int, kernel: int, growth: int) -> set[int]:
    """How far back the words are that the last output hears, window by window."""
    places = {0}
    for layer in reversed(range(layers)):
        places = {back + place * growth**layer for back in places for place in range(kernel)}
    return {back for back in places if back < WORDS}


@pytest.mark.thorough
def test_the_words_are_those_that_the_windows_hear(page: Page, base_url: str) -> None:
    page.goto(base_url + "three-ways-to-read-a-sequence.html")
    chart = page.locator(".chart").first
    chart.get_by_label("convolution", exact=True).check()
    layer_slider, kernel_slider, growth_slider = chart.get_by_role("slider").all()
    for layers, growth, kernel in itertools.product((1, 3, 6), (1, 2, 3), (2, 3, 4)):
        layer_slider.fill(str(layers))
        growth_slider.fill(str(growth))
        kernel_slider.fill(str(kernel))
        expected = heard(layers, kernel, growth)
        says(chart, f"hears {len(expected)} of {WORDS} words, up to {max(expected)} back")
        layer, back, filled = (each.tolist() for each in numbers(chart, "layer", "back", "heard"))
        found = {word for at, word, on in zip(layer, back, filled, strict=True) if at == 0 and on}
        assert found == expected


@pytest.mark.thorough
def test_the_other_two_hear_every_word(page: Page, base_url: str) -> None:
    page.goto(base_url + "three-ways-to-read-a-sequence.html")
    chart = page.locator(".chart").first
    chart.get_by_role("slider").all()[0].fill("1")
    for reader, steps in (("recurrence", "47 steps"), ("attention", "1 step")):
        chart.get_by_label(reader, exact=True).check()
        says(chart, f"hears {WORDS} of {WORDS} words")
        says(chart, f"path: {steps}")
