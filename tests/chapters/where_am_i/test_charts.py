"""The chart of “Where am I?” draws what attnlab computes."""

import math
from collections.abc import Callable

import pytest
import torch
from playwright.sync_api import Locator, Page, expect

from attnlab.positions import sinusoidal
from chapters.where_am_i.charts import POSITIONS


@pytest.fixture
def chart(page: Page, base_url: str) -> Locator:
    page.goto(base_url + "where-am-i.html")
    return page.locator(".chart").first


def move(chart: Locator, label: str, value: float) -> None:
    chart.get_by_role("slider", name=label).evaluate(
        "(slider, value) => { slider.value = value;"
        " slider.dispatchEvent(new Event('input', { bubbles: true })); }",
        str(value),
    )


@pytest.mark.parametrize(
    ("d_model", "exponent", "chosen"), [(16, 3, 20), (2, 4, 0), (8, 1, 47), (32, 6, 31), (30, 0.5, 7)]
)
def test_the_table_and_the_profile_are_attnlabs(
    chart: Locator, numbers: Callable, d_model: int, exponent: float, chosen: int
) -> None:
    base = 10**exponent
    move(chart, "columns (d_model)", d_model)
    move(chart, "base, as a power of 10", exponent)
    move(chart, "chosen position", chosen)
    status = chart.get_by_role("status")
    words = f"{base:,.0f}" if base >= 10 else f"{base:.3f}"
    expect(status).to_contain_text(f"row {chosen} of {d_model} columns, base {words}, ")
    table = sinusoidal(POSITIONS, d_model, base, torch.float64)
    drawn = numbers(chart, "value")
    torch.testing.assert_close(drawn, table.flatten(), atol=1e-9, rtol=0)
    alike = table @ table[chosen] / (d_model / 2)
    torch.testing.assert_close(numbers(chart, "alike"), alike, atol=1e-9, rtol=0)
    longest = 2 * math.pi * base ** ((d_model - 2) / d_model)
    torch.testing.assert_close(numbers(chart, "longest"), torch.tensor([longest]).double())
    alike[chosen] = -math.inf
    closest = [place for place in range(POSITIONS) if alike[place] > alike.max() - 1e-9]
    assert numbers(chart, "first").item() == closest[0]
    assert numbers(chart, "last").item() == closest[-1]
    expect(status).to_contain_text(f", {alike.max():.3f}")


def test_each_control_moves_by_keyboard(chart: Locator) -> None:
    for label in ("columns (d_model)", "base, as a power of 10", "chosen position"):
        chart.get_by_role("slider", name=label).press("ArrowLeft")
    expect(chart.get_by_role("status")).to_contain_text("row 19 of 14 columns, base 3,162")
