"""The chart of “Where am I?” draws what attnlab computes."""

import math

import pytest
import torch
from living_charts import numbers, says
from playwright.sync_api import Page

from attnlab.positions import sinusoidal
from chapters.where_am_i.charts import POSITIONS

COLUMNS, BASE, CHOSEN = "columns (d_model)", "base, as a power of 10", "chosen position"


@pytest.mark.thorough
def test_the_table_and_the_profile_are_attnlabs(page: Page, base_url: str) -> None:
    page.goto(base_url + "where-am-i.html")
    chart = page.locator(".chart").first
    for d_model, exponent, chosen in [(16, 3, 20), (2, 4, 0), (8, 1, 31), (32, 6, 27), (30, 0.5, 7)]:
        base = 10**exponent
        for control, value in {COLUMNS: d_model, BASE: exponent, CHOSEN: chosen}.items():
            chart.get_by_role("slider", name=control).fill(str(value))
        words = f"{base:,.0f}" if base >= 10 else f"{base:.3f}"
        said = says(chart, f"row {chosen} of {d_model} columns, base {words}, ")
        table = sinusoidal(POSITIONS, d_model, base, torch.float64)
        alike = table @ table[chosen] / (d_model / 2)
        longest = 2 * math.pi * base ** ((d_model - 2) / d_model)
        value, drawn, wave, first, last = numbers(chart, "value", "alike", "longest", "first", "last")
        torch.testing.assert_close([value, drawn], [table.flatten(), alike], atol=1e-9, rtol=0)
        assert wave.item() == pytest.approx(longest, rel=1e-7)
        alike[chosen] = -math.inf
        closest = [place for place in range(POSITIONS) if alike[place] > alike.max() - 1e-9]
        assert (first.item(), last.item()) == (closest[0], closest[-1])
        assert f", {alike.max():.3f}" in said


@pytest.mark.thorough
def test_each_control_moves_by_keyboard(page: Page, base_url: str) -> None:
    page.goto(base_url + "where-am-i.html")
    chart = page.locator(".chart").first
    for control in (COLUMNS, BASE, CHOSEN):
        chart.get_by_role("slider", name=control).press("ArrowLeft")
    says(chart, "row 19 of 14 columns, base 3,162")
