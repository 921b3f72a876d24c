"""Every page in a real browser, as wide screens and phones show it, in light and in dark."""

from pathlib import Path
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

import pytest
from bs4 import BeautifulSoup
from fontTools.ttLib import TTFont
from notebooks import ROOT
from playwright.sync_api import Browser, Page, expect

AXE = (ROOT / "node_modules/axe-core/axe.min.js").read_text("utf-8")
# What WCAG 2.2 asks for at levels A and AA.
RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"], "resultTypes": ["violations"]}
WIDE, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}


def soup(site: Path, page: str) -> BeautifulSoup:
    return BeautifulSoup((site / page).read_text("utf-8"), "html.parser")


def listen(page: Page, base_url: str) -> list[str]:
    """A list that grows with all that goes wrong while pages load: errors, missing files, other origins."""
    troubles: list[str] = []

    def say(what: str) -> None:
        troubles.append(f"{page.url.removeprefix(base_url)}: {what}")

    page.on("console", lambda message: message.type in ("error", "warning") and say(message.text))
    page.on("pageerror", lambda error: say(str(error)))
    page.on(
        "response", lambda response: response.status >= 400 and say(f"{response.status} for {response.url}")
    )
    page.on(
        "request",
        lambda request: request.url.startswith((base_url, "data:")) or say(f"asks for {request.url}"),
    )
    return troubles


@pytest.mark.parametrize("colours", ["light", "dark"])
@pytest.mark.parametrize("viewport", [WIDE, PHONE], ids=["wide", "phone"])
def test_pages_load_fit_and_are_accessible(
    browser: Browser, base_url: str, pages: list[str], viewport: dict[str, int], colours: str
) -> None:
    with browser.new_context(viewport=viewport, color_scheme=colours) as context:
        page = context.new_page()
        troubles = listen(page, base_url)
        for name in pages:
            page.goto(base_url + name)
            page.evaluate("document.querySelectorAll('details').forEach(details => details.open = true)")
            width = page.evaluate("document.documentElement.scrollWidth")
            if width > viewport["width"]:
                troubles.append(f"{name} is {width} px wide: it scrolls sideways")
            page.evaluate(AXE)
            for violation in page.evaluate("rules => axe.run(rules)", RULES)["violations"]:
                where = violation["nodes"][0]["html"]
                troubles.append(f"{name}: {violation['id']} ({len(violation['nodes'])}x), first in {where}")
    assert not troubles, "\n".join(troubles)


def test_links_and_images_lead_to_what_is_there(site: Path, pages: list[str]) -> None:
    troubles = []
    anchors = {page: {tag["id"] for tag in soup(site, page).find_all(id=True)} for page in pages}
    for page in pages:
        for tag in soup(site, page).find_all(["a", "img", "link", "script"]):
            address = tag.get("href") or tag.get("src")
            if not address or urlsplit(address).scheme:
                continue
            target, anchor = urldefrag(unquote(urljoin(page, address)))
            if not (site / target).is_file():
                troubles.append(f"{page} leads to {address}, which is not there")
            elif anchor and target in anchors and anchor not in anchors[target]:
                troubles.append(f"{page} leads to {address}, and {target} has no such place")
    assert not troubles, "\n".join(troubles)


def test_every_formula_is_rendered(site: Path, pages: list[str]) -> None:
    for name in pages:
        page = soup(site, name)
        for formula in page.select(".math"):
            assert formula.find("math"), f"{name}: {formula} holds no formula"
        for code in page.select("pre, code, script"):
            code.decompose()
        text = page.get_text()
        for leftover in ("$$", "\\begin{", "\\("):
            assert leftover not in text, f"{name}: a formula was left as it was typed: {leftover}"
        assert "mathjax" not in str(page.head).lower()


def test_the_sites_own_fonts_draw_every_character(site: Path, pages: list[str]) -> None:
    """A machine with few fonts would show empty boxes. Formulas have a font of their own."""
    # The site serves the same letters as woff2, which fontTools reads only with another package.
    letters = ROOT / "node_modules/@fontsource/source-sans-3/files/source-sans-3-latin-400-normal.woff"
    fonts = [TTFont(letters), TTFont(site / "_static/symbols.woff")]
    drawn = {chr(code) for font in fonts for code in font.getBestCmap()}
    for name in pages:
        page = soup(site, name)
        for other in page.select("math, script, style, title"):
            other.decompose()
        missing = {character for character in page.get_text() if not character.isspace()} - drawn
        assert not missing, f"{name}: the site's fonts have no {' '.join(sorted(missing))}"


def test_every_image_has_words_and_a_size(site: Path, pages: list[str]) -> None:
    for name in pages:
        for image in soup(site, name).find_all("img"):
            assert image["alt"].strip(), f"{name}: {image} has no alt text"
            assert int(image["width"]) > 0
            assert int(image["height"]) > 0


def test_figures_take_the_colours_that_the_reader_chose(
    browser: Browser, base_url: str, pages: list[str], site: Path
) -> None:
    """A figure is a picture of its own; it follows the page, not only the system."""
    name = next(name for name in pages if soup(site, name).select_one("main img"))
    with browser.new_context(viewport=WIDE, color_scheme="light") as context:
        page = context.new_page()
        page.goto(base_url + name)
        figure = page.locator("main img").first
        figure.scroll_into_view_if_needed()
        page.wait_for_function("image => image.complete", arg=figure.element_handle())
        light = figure.screenshot()
        for _ in range(2):  # from auto to light to dark
            page.locator(".theme").click()
        assert page.evaluate("getComputedStyle(document.body).colorScheme") == "dark"
        assert figure.screenshot() != light
        page.reload()
        assert page.locator("html").get_attribute("data-theme") == "dark"


def test_pages_can_be_read_without_scripts(browser: Browser, base_url: str, pages: list[str]) -> None:
    with browser.new_context(viewport=PHONE, java_script_enabled=False) as context:
        page = context.new_page()
        for name in pages:
            page.goto(base_url + name)
            assert page.locator("h1").first.is_visible()
            for form in page.locator("main form:not([role=search])").all():
                assert not form.is_visible(), f"{name} shows a form that does nothing"
            for picture in page.locator(".chart-picture").all():
                assert picture.locator("svg:visible").count() == 1


def test_the_site_works_from_a_folder_without_a_network(
    browser: Browser, site: Path, pages: list[str]
) -> None:
    with browser.new_context(viewport=WIDE, offline=True) as context:
        page = context.new_page()
        troubles = listen(page, site.as_uri())
        for name in pages:
            if name != "404.html":  # only a server shows it, and its links start at the server's root
                page.goto((site / name).as_uri())
                for slider in page.get_by_role("slider").all():
                    slider.press("ArrowRight")
                    expect(page.locator(".chart [role=status]").first).not_to_be_empty()
        page.get_by_label("Search the book").fill("attention")
        page.keyboard.press("Enter")
        page.locator("#search-results li").first.wait_for()
        assert not troubles, "\n".join(troubles)


def test_contents_open_on_a_phone(browser: Browser, base_url: str) -> None:
    with browser.new_context(viewport=PHONE) as context:
        page = context.new_page()
        page.goto(base_url + "index.html")
        contents = page.locator("#contents")
        assert not contents.is_visible()
        page.get_by_role("button", name="Contents").click()
        assert contents.is_visible()
        page.keyboard.press("Escape")
        assert not contents.is_visible()
