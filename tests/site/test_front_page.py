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
    turn, grow = chart.get_by_role("slider").all()
    angles, legs = torch.tensor(list(ANIMALS.values()), dtype=torch.float64).T
    key = torch.stack([angles.deg2rad().cos(), angles.deg2rad().sin()], dim=-1)  # (4, 2)
    for factor in (0, 20, 100):
        grow.fill(str(factor))
        for degrees in (0, 45, 60, 90):
            turn.fill(str(degrees))
            query = torch.tensor([degrees], dtype=torch.float64).deg2rad()
            query = torch.stack([query.cos(), query.sin()], dim=-1) * factor  # (1, 2)
            output, weights = attend(query, key, legs[:, None], score=dot)
            said = says(chart, f"query at {degrees}°, scores × {factor}, ")
            assert said.endswith(f"largest weight {weights.max():.2f}, output {output.item():.2f} legs")
            torch.testing.assert_close(numbers(chart, "weight"), [weights[0]], atol=1e-6, rtol=0)


@pytest.mark.thorough
def test_the_arrows_point_where_the_words_and_the_slider_say(page, base_url):
    page.goto(base_url + HOME)
    chart = page.locator(".chart")
    angles = torch.tensor([angle for angle, _ in ANIMALS.values()], dtype=torch.float64).deg2rad()
    for degrees in (0, 35, 90):
        chart.get_by_role("slider").first.fill(str(degrees))
        says(chart, f"query at {degrees}°")
        x, y = arrows(chart, "query")
        turned = torch.tensor([degrees], dtype=torch.float64).deg2rad()
        torch.testing.assert_close([x, y], [turned.cos(), turned.sin()], atol=1e-6, rtol=0)
        x, y = arrows(chart, "key")
        torch.testing.assert_close([x, y], [angles.cos(), angles.sin()], atol=1e-6, rtol=0)


def arrows(chart: Locator, role: str) -> list[torch.Tensor]:
    """Where the tips of these arrows are, from the point where they begin."""
    script = """async (chart, role) => {
        await chart.view.runAsync();
        const { data } = JSON.parse(chart.querySelector("script").textContent);
        const set = data.map(({ name }) => chart.view.data(name)).find((rows) => rows[0]?.role === role);
        return ["x", "y"].map((field) => set.map((row) => row[field]));
    }"""
    return [torch.tensor(each, dtype=torch.float64) for each in chart.evaluate(script, role)]


@pytest.mark.thorough
def test_what_the_charts_description_says_is_so(page, base_url):
    page.goto(base_url + HOME)
    chart = page.locator(".chart")
    turn, grow = chart.get_by_role("slider").all()
    told = chart.locator(".chart-picture").get_attribute("aria-label")
    for word, (degrees, legs) in ANIMALS.items():
        assert word in told
        turn.fill(str(degrees))
        grow.fill("0")
        says(chart, "output 3.50 legs")
        grow.fill("100")
        says(chart, f"output {legs}.00 legs")
    assert "output is 3.50 legs" in told


@pytest.mark.parametrize("screen", [{"width": 390, "height": 844}, {"width": 1280, "height": 900}])
def test_a_result_and_the_button_below_it_are_in_the_first_screen(page, base_url, screen):
    page.set_viewport_size(screen)
    page.goto(base_url + HOME)
    box = page.locator(".playground")
    for part in ("strong", "svg:visible", ".invitation", "button", ".opening span"):
        bounds = box.locator(part).bounding_box()
        assert bounds
        assert bounds["y"] + bounds["height"] <= screen["height"], part
    line = box.locator(".invitation").evaluate("line => parseFloat(getComputedStyle(line).lineHeight)")
    assert box.locator(".invitation").bounding_box()["height"] < 1.5 * line


@pytest.mark.thorough
def test_the_chart_answers_to_the_keyboard_and_loads_vega_only_then(page, base_url):
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(base_url + HOME, wait_until="networkidle")
    assert base_url + "_static/vega.js" not in asked
    slider = page.get_by_role("slider").first
    slider.focus()
    page.keyboard.press("ArrowRight")
    says(page.locator(".chart"), "query at 55°")
    assert base_url + "_static/vega.js" in asked


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


def test_the_list_is_the_table_of_contents(page, base_url):
    page.goto(base_url + HOME)
    chapters = registry.chapters()
    links = [
        link.get_attribute("href") for link in page.locator("ol.chapters > li > p:first-child > a").all()
    ]
    assert links == [f"{chapter.name}.html" for chapter in chapters]
    beside = [link.get_attribute("href") for link in page.locator("#contents a").all()]
    assert links == [link for link in beside if link in links]
    for chapter, item in zip(chapters, page.locator("ol.chapters > li").all(), strict=True):
        count = len(claims(read(chapter.notebook)))
        expect(item).to_contain_text(f"minutes to read · {count} claims checked")
        expect(item).to_contain_text("You will be able to ")
