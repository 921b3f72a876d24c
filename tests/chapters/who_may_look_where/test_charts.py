"""The chart of “Who may look where?” draws what attnlab computes."""

import pytest
import torch
from living_charts import numbers, says
from playwright.sync_api import Page

from attnlab import masks
from attnlab.attention import masked_softmax
from chapters.who_may_look_where.charts import MASKS, PLACES, SCORES, SIDES

TABLE = torch.tensor(SCORES, dtype=torch.float64)[None]  # (1, 6, 6)


def chosen(words: int, mask: str, side: str) -> torch.Tensor:
    shown = masks.padding(torch.tensor([words]), PLACES)  # (1, 1, 6)
    shown = shown if side == "at the end" else shown.flip(-1)
    everything = torch.ones(1, PLACES, PLACES, dtype=torch.bool)
    return everything & {
        "none": everything,
        "padding": shown,
        "causal": masks.causal(PLACES),
        "both": masks.combine(shown, masks.causal(PLACES)),
    }[mask]  # fmt: skip


@pytest.mark.thorough
def test_the_weights_and_the_readout_are_attnlabs(page: Page, base_url: str) -> None:
    page.goto(base_url + "who-may-look-where.html")
    chart = page.locator(".chart").first
    counted = chart.get_by_role("slider")
    for side in SIDES:
        chart.get_by_label(side, exact=True).check()
        for mask in MASKS:
            chart.get_by_label(mask, exact=True).check()
            for words in (2, 6, 1, 4):
                counted.fill(str(words))
                weights = masked_softmax(TABLE, chosen(words, mask, side))[0]  # (6, 6)
                filler = ~chosen(words, "padding", side)[0]
                on_filler = 100 * (weights * filler).sum() / PLACES
                on_later = 100 * weights.triu(1).sum() / PLACES
                empty = PLACES - round(weights.sum().item())
                says(chart, f"weight on filler {on_filler:.0f} %, on later places {on_later:.0f} %")
                says(chart, f"rows that may look at nothing: {empty}")
                (drawn,) = numbers(chart, "weight")
                torch.testing.assert_close(drawn.view(PLACES, PLACES), weights, atol=1e-6, rtol=0)


@pytest.mark.thorough
def test_only_filler_in_front_leaves_a_row_with_nothing_to_look_at(page: Page, base_url: str) -> None:
    page.goto(base_url + "who-may-look-where.html")
    chart = page.locator(".chart").first
    chart.get_by_label("both", exact=True).check()
    says(chart, "rows that may look at nothing: 0")
    chart.get_by_label("at the front", exact=True).check()
    says(chart, "rows that may look at nothing: 2")
