"""“Keeping numbers in range”: what only its exercises say, and its chart."""

import pytest
import torch
from exercise_cases import assert_right_shapes
from living_charts import numbers, says
from playwright.sync_api import Locator
from torch import nn

from chapters.keeping_numbers_in_range.charts import ARRANGEMENTS
from chapters.keeping_numbers_in_range.exercises import check_norm_shapes


def test_the_shapes_are_what_pytorch_says():
    assert_right_shapes(check_norm_shapes, {"x": torch.ones(2, 10, 5), "nn": nn})


# --- the chart ---


def sizes(arrangement: str, depth: int, factor: float) -> tuple[torch.Tensor, torch.Tensor]:
    """Signal and gradient, by layer, for blocks that multiply the size by the factor."""
    layer = torch.arange(depth + 1, dtype=torch.float64)
    if arrangement == "post-norm":
        return torch.ones_like(layer), torch.ones_like(layer)
    if arrangement == "pre-norm":
        wide = (1 + layer * factor**2).sqrt()
        return wide, wide[-1] / wide
    each = factor if arrangement == "plain" else (1 + factor**2) ** 0.5
    return each**layer, each ** layer.flip(0)


@pytest.mark.thorough
@pytest.mark.parametrize("arrangement", ARRANGEMENTS)
def test_signal_and_gradient_are_those_of_random_blocks(chart: Locator, arrangement: str) -> None:
    chart.get_by_label(arrangement, exact=True).check()
    depth_slider, factor_slider = chart.get_by_role("slider").all()
    for depth in (1, 12, 32):
        for factor in (0.4, 1.0, 1.6):
            depth_slider.fill(str(depth))
            factor_slider.fill(str(factor))
            words = f"{arrangement}, {depth} layer{'' if depth == 1 else 's'}, factor {factor:.1f}"
            says(chart, words)
            drawn = numbers(chart, "signal", "gradient")
            torch.testing.assert_close(tuple(drawn), sizes(arrangement, depth, factor), rtol=1e-9, atol=0)
            ends = numbers(chart, "end", "start")
            signal, gradient = sizes(arrangement, depth, factor)
            torch.testing.assert_close(
                torch.cat(ends), torch.stack([signal[-1], gradient[0]]), rtol=1e-9, atol=0
            )
