"""What a reader opens and moves in a chapter: covers of Predict boxes, folds of code, charts."""

import re

import pytest
from accessible import in_both_colours
from browser_pages import PHONE, arrived, without_scripts_and_on_paper
from playwright.sync_api import Locator, Page, expect
from tiers import left_to

from bookkit import registry

CHAPTERS = [chapter.name for chapter in registry.chapters()]
CHAPTER = "why-divide-by-root-dk.html"


def boxes(page: Page) -> list[tuple[Locator, Locator]]:
    """Each box with its cover."""
    found = page.locator(".prediction").all()
    covers = page.locator(".prediction + details.cover").all()
    assert len(covers) == len(found) == page.locator("details.cover").count()
    return list(zip(found, covers, strict=True))


def commit(box: Locator, cover: Locator) -> None:
    """To the right answer, by the keyboard."""
    right = cover.get_attribute("data-answer")
    if cover.get_attribute("data-parts"):
        for field, choice in zip(box.get_by_role("combobox").all(), right.split("|"), strict=True):
            field.select_option(choice)
    elif cover.get_attribute("data-choices"):
        box.get_by_role("radio", name=right, exact=True).check()
    else:
        box.get_by_label("Your prediction").fill(right)
    box.get_by_role("button", name="Commit").press("Enter")


# ---- in every chapter ----


@pytest.mark.parametrize("chapter", left_to(pytest.mark.thorough, CHAPTERS, but=[CHAPTERS[0]]))
def test_each_guess_covers_what_follows_until_it_is_made_or_asked_for(page, base_url, chapter):
    page.goto(f"{base_url}{chapter}.html")
    arrived(page)
    for number, (box, cover) in enumerate(boxes(page)):
        answer = cover.locator(".answer")
        assert not answer.is_visible()
        if number % 2:
            cover.get_by_text("Show without a guess").focus()
            where = box.bounding_box()["y"]
            page.keyboard.press("Enter")
            assert abs(box.bounding_box()["y"] - where) < 1, "what a reader looks at may not move"
            expect(answer).to_be_focused()
        else:
            commit(box, cover)
            expect(box.get_by_role("status")).to_contain_text("Right")
        assert answer.is_visible()
        assert cover.evaluate("cover => cover.clientHeight") > answer.bounding_box()["height"]


@pytest.mark.weekly
@pytest.mark.parametrize("chapter", CHAPTERS)
def test_without_scripts_and_on_paper_all_stands_open(browser, base_url, chapter):
    for page in without_scripts_and_on_paper(browser, f"{base_url}{chapter}.html"):
        for box, cover in boxes(page):
            assert cover.locator(".answer").is_visible()
            assert not cover.get_by_text("Show without a guess").is_visible()
            assert not box.locator("form").is_visible()
            assert box.bounding_box()["y"] < cover.locator(".answer").bounding_box()["y"]


# ---- in one ----


def test_a_link_into_a_cover_opens_it(page, base_url):
    page.goto(base_url + CHAPTER)
    _, cover = boxes(page)[0]
    cover.evaluate("cover => cover.lastElementChild.id = 'inside'")
    page.evaluate("location.hash = 'inside'")
    expect(cover.locator(".answer")).to_be_visible()
    page.reload()
    expect(cover.locator(".answer")).not_to_be_visible()  # to have been led there is no guess


@pytest.mark.parametrize("chapter", ["many-heads.html", CHAPTER])
def test_a_training_behind_a_cover_is_announced_by_its_form_and_nothing_else_is(soup, chapter):
    forms = soup(chapter).select(".prediction")
    covers = soup(chapter).select(".prediction + details.cover")
    behind = [cover.select_one(".training") is not None for cover in covers]
    assert {*behind} == {True, False}
    assert ["Guess, then train two models here: they run" in form.get_text() for form in forms] == behind


def test_what_is_placed_wrong_is_answered_with_evidence_and_stays_covered(page, base_url):
    page.goto(f"{base_url}fourteen-patients.html")
    for _ in range(2):
        ((box, cover),) = [each for each in boxes(page) if each[1].get_attribute("data-parts")]
        if not box.get_by_role("combobox").first.input_value():
            for field in box.get_by_role("combobox").all():
                field.select_option("mask")
            box.get_by_role("button", name="Commit").press("Enter")
        told = "mask: Each place sees the next letter, and copies it. Both losses fall to nearly 0."
        expect(box.get_by_role("status")).to_have_text(
            f"1 of 8 are right.{told} That is not A, B, D, E, F, G or H."
        )
        assert not cover.locator(".answer").is_visible()
        page.reload()  # and it is kept
    commit(box, cover)
    expect(box.get_by_role("status")).to_have_text("Right, all of them.")
    assert cover.locator(".answer").is_visible()


@pytest.mark.thorough
def test_show_all_opens_the_covers_of_this_page_alone(page, base_url):
    page.goto(base_url + CHAPTER)
    page.get_by_role("button", name="Show all code and checks").click()
    assert all(cover.locator(".answer").is_visible() for _, cover in boxes(page))
    page.reload()
    assert not any(cover.locator(".answer").is_visible() for _, cover in boxes(page))


@pytest.mark.thorough
def test_guesses_are_kept_summed_up_and_forgotten(page, base_url):
    page.goto(base_url + CHAPTER)
    summed, all_boxes = page.get_by_role("region", name="Your guesses"), boxes(page)
    assert not summed.is_visible()
    commit(*all_boxes[0])
    all_boxes[1][0].get_by_label("Your prediction").fill("1000000")
    all_boxes[1][0].get_by_role("button", name="Commit").click()
    all_boxes[2][1].get_by_text("Show without a guess").click()
    for _ in range(2):
        count = f"Of {len(all_boxes)} guesses that this page asks for you made 2; 1 came near."
        expect(summed).to_contain_text(count)
        expect(summed.get_by_role("listitem")).to_contain_text(["You said 1000000. It is 16"])
        assert [cover.locator(".answer").is_visible() for _, cover in all_boxes[:3]] == [True] * 3
        page.reload()  # and they are kept
    summed.get_by_role("button", name="Forget what I guessed, in all chapters").click()
    for _ in range(2):
        assert not any(cover.locator(".answer").is_visible() for _, cover in all_boxes)
        assert not summed.is_visible()
        page.reload()


@pytest.mark.thorough
def test_covered_and_open_a_page_is_accessible_on_a_phone(page, base_url):
    page.set_viewport_size(PHONE)
    page.goto(base_url + CHAPTER)
    assert not in_both_colours(page)
    commit(*boxes(page)[0])
    # What scrolls sideways is given to the keyboard when the page has been laid out anew.
    page.evaluate("() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))")
    assert not in_both_colours(page)
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]


def test_a_prediction_is_committed_by_keyboard_kept_and_compared(page, base_url):
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
    for each in boxes(page):
        asks = each[0].locator("[aria-describedby]").get_attribute("aria-describedby")
        assert page.locator(f"#{asks}").inner_text().startswith("Predict.")
    page.reload()
    expect(number).to_have_value("8.4")
    expect(verdict).to_contain_text("Right")


# ---- charts ----


@pytest.mark.thorough
def test_a_chart_loads_vega_on_the_first_action_and_does_not_move_the_text(page, base_url):
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
def test_a_chart_whose_script_does_not_arrive_says_so(page, base_url):
    page.route("**/vega.js", lambda route: route.abort())
    page.goto(base_url + CHAPTER)
    chart = page.locator(".chart").first
    chart.get_by_role("slider").press("ArrowRight")
    expect(chart.get_by_role("status")).to_have_text(
        "The chart could not be started; reload the page to try again."
    )
    assert chart.locator("svg:visible").count() == 1


# ---- folds ----

FOLDED = "what-is-attention.html"
BOOKKEEPING = re.compile(r"✓ \d+ checks hold")
ROW = "how far any row's sum is from 1"  # of the first cell whose checks are folded


def test_a_chapter_opens_as_a_lesson_and_one_button_opens_all_that_proves_it(page, base_url):
    page.goto(base_url + FOLDED)
    checks = page.get_by_text(ROW, exact=True)
    line = page.get_by_text(BOOKKEEPING).first
    expect(line).to_be_visible()
    expect(checks).to_be_hidden()
    button = page.get_by_role("button", name="Show all code and checks")
    expect(button).to_have_attribute("aria-pressed", "false")
    button.focus()
    page.keyboard.press("Enter")
    expect(checks).to_be_visible()
    expect(button).to_have_attribute("aria-pressed", "true")
    page.reload()
    expect(checks).to_be_visible()
    button.click()
    expect(checks).to_be_hidden()
    page.reload()
    expect(checks).to_be_hidden()
    line.click()
    expect(checks).to_be_visible()


@pytest.mark.thorough
def test_paper_shows_the_lesson(page, base_url):
    page.goto(base_url + FOLDED)
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    expect(page.get_by_text(ROW, exact=True)).to_be_hidden()
    expect(page.get_by_text("How this was checked").first).to_be_hidden()
    expect(page.locator(".top")).to_be_hidden()
    expect(page.get_by_text(BOOKKEEPING).first).to_be_visible()
