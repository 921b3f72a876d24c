"""The chart of “Text as tensors” pads and cuts as torchtext does."""

import pytest
import torch
from living_charts import numbers, says
from playwright.sync_api import Locator, Page
from torchtext import data

from chapters.text_as_tensors.charts import FAMOUS_LENGTHS


@pytest.mark.thorough
def test_the_shares_and_the_bars_are_torchtexts(page: Page, base_url: str) -> None:
    page.goto(base_url + "text-as-tensors.html")
    chart = page.locator(".chart").first
    reviews = [list(range(1, tokens + 1)) for tokens in FAMOUS_LENGTHS]
    for pad in ("front", "back"):
        chart.get_by_label(f"pad the {pad}", exact=True).check()
        for cut in ("front", "back"):
            chart.get_by_label(f"cut the {cut}", exact=True).check()
            for row in (20, 120, 220, 320, 420, 500, 520):
                chart.get_by_role("slider").fill(str(row))
                field = data.Field(
                    use_vocab=False, batch_first=True, fix_length=row, pad_token=0,
                    pad_first=pad == "front", truncate_first=cut == "front",
                )  # fmt: skip
                array = field.process(reviews)  # (10, row)
                says(chart, f"array of 10 × {row}")
                padding = (array == 0).double().mean().item()
                lost = 1 - (array != 0).sum().item() / sum(FAMOUS_LENGTHS)
                shares = torch.cat(numbers(chart, "padding_share", "lost_share")).tolist()
                assert shares == pytest.approx([padding, lost], rel=0, abs=1e-6)
                drawn = bars(chart)
                assert drawn["kept"] == [places(line != 0) for line in array]
                assert drawn["padding"] == [places(line == 0) for line in array]
                assert all(
                    (end <= 0) == (cut == "front") and (start >= row) == (cut == "back")
                    for start, end in drawn["cut off"]
                    if start != end
                )


def places(chosen) -> tuple[int, int]:
    """From where to where a row holds what was chosen; (0, 0) where it holds none."""
    found = chosen.nonzero().flatten().tolist()
    return (found[0], found[-1] + 1) if found else (0, 0)


def bars(chart: Locator) -> dict[str, list[tuple[int, int]]]:
    """Where the bars of each part start and end, review by review; (0, 0) for those of no length."""
    script = """(chart) => JSON.parse(chart.querySelector("script").textContent).data
        .map(({ name }) => chart.view.data(name))
        .find((rows) => rows[0] && rows[0].start !== undefined)
        .map((row) => [row.review, row.part, row.start, row.end])"""
    found: dict[str, list[tuple[int, int]]] = {}
    for _, part, start, end in sorted(chart.evaluate(script)):
        found.setdefault(part, []).append((0, 0) if start == end else (start, end))
    return found
