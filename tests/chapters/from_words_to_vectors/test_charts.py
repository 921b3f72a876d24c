"""The chart of “From words to vectors” compares words as PyTorch does."""

import pytest
import torch
from living_charts import numbers, says
from playwright.sync_api import Page

from chapters.from_words_to_vectors.charts import MEASURES, OFFERED
from chapters.from_words_to_vectors.counting import count, neighbours
from chapters.from_words_to_vectors.grammar import NUMBER, VOCABULARY, written


@pytest.mark.thorough
def test_the_nearest_words_are_pytorchs(page: Page, base_url: str) -> None:
    page.goto(base_url + "from-words-to-vectors.html")
    chart = page.locator(".chart").first
    counts = count(neighbours(written(400, seed=0)))
    for measure in MEASURES:
        chart.get_by_label(measure, exact=True).check()
        for place in (0, 7, 12, 16):
            chart.get_by_role("slider").fill(str(place))
            chosen = NUMBER[OFFERED[place]]
            said = says(chart, f"{OFFERED[place]}, nearest by {measure}:")
            alike = {
                "dot product": counts @ counts[chosen],
                "cosine": torch.cosine_similarity(counts, counts[chosen], dim=-1),
                "distance": -(counts - counts[chosen]).norm(dim=-1),
            }[measure]
            alike[chosen] = -torch.inf
            for number in alike.topk(3).indices:
                assert VOCABULARY[number] in said
            drawn, rank = numbers(chart, "alike", "rank")
            first = alike.max()
            torch.testing.assert_close(drawn[rank == 1], first[None], atol=1e-9, rtol=1e-9)


@pytest.mark.thorough
def test_each_control_moves_by_keyboard(page: Page, base_url: str) -> None:
    page.goto(base_url + "from-words-to-vectors.html")
    chart = page.locator(".chart").first
    chart.get_by_role("slider").press("ArrowLeft")
    says(chart, f"{OFFERED[6]}, nearest by cosine")
    chart.get_by_label("cosine", exact=True).press("ArrowRight")
    says(chart, f"{OFFERED[6]}, nearest by distance")
