"""The chart of “Text as tensors” pads and cuts as torchtext does."""

from collections.abc import Callable

from playwright.sync_api import Page, expect
from torchtext import data

from chapters.text_as_tensors.charts import FAMOUS_LENGTHS


def test_the_shares_and_the_bars_are_torchtexts(page: Page, base_url: str, numbers: Callable) -> None:
    page.goto(base_url + "text-as-tensors.html")
    chart = page.locator(".chart").first
    reviews = [list(range(1, tokens + 1)) for tokens in FAMOUS_LENGTHS]
    for pad in ("front", "back"):
        chart.get_by_label(f"pad the {pad}", exact=True).check()
        for cut in ("front", "back"):
            chart.get_by_label(f"cut the {cut}", exact=True).check()
            chart.get_by_role("slider").press("Home")
            for row in range(20, 601, 20):
                if row % 100 == 20 or row == 500:  # all 30 places, four times, would take a minute
                    field = data.Field(
                        use_vocab=False, batch_first=True, fix_length=row, pad_token=0,
                        pad_first=pad == "front", truncate_first=cut == "front",
                    )  # fmt: skip
                    array = field.process(reviews)  # (10, row)
                    expect(chart.get_by_role("status")).to_contain_text(f"array of 10 × {row}")
                    padding = (array == 0).double().mean().item()
                    lost = 1 - (array != 0).sum().item() / sum(FAMOUS_LENGTHS)
                    assert abs(numbers(chart, "padding_share").item() - padding) < 1e-6
                    assert abs(numbers(chart, "lost_share").item() - lost) < 1e-6
                    assert bars(chart, "kept") == [places(line != 0) for line in array]
                    assert bars(chart, "padding") == [places(line == 0) for line in array]
                    assert all(
                        (end <= 0) == (cut == "front") and (start >= row) == (cut == "back")
                        for start, end in bars(chart, "cut off")
                        if start != end
                    )
                chart.get_by_role("slider").press("ArrowRight")


def places(chosen) -> tuple[int, int]:
    """From where to where a row holds what was chosen; (0, 0) where it holds none."""
    found = chosen.nonzero().flatten().tolist()
    return (found[0], found[-1] + 1) if found else (0, 0)


def bars(chart, part: str) -> list[tuple[int, int]]:
    """Where the bars of one part start and end, review by review; (0, 0) for those of no length."""
    script = """(chart) => JSON.parse(chart.querySelector("script").textContent).data
        .map(({ name }) => chart.view.data(name))
        .find((rows) => rows[0] && rows[0].start !== undefined)
        .map((row) => [row.part, row.review, row.start, row.end])"""
    found = [row for row in chart.evaluate(script) if row[0] == part]
    return [
        (0, 0) if start == end else (start, end) for _, _, start, end in sorted(found, key=lambda row: row[1])
    ]
