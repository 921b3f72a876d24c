"""What a reader can do in a page: move a chart's controls, commit to a prediction."""

import pytest
from playwright.sync_api import Page, expect

from _ext.predict import prediction_form
from tools.chapters.notebooks import BOOK

CHAPTER = "why-divide-by-root-dk.html"


# ---- charts ----


@pytest.mark.thorough
def test_a_chart_loads_vega_on_the_first_action_and_does_not_move_the_text(page: Page, base_url: str) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(base_url + CHAPTER, wait_until="networkidle")
    chart = page.locator(".chart").first
    assert base_url + "_static/vega.js" not in asked
    height = chart.bounding_box()["height"]
    chart.get_by_role("slider").press("ArrowRight")
    expect(chart.get_by_role("status")).not_to_be_empty()
    assert base_url + "_static/vega.js" in asked
    assert chart.bounding_box()["height"] == height


@pytest.mark.thorough
def test_a_chart_whose_script_does_not_arrive_says_so(page: Page, base_url: str) -> None:
    page.route("**/vega.js", lambda route: route.abort())
    page.goto(base_url + CHAPTER)
    chart = page.locator(".chart").first
    chart.get_by_role("slider").press("ArrowRight")
    expect(chart.get_by_role("status")).to_have_text(
        "The chart could not be started; reload the page to try again."
    )
    assert chart.locator("svg:visible").count() == 1


# ---- predictions ----


def test_a_prediction_is_committed_by_keyboard_kept_and_compared(page: Page, base_url: str) -> None:
    page.goto(base_url + CHAPTER)
    box = page.locator(".prediction").first  # How far from zero is q·k at d_k = 64? 8
    cover, verdict = page.locator("details.cover").first, box.get_by_role("status")
    number = box.get_by_label("Your prediction")
    number.focus()
    page.keyboard.press("Enter")  # an empty prediction commits to nothing
    assert not cover.evaluate("details => details.open")
    page.keyboard.type("64")
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    expect(verdict).to_have_text("You said 64. It is 8, and you are 56 too high (700 %).")
    assert cover.evaluate("details => details.open")
    number.fill("8.4")
    number.press("Enter")
    expect(verdict).to_have_text("You said 8.4. Right: it is 8, and you are 0.4 too high (5 %).")
    page.reload()
    expect(number).to_have_value("8.4")
    expect(verdict).to_contain_text("Right")


@pytest.mark.thorough
def test_a_choice_is_compared_too(page: Page, base_url: str) -> None:
    """In a page of its own making: a chapter need not have one."""
    given = {"data-choices": "more|less", "data-answer": "less"}
    attributes = 'data-guess="one" data-choices="more|less" data-answer="less"'
    cover = f'<details class="cover" {attributes}><summary>Show</summary></details>'
    form = prediction_form(given, "question").astext()
    page.goto(base_url + "index.html")
    html = f'<div class="prediction"><p id="question">Which?</p>{form}</div>{cover}'
    page.locator("main").evaluate("(main, html) => main.innerHTML = html", html)
    box = page.locator(".prediction")
    page.add_script_tag(path=BOOK / "_static/predict.js")
    for choice, words in {"more": "You said more. It is: less.", "less": "You said less. Right."}.items():
        box.get_by_role("radio", name=choice).check()
        box.get_by_role("button", name="Commit").press("Enter")
        expect(box.get_by_role("status")).to_have_text(words)


def test_each_field_of_a_prediction_names_its_question(page: Page, base_url: str) -> None:
    page.goto(base_url + CHAPTER)
    for box in page.locator(".prediction").all():
        field = box.locator("[aria-describedby]")
        assert page.locator(f"#{field.get_attribute('aria-describedby')}").inner_text().startswith("Predict.")
