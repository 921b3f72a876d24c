"""The front page: its chart draws what attnlab computes, its doors open, its list is the contents."""

import pytest
import torch
from living_charts import numbers, says
from playwright.sync_api import Locator, expect

from attnlab.attention import attend
from attnlab.scores import dot
from bookkit import registry
from chapters.what_is_attention.front_page import ANIMALS
from tools.chapters.notebooks import claims, read

HOME = "index.html"


def test_the_chart_is_attnlabs_attention(page, base_url):
    page.goto(base_url + HOME)
    chart = page.locator(".chart")
    told = chart.locator(".chart-picture").get_attribute("aria-label")
    assert all(word in told for word in (*ANIMALS, "output is 3.50 legs"))
    turn, grow = chart.get_by_role("slider").all()
    angles, legs = torch.tensor(list(ANIMALS.values()), dtype=torch.float64).T
    key = torch.stack([angles.deg2rad().cos(), angles.deg2rad().sin()], dim=-1)  # (4, 2)
    for factor in (0, 20, 100):
        grow.fill(str(factor))
        for degrees in (0, 45, 60, 90):
            turn.fill(str(degrees))
            query = torch.tensor([degrees], dtype=torch.float64).deg2rad()
            query = torch.stack([query.cos(), query.sin()], dim=-1)  # (1, 2)
            output, weights = attend(query * factor, key, legs[:, None], score=dot)
            said = says(chart, f"query at {degrees}°, scores × {factor}, ")
            torch.testing.assert_close(arrows(chart, "query"), query, atol=1e-6, rtol=0)
            assert said.endswith(f"largest weight {weights.max():.2f}, output {output.item():.2f} legs")
            torch.testing.assert_close(numbers(chart, "weight"), [weights[0]], atol=1e-6, rtol=0)
    torch.testing.assert_close(arrows(chart, "key"), key, atol=1e-6, rtol=0)


def arrows(chart: Locator, role: str) -> torch.Tensor:
    """Where the tips of these arrows are, from the point where they begin: (arrows, 2)."""
    script = """async (chart, role) => {
        await chart.view.runAsync();
        const { data } = JSON.parse(chart.querySelector("script").textContent);
        const set = data.map(({ name }) => chart.view.data(name)).find((rows) => rows[0]?.role === role);
        return set.map(({ x, y }) => [x, y]);
    }"""
    return torch.tensor(chart.evaluate(script, role), dtype=torch.float64)


@pytest.mark.parametrize("screen", [{"width": 390, "height": 844}, {"width": 1280, "height": 900}])
def test_the_way_in_and_a_result_are_in_the_first_screen(page, base_url, screen):
    page.set_viewport_size(screen)
    page.goto(base_url + HOME)
    box = page.locator(".playground")
    for part in (page.locator(".start a"), box.locator("strong"), box.locator("svg:visible")):
        bounds = part.bounding_box()
        assert bounds
        assert bounds["y"] + bounds["height"] <= screen["height"], part
    line = box.locator(".invitation").evaluate("line => parseFloat(getComputedStyle(line).lineHeight)")
    assert box.locator(".invitation").bounding_box()["height"] < 1.5 * line


@pytest.mark.thorough
@pytest.mark.parametrize("width", [1280, 390])
def test_each_door_opens_from_anywhere_on_its_card(page, base_url, width):
    page.set_viewport_size({"width": width, "height": 844})
    page.route("https://mybinder.org/**", lambda route: route.fulfill(body="Binder"))
    opened = []
    for place in range(3):
        page.goto(base_url + HOME)
        page.locator(".door").nth(place).click(position={"x": 30, "y": 60})
        page.wait_for_url(lambda address: address != base_url + HOME)
        opened.append(page.url)
    page.goto(base_url + HOME)
    doors = page.locator(".door a")
    doors.first.focus()
    for place in range(3):
        expect(doors.nth(place)).to_be_focused()
        page.keyboard.press("Tab")
    first = registry.chapters()[0].name
    assert opened[0] == base_url + first + ".html"
    assert opened[1].startswith("https://mybinder.org/v2/gh/")
    assert opened[1].endswith(f"?urlpath=lab/tree/book/{first}.ipynb")
    assert opened[2] == base_url + HOME + "#on-your-own-machine"


def test_the_list_is_the_table_of_contents(soup):
    chapters, page = registry.chapters(), soup(HOME)
    links = [link["href"] for link in page.select("ol.chapters > li > p:first-child > a")]
    assert links == [f"{chapter.name}.html" for chapter in chapters]
    assert links == [link["href"] for link in page.select("#contents a") if link["href"] in links]
    for chapter, item in zip(chapters, page.select("ol.chapters > li"), strict=True):
        count = len(claims(read(chapter.notebook)))
        assert f"minutes to read · {count} claims checked" in item.get_text()
        assert "You will be able to " in item.get_text()
