"""How a playground opens: by its button, as it is scrolled to, by an address; and what damage comes to."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from browser_pages import arrived
from open_playground import CHAPTER, HOME, field, press
from playwright.sync_api import Browser, Locator, Page, expect

from bookkit.playground import openable

PHONE = {"width": 390, "height": 844}
FILES = [*openable()["translator"].files, "model-translator.js"]
FAILED = re.compile("Press the button to try again")


def requests(page: Page) -> list[str]:
    """A list that grows with the files of playgrounds that are asked for, as their pages name them."""
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url.partition("/_static/")[2].partition("?")[0]))
    return asked


def of_models(asked: list[str]) -> list[str]:
    named = {*FILES, *openable()["language-model"].files, "model-language-model.js"}
    return [name for name in asked if name in named]


def waiting(page: Page) -> int:
    """How many playgrounds are to open by themselves, once the page knows which are in view."""
    page.evaluate("() => new Promise((seen) => new IntersectionObserver(seen).observe(document.body))")
    return page.evaluate("waiting.size")


# ---- by its button ----
def test_nothing_of_a_model_comes_before_it_is_asked_for_and_then_each_file_once(
    page: Page, base_url: str, soup: Callable
) -> None:
    asked = requests(page)
    page.goto(base_url + HOME, wait_until="networkidle")
    assert waiting(page) == 0
    assert "playground.js" in asked
    assert not of_models(asked)
    press(page.locator(".playground"))
    expect(field(page.locator(".playground"))).to_be_focused()
    assert sorted(of_models(asked)) == sorted(FILES)
    assert "playground.js" not in str(soup("notation.html"))


@pytest.mark.thorough
def test_two_playgrounds_of_a_page_share_their_scripts(page: Page, base_url: str) -> None:
    asked = requests(page)
    page.goto(base_url + CHAPTER)
    boxes = page.locator(".playground")
    for box in boxes.all():
        press(box)
    for box in boxes.all():
        expect(field(box)).to_be_visible()
    both = {*FILES, *openable()["language-model"].files, "model-language-model.js"}
    assert sorted(of_models(asked)) == sorted(both)


@pytest.mark.thorough
def test_a_touch_on_the_button_brings_no_keyboard(browser: Browser, base_url: str) -> None:
    with browser.new_context(viewport=PHONE, has_touch=True, is_mobile=True) as context:
        page = context.new_page()
        page.goto(base_url + HOME)
        box = page.locator(".playground")
        press(box)
        expect(field(box)).to_be_visible()
        expect(box.locator("button:focus")).to_be_visible()


# ---- what arrives damaged, or not at all ----
DAMAGES = {
    "nothing": None,
    "cut off": lambda whole: whole[: len(whole) * 2 // 3],
    "its first lines": lambda whole: "\n".join(whole.split("\n")[:4]) + "\n",
    "a page to log in": lambda whole: "<!DOCTYPE html><p>Log in first.",
    "something else": lambda whole: "console.log(1)",
    "empty": lambda whole: "",
}


@pytest.mark.weekly
@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("damage", DAMAGES)
def test_what_arrives_damaged_or_not_at_all_is_asked_for_again(
    page: Page, base_url: str, site: Path, file: str, damage: str
) -> None:
    whole = site.joinpath("_static", file).read_text("utf-8")
    address = re.compile(rf"/_static/{re.escape(file)}(\?\d+)?$")

    def answer(route) -> None:
        make = DAMAGES[damage]
        if make:
            route.fulfill(body=make(whole), content_type="text/javascript")
        else:
            route.abort()

    page.route(address, answer)
    page.goto(base_url + HOME)
    box = page.locator(".playground")
    for _ in range(2):  # the second time, too
        press(box)
        expect(box.get_by_role("status")).to_have_text(FAILED)
        assert box.get_by_role("status").bounding_box()["height"] > 10
        assert box.locator("svg:visible").count() == 1
    page.unroute(address)
    press(box)
    expect(field(box)).to_be_focused()


@pytest.mark.thorough
def test_a_damaged_file_is_asked_for_again(page: Page, base_url: str, site: Path) -> None:
    test_what_arrives_damaged_or_not_at_all_is_asked_for_again(
        page, base_url, site, "bench.js", "its first lines"
    )


@pytest.mark.thorough
@pytest.mark.parametrize("file", ["bench.js", "model-translator.js"])
def test_in_a_folder_too(page: Page, site: Path, tmp_path: Path, file: str) -> None:
    """There nothing compares what came; a script that can't be read is known all the same."""
    for each in site.iterdir():
        tmp_path.joinpath(each.name).symlink_to(each)
    tmp_path.joinpath("_static").unlink()
    tmp_path.joinpath("_static/bench").mkdir(parents=True)
    for each in site.joinpath("_static").rglob("*.*"):
        here = tmp_path / each.relative_to(site)
        if each.is_file() and here.parent.is_dir():
            here.symlink_to(each)
    broken = tmp_path / "_static" / file
    broken.unlink()
    broken.write_text("stored = ")
    page.goto((tmp_path / HOME).as_uri())
    box = page.locator(".playground")
    press(box)
    expect(box.get_by_role("status")).to_have_text(FAILED)
    broken.write_text(site.joinpath("_static", file).read_text("utf-8"))
    press(box)
    expect(field(box)).to_be_focused()


# ---- as it is scrolled to ----
def top(locator: Locator) -> float:
    return locator.evaluate("element => element.getBoundingClientRect().top")


@pytest.mark.thorough
def test_the_front_pages_opens_at_the_first_action_and_takes_nothing(page: Page, base_url: str) -> None:
    page.goto(base_url + HOME)
    box, heading = page.locator(".playground"), page.locator("h2").first
    before = top(heading), box.bounding_box()
    page.keyboard.press("Shift")
    expect(field(box)).to_be_visible()
    assert (top(heading), box.bounding_box()) == before
    assert page.evaluate("document.activeElement === document.body && scrollY === 0")
    expect(box.locator(".says")).to_contain_text("In Lingo")


def scrolled(page: Page, where: str, block: str) -> None:
    page.evaluate(f"document.querySelector('{where}').scrollIntoView({{ block: '{block}' }})")


@pytest.mark.thorough
@pytest.mark.parametrize("model", ["translator", "language-model"])
@pytest.mark.parametrize("beginning", ["in view", "out of view"])
def test_one_that_opens_by_itself_moves_nothing_that_is_read(
    page: Page, base_url: str, model: str, beginning: str
) -> None:
    page.goto(base_url + CHAPTER)
    arrived(page)
    where = f".playground[data-model={model}]"
    box = page.locator(where)
    # From above one has seen the text before it; from below, what follows.
    read = box.locator("xpath=preceding::p[1]" if beginning == "in view" else "xpath=following::p[1]")
    scrolled(page, where, "end" if beginning == "in view" else "start")
    if beginning == "out of view":
        page.evaluate("scrollBy(0, 170)")
    before = top(read)
    expect(field(box)).to_be_visible()
    box.evaluate("async (box) => { await doors.get(box).bench.run(); await painted(); }")
    assert abs(top(read) - before) < 1
    assert page.evaluate("document.activeElement === document.body")
    expect(page.locator(".playground:has(input)")).to_have_count(1)  # the other one is out of view


@pytest.mark.thorough
def test_who_saves_data_has_to_press_the_button(page: Page, base_url: str) -> None:
    page.add_init_script(
        "Object.defineProperty(navigator, 'connection', { get: () => ({ saveData: true }) })"
    )
    asked = requests(page)
    page.goto(base_url + HOME)
    page.keyboard.press("Shift")
    page.mouse.move(300, 300)
    assert waiting(page) == 0
    assert not of_models(asked)
    press(page.locator(".playground"))
    expect(field(page.locator(".playground"))).to_be_focused()


@pytest.mark.thorough
def test_whoever_is_at_the_button_is_left_to_press_it(page: Page, base_url: str) -> None:
    page.goto(base_url + HOME)
    box = page.locator(".playground")
    box.get_by_role("button").hover()
    page.mouse.move(5, 5)
    box.get_by_role("button").focus()
    # It looks again and again whether the button is still held.
    left_alone = box.evaluate(
        """async (box) => {
          const looks = new Set();
          while (looks.size < 5 && !doors.get(box).opening) {
            looks.add(waiting.get(box));
            await new Promise(requestAnimationFrame);
          }
          return !doors.get(box).opening;
        }"""
    )
    assert left_alone
    expect(box.get_by_role("button")).to_be_focused()
    page.keyboard.press("Enter")
    expect(field(box)).to_be_focused()


@pytest.mark.thorough
def test_one_that_can_t_open_by_itself_says_nothing_of_it(page: Page, base_url: str) -> None:
    page.route(re.compile(r"/_static/bench\.js"), lambda route: route.abort())
    page.goto(base_url + HOME)
    box = page.locator(".playground")
    page.keyboard.press("Shift")
    page.wait_for_function("failed['bench.js'] && !doors.values().next().value.opening")
    expect(box.get_by_role("status")).to_be_empty()
    press(box)
    expect(box.get_by_role("status")).to_have_text(FAILED)


# ---- by an address ----
# Stands for a bench: it keeps what it is given.
RESTORING = """
addEventListener("DOMContentLoaded", () => Object.defineProperty(benches, "Transformer", {
  set() {},
  get: () => (playground) => {
    playground.replaceChildren(playground.querySelector("[role=status]"));
    window.restored = [];
    return { restore: (state) => window.restored.push(state), state: () => ({}) };
  },
}));
"""


def restored(page: Page, count: int) -> list[dict]:
    page.wait_for_function("count => window.restored?.length === count", arg=count)
    return page.evaluate("window.restored")


def test_an_address_opens_a_model_and_says_what_to_show(page: Page, base_url: str) -> None:
    page.add_init_script(RESTORING)
    page.goto(f"{base_url}{CHAPTER}#open=translator&layer=1&text=the+cat%20sleeps")
    state = {"open": "translator", "layer": 1, "text": "the cat sleeps", "unknown": []}
    assert restored(page, 1) == [state]
    assert 0 <= top(page.locator(".playground").first) < 200
    # A link in the text, pressed twice; between, the reader may have changed what it had set.
    page.evaluate(
        "document.querySelector('main p').innerHTML = '<a href=\"#open=translator&head=2\">look</a>'"
    )
    for count in (2, 3):
        page.get_by_role("link", name="look", exact=True).click()
        assert restored(page, count)[-1] == {"open": "translator", "head": 2, "unknown": []}
        expect(page.locator(".playground").first).to_be_focused()


@pytest.mark.thorough
def test_an_address_opens_todays_benches(page: Page, base_url: str) -> None:
    page.goto(f"{base_url}{HOME}#open=translator&head=1")
    expect(field(page.locator(".playground"))).to_be_visible()
    expect(field(page.locator(".playground"))).not_to_be_focused()


@pytest.mark.thorough
@pytest.mark.parametrize(
    "fragment",
    ["#open=", "#open=interpreter", "#open=__proto__&text=%", f"#open=a&text={'a' * 10_000}", "#%zz"],
)
def test_an_address_that_leads_nowhere_breaks_nothing(page: Page, base_url: str, fragment: str) -> None:
    troubles: list[str] = []
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.goto(base_url + HOME + fragment)
    told = page.get_by_role("alert")
    if fragment.startswith("#open"):
        expect(told).to_have_text("The address asks for a model that is not on this page.")
        page.goto(base_url + HOME + "#three-doors")
    expect(told).to_have_count(0)
    assert not troubles
