"""The chart of “Looking inside” draws what the stored model's heads looked at while it trained."""

import math

import pytest
import torch
from living_charts import numbers, says
from playwright.sync_api import Page

from bookkit import weights
from chapters.looking_inside import models
from chapters.looking_inside.charts import CELLS, LETTERS, PERCENT, STEPS

ROWS, COLUMNS = torch.tril_indices(len(LETTERS), len(LETTERS))


def whole(number):
    """A half goes up, as browsers write it."""
    return math.floor(number + 0.5)


def test_its_letters_are_those_that_were_shown():
    assert [models.SYMBOLS[word] for word in models.SHOWN[0]] == [*LETTERS]
    assert len(ROWS) == CELLS


def test_its_weights_are_those_noted_in_the_training():
    shown = weights.notes("looking_inside/two-layers", weights.STORED)["shown"]
    noted = shown[[step // models.NOTED_EVERY for step in STEPS]][
        ..., ROWS, COLUMNS
    ]  # (6, layers, heads, 136)
    drawn = torch.tensor([*PERCENT.values()], dtype=torch.float32).view(2, 2, len(STEPS), CELLS)
    # Whole per cent, of numbers that were stored in 16 bits.
    torch.testing.assert_close(drawn.permute(2, 0, 1, 3), 100 * noted, atol=0.55, rtol=0)


@pytest.mark.thorough
def test_each_head_at_each_moment(page: Page, base_url: str) -> None:
    page.goto(base_url + "looking-inside.html")
    chart = page.locator(".chart").first
    half = len(LETTERS) // 2
    before = ROWS.gt(0) & ROWS.lt(half) & (ROWS - 1 == COLUMNS)
    answer = ROWS.ge(half) & (ROWS - half + 1 == COLUMNS)
    # It begins with the last of all, and says so once something has moved.
    for name, percent in PERCENT.items():
        chart.get_by_label(name, exact=True).check()
        for moment, step in enumerate(STEPS, start=1):
            chart.get_by_role("slider").fill(str(moment))
            looked = torch.tensor(percent, dtype=torch.float64).view(len(STEPS), CELLS)[moment - 1]
            told = says(chart, f"update {step}, {name}: weight")
            assert f"{whole(looked[before].mean())} % on the letter before" in told
            assert f"{whole(looked[answer].mean())} % on the answer" in told
            (drawn,) = numbers(chart, "percent")
            assert torch.equal(drawn, looked)
