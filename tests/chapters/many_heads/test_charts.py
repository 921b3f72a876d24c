"""The chart of “Many heads” shows what each head of a trained layer does, and what their mean hides."""

import pytest
import torch
from living_charts import numbers, says
from playwright.sync_api import Page


@pytest.mark.thorough
def test_each_head_and_their_mean(page: Page, base_url: str) -> None:
    page.goto(base_url + "many-heads.html")
    chart = page.locator(".chart").first
    chart.get_by_label("their mean", exact=True).check()
    says(chart, "their mean: most weight")
    (mean,) = numbers(chart, "weight")
    heads = []
    for head in range(1, 5):
        chart.get_by_label(f"head {head}", exact=True).check()
        said = says(chart, f"head {head}: most weight")
        (weights,) = numbers(chart, "weight")
        table = weights.view(8, 8)  # a row for each guest that asks
        torch.testing.assert_close(table.sum(-1), torch.ones(8).double(), atol=0.041, rtol=0)  # two decimals
        # On average over the guests, by how far away the other one sits.
        away = torch.stack([table.roll(-k, dims=1).diagonal().mean() for k in range(-3, 5)])
        k = int(away.argmax()) - 3
        assert f"{abs(k)} to the {'left' if k < 0 else 'right'}" in said
        assert abs(float(said.split()[-1]) - away.max()) < 0.00501  # two decimals
        heads.append((k, table))
    assert {k for k, _ in heads} == {-2, -1, 1, 2}  # as the removals told
    expected = torch.stack([table for _, table in heads]).mean(0)
    torch.testing.assert_close(mean.view(8, 8), expected, atol=1e-9, rtol=0)
