"""“Why divide by √dₖ?”: what only its exercises say, and its chart."""

import math

import pytest
import torch
from exercise_cases import assert_right_shapes, assert_trains
from living_charts import numbers, says
from playwright.sync_api import Locator
from torch.nn import functional as F

from chapters.why_divide_by_root_dk.accepted import softmax
from chapters.why_divide_by_root_dk.charts import STANDARD_SCORES
from chapters.why_divide_by_root_dk.exercises import check_attention_shapes, check_repaired_attention


def test_the_shapes_are_what_pytorch_says():
    query, key, value = torch.rand(8, 4, 50, 64), torch.rand(8, 4, 200, 64), torch.rand(8, 4, 200, 32)
    query.requires_grad_()
    scores = query @ key.mT / math.sqrt(64)
    weights = scores.softmax(-1)
    (weights @ value).sum().backward()
    names = {"query": query, "key": key, "value": value, "scores": scores, "weights": weights}
    names |= {"jacobian": torch.autograd.functional.jacobian, "one_row": scores[0, 0, 0], "softmax": softmax}
    assert_right_shapes(check_attention_shapes, names)


def test_the_broken_code_trains_anyway():
    generator = torch.Generator().manual_seed(0)
    query, key, value = (torch.randn(6, 4, generator=generator).requires_grad_() for _ in range(3))
    wanted = torch.randn(6, 4, generator=generator)
    _, broken = check_repaired_attention.mistakes["still broken"]
    assert_trains(lambda: F.mse_loss(broken(query, key, value)[0], wanted), query, key, value)


# --- the chart ---


@pytest.mark.thorough
def test_the_weights_and_the_readout_are_attnlabs(chart: Locator) -> None:
    standard = torch.tensor(STANDARD_SCORES, dtype=torch.float64)  # (16,)
    for choice, power in {"1 (nothing)": 0, "√d_k": 0.5, "d_k": 1}.items():
        chart.get_by_label(choice, exact=True).check()
        for exponent in range(11):
            d_k = 2**exponent
            chart.get_by_role("slider").fill(str(exponent))
            weights = (standard * d_k**0.5 / d_k**power).softmax(-1)  # (16,)
            entropy = torch.special.entr(weights).sum()
            said = says(chart, f"d_k = {d_k}, scores divided by {d_k**power:.4g},")
            assert f"largest weight {weights.max():.3f}, entropy {entropy:.2f} nats of 2.77" in said
            drawn = torch.cat(numbers(chart, "weight", "largest", "entropy"))
            expected = torch.cat([weights, torch.stack([weights.max(), entropy])])
            torch.testing.assert_close(drawn, expected, atol=1e-6, rtol=0)
