"""A training in the page: what a reader does there, and what there is to see and to hear."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from accessible import in_both_colours
from bench_page import page_with
from browser_pages import button, without_scripts_and_on_paper
from firefox import in_firefox
from playwright.sync_api import Locator, Page, expect
from processor import MOST, longest_task

from _ext import training
from bookkit.training.page import stored
from tools.site.server import serving

ENDS = 120_000  # milliseconds that a race may take beside all other tests
STEP = re.compile(r"step (\d+) of")
PHONE = {"width": 320, "height": 700}


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("page")
    page_with(training.closed("guests")[0], training.files(), folder)
    (folder / "404.html").write_text('<base href="/">')
    return folder


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    with serving(folder) as served:
        yield f"{served}page.html"


def begun(page: Page, address: str) -> Locator:
    """The training of the page, opened by its button and so begun."""
    page.goto(address)
    box = page.locator(".training")
    box.get_by_role("button", name="Train both here").click()
    expect(box.locator(".training-bench")).to_be_visible()
    return box


def step(box: Locator) -> int:
    return int(STEP.search(box.locator(".so-far").inner_text())[1])


def ended(box: Locator) -> str:
    """What is said at the end."""
    expect(box.get_by_role("status")).not_to_be_empty(timeout=ENDS)
    return box.get_by_role("status").inner_text()


def rests(page: Page) -> None:
    """Wait until the page shows no more by itself: where nobody stopped it that is the end of the race."""
    page.evaluate(
        """async () => {
          const { race } = await trainingDoors.get("guests").opening;
          for (let still = 0; still < 2; still = race.timer || race.state === "going" ? 0 : still + 1)
            await new Promise(requestAnimationFrame);
        }"""
    )


def test_two_lanes_race_to_their_end_and_what_came_of_it_is_said_once(page, address):
    box = begun(page, address)
    assert box.get_by_role("status").inner_text() == ""
    words = ended(box)
    assert words.startswith("2 heads, no network behind: 100\u00a0% right; 1 head, a network behind: ")
    assert "That is of the names at new tables, after 300 steps, from seed 1." in words
    assert box.locator(".outcome").inner_text() == words
    assert step(box) == 300
    assert box.locator(".plot path.lane-0").count() == box.locator(".plot path.lane-1").count() == 2
    assert box.locator(".square").count() == 3
    expect(button(box, "One step")).to_be_disabled()
    box.locator("summary", has_text="as a table").click()
    rows = [row.inner_text().split() for row in box.locator(".scrolls tbody tr").all()]
    assert [int(row[0]) for row in rows] == [5, 50, 100, 150, 200, 250, 300]
    for row in rows:  # the stored run's, as PyTorch's cell prints them
        places = [lane["losses"][int(row[0]) // 5 - 1] for lane in stored("guests")["lanes"]]
        assert [float(row[1]), float(row[4])] == pytest.approx(places, abs=6e-4)
    captions = {caption.text_content() for caption in box.locator("caption").all()}
    assert captions == {"In training, from seed 1, mean of the last 5 steps"}
    sides = ["2 heads, no network behind", "1 head, a network behind"]
    assert box.locator(".now tbody th").all_inner_texts() == sides
    titles = box.locator(".squares > p").all_inner_texts()
    assert titles == [f"Where each head looks: {sides[0]}", f"Where its head looks: {sides[1]}"]


SCREENS = {"wide": {"width": 1280, "height": 900}, "phone": {"width": 390, "height": 844}}


@pytest.mark.thorough
@pytest.mark.parametrize("screen", SCREENS)
def test_what_steers_it_is_in_view_as_it_opens(page, address, screen):
    """The button stands under the picture: on a phone what comes in its place begins a screen above."""
    page.set_viewport_size(SCREENS[screen])
    page.goto(address)
    page.evaluate("document.body.style.paddingBlock = '2000px'")
    opening = page.get_by_role("button", name="Train both here")
    opening.evaluate("button => button.scrollIntoView({ block: 'center' })")
    before = page.evaluate("scrollY")
    opening.click()
    box = page.locator(".training")
    expect(button(box, "Pause")).to_be_focused()
    for steers in [*box.locator("fieldset").all(), *box.locator(".acts button").all()]:
        expect(steers).to_be_in_viewport(ratio=1)
    assert (page.evaluate("scrollY") == before) == (screen == "wide"), "it moves where it must"


@pytest.mark.thorough
def test_no_curve_runs_through_a_number(page, address):
    box = begun(page, address)
    for plot in box.locator(".plot").all():
        field = plot.locator("svg").bounding_box()
        for number in plot.locator(".field span").all():
            place = number.bounding_box()
            assert place["x"] + place["width"] <= field["x"]
            assert place["x"] >= plot.bounding_box()["x"]


@pytest.mark.thorough
def test_it_goes_by_keyboard_step_by_step_and_waits_when_told(page, address):
    page.goto(address)
    page.locator(".training button").focus()
    page.keyboard.press("Enter")
    box = page.locator(".training")
    expect(button(box, "Pause")).to_be_focused()
    page.keyboard.press("Enter")
    expect(button(box, "Go on")).to_be_focused()
    at = step(box)
    rests(page)
    assert step(box) == at < 300
    page.keyboard.press("Tab")
    for _ in range(200):  # what was computed and not shown comes first
        page.keyboard.press("Enter")
    expect(box.locator(".so-far")).not_to_contain_text(f"step {at} of")
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")
    assert "after 300 steps" in ended(box)


@pytest.mark.thorough
def test_another_option_begins_anew_and_other_seeds_are_others(page, address):
    page.goto(address + "#train=guests&seed=3&heads=1")
    box = page.locator(".training")
    expect(button(box, "Start")).to_be_focused()
    box.get_by_role("group", name="Heads").get_by_label("4").check()
    assert step(box) == 0
    button(box, "One step").click()
    expect(box.locator(".so-far")).to_contain_text("Seed 3: step 1 of 300")
    first = box.locator(".now tbody tr").first.inner_text()
    button(box, "Another seed").click()
    button(box, "Pause").click()
    box.get_by_role("group", name="Heads").get_by_label("1").check()
    button(box, "One step").click()
    expect(box.locator(".so-far")).to_contain_text("Seed 4: step 1 of 300")
    assert box.locator(".now tbody tr").first.inner_text() != first


@pytest.mark.weekly
def test_ten_seeds_are_thin_lines_and_say_whether_it_is_noise(page, address):
    page.goto(address + "#train=guests&heads=1")
    box = page.locator(".training")
    button(box, "Ten seeds at once").click()
    expect(box.get_by_role("status")).not_to_be_empty(timeout=5 * ENDS)
    assert "after 300 steps, from 10 seeds." in box.get_by_role("status").inner_text()
    assert "that is hardly noise" in box.get_by_role("status").inner_text()
    assert box.locator(".plot path.thin").count() == 40
    box.locator("summary", has_text="as a table").click()
    captions = {caption.text_content() for caption in box.locator("caption").all()}
    assert captions == {"In training, mean of the last 5 steps and ten seeds"}
    last = box.locator(".scrolls tbody tr").last.inner_text().split("\t")
    now = [row.inner_text().split("\t") for row in box.locator(".now tbody tr").all()]
    assert last[1:] == [number for row in now for number in row[1:3]]
    for title in box.locator(".squares > p").all_inner_texts():
        assert title.endswith(", from seed 1")


@pytest.mark.thorough
def test_a_rate_that_explodes_says_so_and_keeps_the_last_good_curve(page, address):
    page.goto(address + "#train=guests&rate=5")
    box = page.locator(".training")
    button(box, "Start").click()
    words = ended(box)
    assert re.search(r"“rate 5” exploded after step \d+: the loss went to \d+", words)
    assert "Rate 0.05: 100\u00a0% right." in words
    assert box.locator(".plot path.lane-1").first.get_attribute("d").startswith("M")


@pytest.mark.thorough
def test_an_address_brings_the_settings_back_and_what_there_is_not_is_told(page, address):
    page.goto(address + "#train=guests&seed=7&heads=4&neighbours=four&rate=9&colour=red&seed=x")
    box = page.locator(".training")
    expect(button(box, "Start")).to_be_focused()
    assert box.get_by_role("group", name="Heads").get_by_label("4").is_checked()
    told = box.get_by_role("alert").inner_text()
    assert "“rate=9”; there “0.01”, “0.02”, “0.05” and “5” can be chosen" in told
    assert "“colour”, which cannot be set here" in told
    assert "seed “x”, and a seed is a whole number from 1 to 999999" in told
    link = box.get_by_role("link", name="Link to these settings")
    assert link.get_attribute("href") == "#train=guests&seed=7&neighbours=four&heads=4"
    button(box, "One step").click()
    expect(box.locator(".so-far")).to_contain_text("step 1 of")
    link.click()
    assert page.evaluate("location.hash") == link.get_attribute("href")
    expect(box.locator(".so-far")).to_contain_text("step 1 of")
    box.locator("summary", has_text="PyTorch").click()
    assert 'PAGES["guests"].settings(neighbours="four", heads="4"), 7, []' in box.locator("pre").inner_text()
    page.goto(address + "#train=chess")
    page.reload()
    expect(page.get_by_text("The address asks for a training that is not on this page.")).to_be_visible()


@pytest.mark.thorough
def test_a_tab_put_away_waits_and_goes_on_where_it_was(page, address):
    box = begun(page, address)
    expect(box.locator(".so-far")).not_to_contain_text("step 0 of")
    put = """hidden => {
        Object.defineProperty(document, "hidden", {value: hidden, configurable: true});
        document.dispatchEvent(new Event("visibilitychange"));
    }"""
    page.evaluate(put, True)
    expect(button(box, "Go on")).to_be_visible()
    at = step(box)
    rests(page)
    assert step(box) == at < 300
    page.evaluate(put, False)
    assert "after 300 steps" in ended(box)


@pytest.mark.thorough
def test_where_no_worker_may_start_it_is_trained_on_the_page(page, folder):
    box = begun(page, (folder / "page.html").as_uri())
    assert "2 heads, no network behind: 100\u00a0% right" in ended(box)
    assert page.evaluate("typeof Crew") == "function"


@pytest.mark.weekly
def test_on_a_slow_phone_nothing_holds_the_page(page, address):
    """A Worker computes; what the page draws meanwhile takes 8 to 44 milliseconds, the busier the machine."""
    page.goto(address)
    page.get_by_role("button", name="Train both here").click()
    box = page.locator(".training")

    def another() -> None:
        ended(box)
        button(box, "Another seed").click()
        ended(box)

    assert longest_task(page, another) < MOST


@pytest.mark.thorough
def test_it_is_accessible_and_fits_a_phone(page, address):
    page.set_viewport_size(PHONE)
    page.goto(address)
    assert not in_both_colours(page)
    box = begun(page, address)
    ended(box)
    for summary in box.locator("summary").all():
        summary.click()
    assert not in_both_colours(page)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    sizes = box.evaluate("""box => [...box.querySelectorAll("*")].filter(
        each => each.textContent.trim() && !each.children.length && each.checkVisibility())
        .map(each => parseFloat(getComputedStyle(each).fontSize))""")
    assert min(sizes) >= 12
    for each in box.locator("button, label, summary").all():
        assert each.bounding_box()["height"] >= 24


@pytest.mark.thorough
def test_without_scripts_and_in_print_there_is_the_stored_picture(browser, address):
    for page in without_scripts_and_on_paper(browser, address):
        expect(page.locator(".training svg:visible")).to_have_count(1)
        assert not page.locator(".training button:visible").count()
        assert "One head names six neighbours of ten" in page.locator(".training").text_content()


@pytest.mark.weekly
def test_firefox_trains_in_the_page_to_the_same_end(page, folder):
    words = ended(begun(page, (folder / "page.html").as_uri()))
    assert in_firefox("in_firefox.mjs", "trains", (folder / "page.html").as_uri()) == words
