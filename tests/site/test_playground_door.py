"""How a playground stands in a page and opens: by its button, by an address; and damage to its files."""

import base64
import gzip
import hashlib
import re

import pytest
from bench_page import CHAPTER, HOME, PAGES, field, opened, press, troubles
from browser_pages import PHONE, arrived, without_scripts_and_on_paper
from bs4 import BeautifulSoup
from playwright.sync_api import Locator, Page, expect
from tiers import left_to

from _ext import playground
from bookkit.playground import VIEWS, openable, picture

# Bytes, compressed: a model with the scripts that let it speak.
MOST = {"translator": 425_000, "language-model": 260_000, "induction": 210_000, "gpt": 490_000}
FILES = [*openable()["translator"].files, "model-translator.js"]
OF_BOTH = {*FILES, *openable()["language-model"].files, "model-language-model.js"}
FAILED = re.compile("Press the button to try again")


def weight(files: list[bytes]) -> tuple[int, str]:
    """Compressed, and what a button says of it."""
    compressed, plain = sum(map(len, map(gzip.compress, files))), sum(map(len, files))
    return compressed, f"{compressed / 1000:.0f}\u00a0kB ({plain / 1000:.0f} uncompressed)"


# ---- closed ----


@pytest.mark.parametrize("model", openable())
def test_a_closed_playground_is_a_picture_and_a_button_that_says_what_comes(model):
    for form in playground.FORMS:
        html, words = playground.closed(model, form)
        box = BeautifulSoup(html, "html.parser").div
        drawn = picture(model)
        assert words == drawn.alt
        assert (box["data-model"], box["data-form"]) == (model, form)
        assert [svg["data-screen"] for svg in box.select("svg")] == ["wide", "narrow"]
        assert {svg["aria-label"] for svg in box.select("svg")} == {drawn.alt}
        assert box.p.get_text() == f"{drawn.title} {drawn.words}"
        first = drawn.slim if (model, form) == ("translator", "slim") else drawn.invitation
        assert box.select_one(".invitation").get_text() == first
        assert box.select_one(".without-scripts").get_text() == drawn.caption
        files = [playground.bundled(name) for name in openable()[model].files]
        files.append(playground.script(model).encode())
        assert box["data-files"].split() == [*openable()[model].files, f"model-{model}.js"]
        hashes = [base64.b64encode(hashlib.sha256(file).digest()).decode() for file in files]
        assert box["data-hashes"].split() == hashes
        compressed, told = weight(files)
        assert compressed <= MOST[model]
        assert box.select_one(".opening").get_text() == f"Open the model here {told}"


@pytest.mark.parametrize("model", openable())
def test_scripts_are_light_at_opening_and_when_all_views_have_been_looked_at(model):
    names = [name for name in openable()[model].files if name.endswith(".js")]
    opening, looking = (weight([*map(playground.bundled, each)])[0] for each in (names, [*names, *VIEWS]))
    assert opening <= (34_000 if model == "induction" else 31_000)
    assert looking <= (62_000 if model == "induction" else 60_000)


@pytest.mark.weekly
@pytest.mark.parametrize("model", openable())
def test_without_scripts_and_on_paper_there_is_a_picture_that_is_described_and_no_button(
    browser, base_url, model
):
    for page in without_scripts_and_on_paper(browser, base_url + PAGES[model]):
        box = page.locator(f".playground[data-model={model}]")
        shown = box.locator("svg:visible")
        assert shown.count() == 1
        assert shown.get_attribute("aria-label") == picture(model).alt
        assert box.get_by_text(picture(model).caption).is_visible()
        assert not box.locator(".invitation, .opening, button").filter(visible=True).count()
        for words in (box.locator("xpath=preceding-sibling::p[1]"), box):
            assert not re.search(r"\b[Tt]ype\b", words.inner_text())


# ---- by its button ----


def requests(page: Page) -> list[str]:
    """A list that grows with the files of playgrounds that are asked for, as their pages name them."""
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url.partition("/_static/")[2].partition("?")[0]))
    return asked


def of_models(asked: list[str]) -> list[str]:
    return sorted(name for name in asked if name in OF_BOTH)


def waiting(page: Page) -> int:
    """How many playgrounds are to open by themselves, once the page knows which are in view."""
    page.evaluate("() => new Promise((seen) => new IntersectionObserver(seen).observe(document.body))")
    return page.evaluate("waiting.size")


def test_nothing_of_a_model_comes_before_it_is_asked_for_and_then_each_file_once(page, base_url, soup):
    asked = requests(page)
    page.goto(base_url + HOME, wait_until="networkidle")
    assert waiting(page) == 0
    assert "playground.js" in asked
    assert not of_models(asked)
    press(page.locator(".playground"))
    expect(field(page.locator(".playground"))).to_be_focused()
    assert of_models(asked) == sorted(FILES)
    assert "playground.js" not in str(soup("notation.html"))


@pytest.mark.thorough
def test_two_playgrounds_of_a_page_share_their_scripts(page, base_url):
    asked = requests(page)
    page.goto(base_url + CHAPTER)
    boxes = page.locator(".playground")
    for box in boxes.all():
        press(box)
    for box in boxes.all():
        expect(field(box)).to_be_visible()
    assert of_models(asked) == sorted(OF_BOTH)


@pytest.mark.thorough
def test_a_touch_on_the_button_brings_no_keyboard(browser, base_url):
    with browser.new_context(viewport=PHONE, has_touch=True, is_mobile=True) as context:
        page = context.new_page()
        page.goto(base_url + HOME)
        box = page.locator(".playground")
        press(box)
        expect(field(box)).to_be_visible()
        expect(box.locator("button:focus")).to_be_visible()


@pytest.mark.thorough
def test_it_runs_where_a_page_may_run_no_text_as_code_and_ask_for_nothing(page, base_url):
    """A policy as strict as a site can have whose layout begins with a script of its own."""
    files = "style-src 'self'; font-src 'self'; img-src 'self'"
    policy = f"default-src 'none'; script-src 'self' 'unsafe-inline'; {files}"

    def guarded(route) -> None:
        response = route.fetch()
        route.fulfill(response=response, headers={**response.headers, "content-security-policy": policy})

    page.route(f"**/{HOME}", guarded)
    page.add_init_script(
        "addEventListener('securitypolicyviolation', ({ blockedURI, sourceFile }) =>"
        " (window.refused ??= []).push(`${blockedURI} in ${sourceFile}`))"
    )
    box = opened(page, base_url + HOME, "translator")
    field(box).fill("the dogs sleep ")
    expect(box.locator(".says")).to_contain_text("In Lingo: los hundos")
    assert not [each for each in page.evaluate("window.refused ?? []") if "_static" in each]


# ---- what arrives damaged, or not at all ----

DAMAGES = {
    "nothing": None,
    "cut off": lambda whole: whole[: len(whole) * 2 // 3],
    "its first lines": lambda whole: "\n".join(whole.split("\n")[:4]) + "\n",
    "a page to log in": lambda whole: "<!DOCTYPE html><p>Log in first.",
    "something else": lambda whole: "console.log(1)",
    "empty": lambda whole: "",
}
DAMAGED = [f"{file}: {damage}" for file in FILES for damage in DAMAGES]


@pytest.mark.thorough
@pytest.mark.parametrize("which", left_to(pytest.mark.weekly, DAMAGED, but=["bench.js: its first lines"]))
def test_what_arrives_damaged_or_not_at_all_is_asked_for_again(page, base_url, site, which):
    file, damage = which.split(": ")
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


# ---- as it is scrolled to ----


def top(locator: Locator) -> float:
    return locator.evaluate("element => element.getBoundingClientRect().top")


@pytest.mark.thorough
@pytest.mark.parametrize("model", ["translator", "language-model"])
@pytest.mark.parametrize("beginning", ["in view", "out of view"])
def test_one_that_opens_by_itself_moves_nothing_that_is_read(page, base_url, model, beginning):
    page.goto(base_url + CHAPTER)
    arrived(page)
    box = page.locator(f".playground[data-model={model}]")
    # From above one has seen the text before it; from below, what follows. A tour is folded.
    follows = "xpath=following::p[not(ancestor::details)][1]"
    read = box.locator("xpath=preceding::p[1]" if beginning == "in view" else follows)
    block = "end" if beginning == "in view" else "start"
    box.evaluate("(box, block) => box.scrollIntoView({ block })", block)
    if beginning == "out of view":
        page.evaluate("scrollBy(0, 170)")
    before = top(read)
    expect(field(box)).to_be_visible()
    box.evaluate("async (box) => { await doors.get(box).bench.run(); await painted(); }")
    assert abs(top(read) - before) < 1
    assert page.evaluate("document.activeElement === document.body")
    expect(page.locator(".playground:has(input)")).to_have_count(1)  # the other one is out of view


SAVES = "Object.defineProperty(navigator, 'connection', { get: () => ({ saveData: true }) })"


def scrolled_to(page: Page, address: str) -> Locator:
    """The first playground of a page, in view, once the reader has done something."""
    page.goto(address)
    box = page.locator(".playground").first
    box.evaluate("box => box.scrollIntoView({ block: 'end' })")
    page.keyboard.press("Shift")
    return box


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "script"), [(HOME, ""), (CHAPTER, SAVES)], ids=["front page", "saves data"])
def test_there_one_has_to_press_the_button(page, base_url, name, script):
    page.add_init_script(script)
    asked = requests(page)
    box = scrolled_to(page, base_url + name)
    page.mouse.move(300, 300)
    assert waiting(page) == 0
    assert not of_models(asked)
    press(box)
    expect(field(box)).to_be_focused()


# It looks again and again whether the button is still held.
LEFT_ALONE = """async (box) => {
  const looks = new Set();
  while (looks.size < 5 && !doors.get(box).opening) {
    looks.add(waiting.get(box));
    await new Promise(requestAnimationFrame);
  }
  return !doors.get(box).opening;
}"""


@pytest.mark.thorough
def test_a_reader_at_the_button_is_left_to_press_it(page, base_url):
    page.goto(base_url + CHAPTER)
    box = page.locator(".playground").first
    button = box.get_by_role("button")
    button.evaluate("button => button.focus()")  # which scrolls to it, too
    page.keyboard.press("Shift")
    assert box.evaluate(LEFT_ALONE)
    expect(button).to_be_focused()
    button.hover()
    button.evaluate("button => button.blur()")
    assert box.evaluate(LEFT_ALONE)
    button.focus()
    page.keyboard.press("Enter")
    expect(field(box)).to_be_focused()


@pytest.mark.thorough
def test_one_that_can_t_open_by_itself_says_nothing_of_it(page, base_url):
    page.route(re.compile(r"/_static/bench\.js"), lambda route: route.abort())
    box = scrolled_to(page, base_url + CHAPTER)
    page.wait_for_function("failed['bench.js'] && !doors.values().next().value.opening")
    expect(box.get_by_role("status")).to_be_empty()
    press(box)
    expect(box.get_by_role("status")).to_have_text(FAILED)


# ---- by an address ----


@pytest.mark.thorough
def test_an_address_that_leads_nowhere_breaks_nothing(page, base_url):
    found = troubles(page)
    told = page.get_by_role("alert")
    nowhere = ["#open=", "#open=interpreter", "#open=__proto__&text=%", f"#open=a&text={'a' * 10_000}"]
    for fragment in nowhere:
        page.goto("about:blank")
        page.goto(base_url + HOME + fragment)
        expect(told).to_have_text("The address asks for a model that is not on this page.")
    for fragment in ("#three-doors", "#%zz"):
        page.goto(base_url + HOME + fragment)
        expect(told).to_have_count(0)
    assert not found
    page.goto("about:blank")
    page.goto(f"{base_url}{HOME}#open=translator&head=1")
    expect(field(page.locator(".playground"))).to_be_visible()
    expect(field(page.locator(".playground"))).not_to_be_focused()
