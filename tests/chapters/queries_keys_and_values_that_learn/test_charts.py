"""The chart of “Queries, keys and values that learn” goes through the training that its chapter ran."""

import pytest
import torch
from living_charts import numbers, says
from playwright.sync_api import Page

from chapters.queries_keys_and_values_that_learn.charts import ANIMALS, CHASED, PERCENT


@pytest.mark.thorough
def test_each_step_shows_its_own_weights(page: Page, base_url: str) -> None:
    page.goto(base_url + "queries-keys-and-values-that-learn.html")
    chart = page.locator(".chart").first
    for steps, stored in PERCENT.items():
        weights = torch.tensor(stored, dtype=torch.float64).view(6, 6)
        on_the_chased = weights[torch.arange(6), torch.tensor(CHASED)]
        chart.get_by_label("steps of training").fill(str(steps))
        said = says(chart, f"after {steps} steps")
        assert f"mean {on_the_chased.mean():.0f} %, least {on_the_chased.min():.0f} %" in said
        percent, right = numbers(chart, "percent", "right")
        assert percent.tolist() == stored
        assert right.nonzero().flatten().tolist() == [6 * i + j for i, j in enumerate(CHASED)]


def test_rows_are_shares_and_in_the_end_each_finds_whom_it_chases() -> None:
    for stored in PERCENT.values():
        sums = torch.tensor(stored).view(6, 6).sum(-1)
        assert (sums - 100).abs().max() <= 3  # six numbers, each rounded
    assert torch.tensor(PERCENT[max(PERCENT)]).view(6, 6).argmax(-1).tolist() == CHASED
    assert sorted(CHASED) == list(range(len(ANIMALS)))
