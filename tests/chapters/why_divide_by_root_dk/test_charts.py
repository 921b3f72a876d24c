"""The chart of “Why divide by √dₖ?” draws what attnlab computes."""

import pytest
import torch
from living_charts import numbers, says
from playwright.sync_api import Page

from chapters.why_divide_by_root_dk.charts import STANDARD_SCORES


@pytest.mark.thorough
def test_the_weights_and_the_readout_are_attnlabs(page: Page, base_url: str) -> None:
    page.goto(base_url + "why-divide-by-root-dk.html")
    chart = page.locator(".chart").first
    standard = torch.tensor(STANDARD_SCORES, dtype=torch.float64)  # (16,)
    for choice, power in {"1 (nothing)": 0, "√d_k": 0.5, "d_k": 1}.items():
        chart.get_by_label(choice, exact=True).check()
        for exponent in range(11):
            d_k = 2**exponent
            chart.get_by_role("slider").fill(str(exponent))
            says(chart, f"d_k = {d_k}, scores divided by {d_k**power:.4g},")
            weights = (standard * d_k**0.5 / d_k**power).softmax(-1)  # (16,)
            entropy = torch.special.entr(weights).sum()
            drawn = torch.cat(numbers(chart, "weight", "largest", "entropy"))
            expected = torch.cat([weights, torch.stack([weights.max(), entropy])])
            torch.testing.assert_close(drawn, expected, atol=1e-6, rtol=0)
