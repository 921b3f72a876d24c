"""“What is attention?”: what only its exercises say, and its chart."""

import pytest
import torch
from exercise_cases import assert_right_shapes, assert_trains
from living_charts import numbers, says
from playwright.sync_api import Locator
from torch.nn import functional as F

from attnlab.attention import attend
from chapters.what_is_attention.charts import VISITORS
from chapters.what_is_attention.exercises import (
    check_gate_shapes,
    check_needed_temperature,
    check_repaired_regression,
)


def test_the_shapes_are_what_pytorch_says():
    query, key, value = torch.rand(8, 1, 16), torch.rand(8, 10, 16), torch.rand(8, 10, 64)
    names = {"query": query, "key": key, "value": value, "weights": (query @ key.mT).softmax(-1)}
    names |= {"features": torch.rand(8, 64), "attention": torch.rand(8, 64)}
    assert_right_shapes(check_gate_shapes, names)


def test_the_temperature_gives_the_share():
    for gap, keys, share in [(1.0, 2, 0.99), (0.3, 7, 0.5), (10.0, 1000, 0.9)]:
        scores = torch.zeros(keys, dtype=torch.float64)
        scores[0] = gap
        weights = (scores / check_needed_temperature.reference(gap, keys, share)).softmax(-1)
        assert weights[0].item() == pytest.approx(share)


def test_the_broken_code_learns_its_bandwidth_anyway():
    generator = torch.Generator().manual_seed(0)
    key, query = (6 * torch.rand(40, 1, generator=generator) for _ in range(2))
    bandwidth = torch.tensor(3.0, requires_grad=True)
    _, broken = check_repaired_regression.mistakes["still broken"]
    assert_trains(lambda: F.mse_loss(broken(query, key, key.sin(), bandwidth)[0], query.sin()), bandwidth)


# --- the chart ---


HOURS = torch.tensor(list(VISITORS), dtype=torch.float64).unsqueeze(-1)  # (3, 1)
COUNTS = torch.tensor(list(VISITORS.values()), dtype=torch.float64).unsqueeze(-1)


def asked(query: torch.Tensor, temperature: float) -> tuple[torch.Tensor, torch.Tensor]:
    """The answers and the weights for queries (n, 1)."""
    output, weights = attend(query, HOURS, COUNTS, score=lambda q, k: -torch.cdist(q, k) / temperature)
    return output.squeeze(-1), weights


@pytest.mark.slow  # so that `make check` needs no site
def test_the_weights_the_answer_and_the_curve_are_attnlabs(chart: Locator) -> None:
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
