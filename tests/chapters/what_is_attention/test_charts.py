"""The chart of “What is attention?” draws what attnlab computes."""

import torch
from living_charts import numbers, says
from playwright.sync_api import Page

from attnlab.attention import attend
from chapters.what_is_attention.charts import VISITORS

HOURS = torch.tensor(list(VISITORS), dtype=torch.float64).unsqueeze(-1)  # (3, 1)
COUNTS = torch.tensor(list(VISITORS.values()), dtype=torch.float64).unsqueeze(-1)


def asked(query: torch.Tensor, temperature: float) -> tuple[torch.Tensor, torch.Tensor]:
    """The answers and the weights for queries (n, 1)."""
    output, weights = attend(query, HOURS, COUNTS, score=lambda q, k: -torch.cdist(q, k) / temperature)
    return output.squeeze(-1), weights


def test_the_weights_the_answer_and_the_curve_are_attnlabs(page: Page, base_url: str) -> None:
    page.goto(base_url + "what-is-attention.html")
    chart = page.locator(".chart").first
    moved, heated = chart.get_by_role("slider").all()
    curve = 9 + torch.arange(81, dtype=torch.float64).unsqueeze(-1) / 10  # (81, 1)
    for exponent in range(-5, 6):
        temperature = 2.0**exponent
        # From the left at even powers, from the right at odd ones: never the same query twice.
        steps = (12 + exponent) / 4
        query = 17 - steps if exponent % 2 else 9 + steps
        heated.fill(str(exponent))
        moved.fill(str(query))
        said = says(chart, f"query {query:.2f}, temperature {temperature:.4g}")
        answer, weights = asked(torch.tensor([[query]], dtype=torch.float64), temperature)
        assert f"answer {answer.item():.1f} visitors" in said
        assert "weights " + ", ".join(f"{100 * w:.1f}" for w in weights[0]) + " %" in said
        drawn = torch.cat(numbers(chart, "weight", "answer", "largest", "curve"))
        expected = torch.cat([weights[0], answer, weights.max().view(1), asked(curve, temperature)[0]])
        torch.testing.assert_close(drawn, expected, atol=1e-6, rtol=0)
