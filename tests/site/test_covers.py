"""What follows a Predict box stays covered until the reader commits, or asks to see it."""

import pytest
from accessible import AXE, RULES, violations
from browser_pages import arrived
from playwright.sync_api import Browser, Locator, Page, expect
from tiers import left_to

from bookkit import registry

CHAPTERS = [chapter.name for chapter in registry.chapters()]
CHAPTER = "why-divide-by-root-dk.html"
PHONE = {"width": 390, "height": 844}


def boxes(page: Page) -> list[tuple[Locator, Locator]]:
    """Each box with its cover."""
    found = page.locator(".prediction").all()
    covers = page.locator(".prediction + details.cover").all()
    assert len(covers) == len(found) == page.locator("details.cover").count()
    return list(zip(found, covers, strict=True))


def commit(box: Locator, cover: Locator) -> None:
    """To the right answer, by the keyboard."""
    right = cover.get_attribute("data-answer")
    if cover.get_attribute("data-choices"):
        box.get_by_role("radio", name=right, exact=True).check()
    else:
        box.get_by_label("Your prediction").fill(right)
    box.get_by_role("button", name="Commit").press("Enter")


# ---- in every chapter ----


@pytest.mark.parametrize("chapter", left_to(pytest.mark.thorough, CHAPTERS, but=[CHAPTERS[0]]))
def test_each_guess_covers_what_follows_until_it_is_made_or_asked_for(
    page: Page, base_url: str, chapter: str
) -> None:
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
def test_without_scripts_and_on_paper_all_stands_open(browser: Browser, base_url: str, chapter: str) -> None:
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(f"{base_url}{chapter}.html")
        for _, cover in boxes(page):
            assert cover.locator(".answer").is_visible()
            assert not cover.get_by_text("Show without a guess").is_visible()
    with browser.new_context() as context:
        page = context.new_page()
        page.goto(f"{base_url}{chapter}.html")
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        page.emulate_media(media="print")
        for box, cover in boxes(page):
            assert cover.locator(".answer").is_visible()
            assert not cover.get_by_text("Show without a guess").is_visible()
            assert not box.locator("form").is_visible()
            above, below = box.bounding_box(), cover.locator(".answer").bounding_box()
            assert above["y"] < below["y"]
        assert not page.locator(".top").is_visible()


# ---- in one ----


@pytest.fixture
def first(page: Page, base_url: str) -> tuple[Locator, Locator]:
    page.goto(base_url + CHAPTER)
    return boxes(page)[0]


def test_a_link_into_a_cover_opens_it(page: Page, base_url: str, first: tuple[Locator, Locator]) -> None:
    _, cover = first
    cover.evaluate("cover => cover.lastElementChild.id = 'inside'")
    page.evaluate("location.hash = 'inside'")
    expect(cover.locator(".answer")).to_be_visible()
    page.reload()
    expect(cover.locator(".answer")).not_to_be_visible()  # to have been led there is no guess


@pytest.mark.thorough
def test_show_all_opens_the_covers_of_this_page_alone(page: Page, base_url: str) -> None:
    page.goto(base_url + CHAPTER)
    page.get_by_role("button", name="Show all code and checks").click()
    assert all(cover.locator(".answer").is_visible() for _, cover in boxes(page))
    page.reload()
    assert not any(cover.locator(".answer").is_visible() for _, cover in boxes(page))


@pytest.mark.thorough
def test_guesses_are_kept_summed_up_and_forgotten(page: Page, base_url: str) -> None:
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
@pytest.mark.parametrize("colours", ["light", "dark"])
def test_covered_and_open_a_page_is_accessible_on_a_phone(page: Page, base_url: str, colours: str) -> None:
    page.set_viewport_size(PHONE)
    page.emulate_media(color_scheme=colours)
    page.goto(base_url + CHAPTER)
    page.evaluate(AXE)
    assert not list(violations(page, RULES))
    commit(*boxes(page)[0])
    # What scrolls sideways is given to the keyboard when the page has been laid out anew.
    page.evaluate("() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))")
    assert not list(violations(page, RULES))
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
