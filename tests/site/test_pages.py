"""Every page in a real browser, as wide screens and phones show it, in light and in dark."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urldefrag, urljoin, urlsplit

import pytest
from accessible import AXE, RULES, WITHOUT_FETCHING, in_both_colours, violations
from browser_pages import PHONE
from bs4 import BeautifulSoup, NavigableString
from fontTools.ttLib import TTFont
from playwright.sync_api import Browser, Page, expect
from tiers import left_to

from bookkit import registry
from bookkit.training.page import known
from tools import ROOT
from tools.site.browser import weigh

COLOURS = ["color-contrast", "link-in-text-block"]
THE_COLOURS = {"runOnly": {"type": "rule", "values": COLOURS}, "resultTypes": ["violations"]}
ALL_BUT_COLOURS = WITHOUT_FETCHING | {"rules": {rule: {"enabled": False} for rule in COLOURS}}
# Looking at colours takes longer than all other rules together. It is done for every text once, but for the
# words of code: of these, and of all texts where only the screen or the colours differ, one of each kind is
# enough. The others of its kind stand in the same elements with the same styles.
LEAVE_ONE_OF_EACH_KIND = """({where, instead}) => {
    const kind = (element) => !element ? "" : kind(element.parentElement) + "/" + element.localName
        + ["class", "style", "fill"].map((name) => element.getAttribute(name));
    const texts = [...document.querySelectorAll(where)].filter((element) =>
        [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim()));
    const left = new Set();
    for (let element of new Map(texts.map((element) => [kind(element), element])).values())
        for (; element; element = element.parentElement) left.add(element);
    for (const element of texts)
        if (!left.has(element)) element.replaceWith(instead ? element.textContent : "");
}"""
CODE = {"where": "pre *", "instead": True}  # its words stay, uncoloured: a line is as long as before
ALL = {"where": "body *", "instead": False}
# Bytes, compressed: opening a page, and all that can come after. Models are weighed with their door. What the
# late chapters gained brought five pages to 155,000.
OPENED, USED = 156_000, 450_000

LISTED = [f"{name}.html" for name, _ in registry.listed()]
PAGES = [*LISTED, "404.html", "search.html"]
# What breaks in one page of a kind breaks in all of it.
OF_EACH_KIND = {
    "index.html", "why-divide-by-root-dk.html", "the-transformer.html", "glossary.html", "references.html",
    "how-this-book-checks-itself.html", "404.html", "search.html",
}  # fmt: skip
EACH_PAGE = pytest.mark.parametrize("name", left_to(pytest.mark.thorough, PAGES, but=OF_EACH_KIND))
IN_OTHER_WAYS = pytest.mark.parametrize("name", left_to(pytest.mark.weekly, PAGES, but=OF_EACH_KIND))


def test_no_page_is_left_out(site):
    assert sorted(PAGES) == sorted(page.name for page in site.glob("*.html"))


def test_a_page_says_what_it_is_and_where(site, soup):
    head = soup("many-heads.html").head
    address = head.find("link", rel="canonical")["href"]
    home = address.removesuffix("many-heads.html")
    assert head.find("meta", attrs={"name": "description"})["content"].endswith((".", "…"))
    assert head.find("meta", property="og:image")["content"] == f"{home}_static/social.png"
    assert f"<loc>{address}</loc>" in (site / "sitemap.xml").read_text("utf-8")
    assert soup("404.html").base["href"] == urlsplit(home).path


def test_a_page_loads_one_stylesheet_and_only_the_scripts_it_needs(soup):
    every = ["book.js", "predict.js", "charts.js", "playground.js", "training.js"]
    for name, scripts in {"glossary.html": every[:1], "many-heads.html": every}.items():
        head = soup(name).head
        assert [sheet["href"] for sheet in head.select("link[rel=stylesheet]")] == ["_static/book.css"]
        assert [script["src"] for script in head.select("script[src]")] == [
            f"_static/{file}" for file in scripts
        ]


def test_the_math_font_is_a_small_part_that_holds_every_letter(site):
    assert (site / "_static/formulas.woff").stat().st_size < 30_000
    font = TTFont(site / "_static/formulas.woff")
    assert {ord("√"), ord("𝑑"), ord("𝑘"), ord("<")} <= font.getBestCmap().keys()
    variants, root = font["MATH"].table.MathVariants, font.getBestCmap()[ord("√")]
    place = variants.VertGlyphCoverage.glyphs.index(root)
    forms = variants.VertGlyphConstruction[place].MathGlyphVariantRecord
    assert len(forms) > 1
    assert len({font["hmtx"][form.VariantGlyph][0] for form in forms}) == 1


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


def unfold(page: Page) -> None:
    page.evaluate("document.querySelectorAll('details').forEach(details => details.open = true)")


# The element that ends farthest to the right, as far as its words are its own.
WIDEST = """() => {
    const end = (element) => element.getBoundingClientRect().right;
    const all = [...document.querySelectorAll("main *")];
    return all.reduce((one, other) => (end(other) > end(one) ? other : one)).outerHTML.slice(0, 100);
}"""


def width(page: Page) -> Iterator[str]:
    """All folds are open meanwhile."""
    taken, screen = page.evaluate("document.documentElement.scrollWidth"), page.viewport_size["width"]
    if taken > screen:
        widest = page.evaluate(WIDEST)
        yield f"the page is {taken} px wide on a screen of {screen}: it scrolls sideways, by {widest}"


@EACH_PAGE
def test_a_page_from_the_web_on_a_wide_screen(page, base_url, name):
    """It loads, is light, and fits."""
    troubles = listen(page, base_url)
    opened, used = weigh(page, base_url + name)
    assert opened <= OPENED, f"opening {name} takes {opened} bytes"
    assert used <= USED, f"using all of {name} takes {used} bytes"
    unfold(page)
    troubles += width(page)
    assert not troubles, "\n".join(troubles)


@pytest.mark.thorough
@IN_OTHER_WAYS
def test_a_wide_page_is_accessible_in_both_colours(page, base_url, name):
    page.goto(base_url + name)
    unfold(page)
    page.evaluate(AXE)
    for colours, enough, rules in (("light", CODE, RULES), ("dark", ALL, THE_COLOURS)):
        page.emulate_media(color_scheme=colours)
        page.evaluate(LEAVE_ONE_OF_EACH_KIND, enough)
        assert not list(violations(page, rules)), colours


# Not 404.html: only a server shows it, and its links start at the server's root.
@pytest.mark.thorough
@pytest.mark.parametrize("name", left_to(pytest.mark.weekly, [*LISTED, "search.html"], but=OF_EACH_KIND))
def test_a_page_from_a_folder_on_a_phone(offline, site, name):
    """Without a network it loads in dark, fits, is accessible in dark and in light, and its charts move."""
    offline.set_viewport_size(PHONE)
    offline.emulate_media(color_scheme="dark")
    troubles = listen(offline, site.as_uri())
    offline.goto((site / name).as_uri())
    unfold(offline)
    troubles += width(offline)
    offline.evaluate(AXE)
    offline.evaluate(LEAVE_ONE_OF_EACH_KIND, CODE)
    troubles += violations(offline, ALL_BUT_COLOURS)
    for slider in offline.get_by_role("slider").all():
        slider.press("ArrowRight")
        expect(offline.locator(".chart [role=status]").first).not_to_be_empty()
    offline.evaluate(LEAVE_ONE_OF_EACH_KIND, ALL)
    troubles += in_both_colours(offline, THE_COLOURS)
    assert not troubles, "\n".join(troubles)


@pytest.mark.thorough
def test_what_a_search_finds_is_accessible_in_both_modes_and_fits_a_phone(page, base_url):
    """The page is tested above as it opens; here with results, and claims among them."""
    troubles = listen(page, base_url)
    page.set_viewport_size(PHONE)
    page.goto(base_url + "search.html?q=softmax+sums+to+exactly")
    page.locator("#results p a").first.wait_for()
    troubles += width(page)
    troubles += in_both_colours(page)
    assert not troubles, "\n".join(troubles)


@pytest.fixture(scope="module")
def without_scripts(browser: Browser) -> Iterator[Page]:
    with browser.new_context(viewport=PHONE, java_script_enabled=False) as context:
        yield context.new_page()


@pytest.mark.thorough
@IN_OTHER_WAYS
def test_a_page_can_be_read_without_scripts(without_scripts, base_url, name):
    without_scripts.goto(base_url + name)
    assert without_scripts.locator("h1").first.is_visible()
    assert not without_scripts.locator("main form:not([role=search]):visible").count()
    for picture in without_scripts.locator(".chart-picture").all():
        assert picture.locator("svg:visible").count() == 1


@cache
def source_of(page: Path) -> str:
    """Links lead to the same pages hundreds of times."""
    return page.read_text("utf-8")


@EACH_PAGE
def test_links_and_images_lead_to_what_is_there(site, soup, name):
    troubles = []
    for tag in soup(name).find_all(["a", "img", "link", "script"]):
        address = tag.get("href") or tag.get("src")
        if not address or urlsplit(address).scheme:
            continue
        target, anchor = urldefrag(unquote(urljoin(name, address)))
        if not (site / target).is_file():
            troubles.append(f"{address} leads to what is not there")
        elif anchor.startswith("open="):
            # What a playground shows (book/_static/bench/state.js): one must be there.
            if 'class="playground"' not in source_of(site / target):
                troubles.append(f"{address}: {target} has no playground")
        elif anchor.startswith("train="):
            # What a training begins with (book/_static/training.js): this one must be there, and its options.
            given = dict(parse_qsl(anchor))
            training = given.pop("train")
            if f'class="training" data-name="{training}"' not in source_of(site / target):
                troubles.append(f"{address}: {target} has no such training")
            known(training)[1].settings(**given)
        elif anchor and f'id="{anchor}"' not in source_of(site / target):
            troubles.append(f"{address}: {target} has no such place")
    assert not troubles, "\n".join(troubles)


def text(page: BeautifulSoup, without: list[str]) -> str:
    """What stands in a page, without comments and without what stands in these tags."""
    strings = (words for words in page.find_all(string=True) if type(words) is NavigableString)
    return "".join(words for words in strings if not words.find_parent(without))


@EACH_PAGE
def test_every_formula_is_rendered(soup, name):
    page = soup(name)
    for formula in page.select(".math"):
        assert formula.find("math"), f"{formula} holds no formula"
    written = text(page, without=["pre", "code", "script"])
    for leftover in ("$$", "\\begin{", "\\("):
        assert leftover not in written, f"a formula was left as it was typed: {leftover}"
    assert "mathjax" not in str(page.head).lower()


def not_drawn(words: str, symbols: Path) -> set[str]:
    """What of these neither the site's letters nor these symbols have."""
    # The site serves the same letters as woff2, which fontTools reads only with another package.
    letters = ROOT / "node_modules/@fontsource/source-sans-3/files/source-sans-3-latin-400-normal.woff"
    drawn = {chr(code) for font in (letters, symbols) for code in TTFont(font).getBestCmap()}
    return {character for character in words if not character.isspace()} - drawn


@EACH_PAGE
def test_the_sites_own_fonts_draw_every_character(site, soup, name):
    """A machine with few fonts would show empty boxes. Formulas have a font of their own."""
    written = text(soup(name), without=["math", "script", "style", "title"])
    missing = not_drawn(written, site / "_static/symbols.woff")
    assert not missing, f"the site's fonts have no {' '.join(sorted(missing))}"


def test_the_sites_fonts_draw_what_a_search_quotes(site):
    quoted = (site / "_static/sections.js").read_text("utf-8")
    assert not not_drawn(quoted, site / "_static/symbols-of-search.woff")


@EACH_PAGE
def test_every_image_has_words_and_a_size(soup, name):
    for image in soup(name).find_all("img"):
        assert image["alt"].strip(), f"{image} has no alt text"
        assert int(image["width"]) > 0
        assert int(image["height"]) > 0


@pytest.mark.thorough
def test_figures_take_the_colours_that_the_reader_chose(page, base_url, soup):
    """A figure is a picture of its own; it follows the page, not only the system."""
    page.goto(base_url + next(name for name in LISTED if soup(name).select_one("main img")))
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


def test_contents_open_on_a_phone(page, base_url):
    page.set_viewport_size(PHONE)
    page.goto(base_url + "index.html")
    contents = page.locator("#contents")
    assert not contents.is_visible()
    page.get_by_role("button", name="Contents").click()
    assert contents.is_visible()
    page.keyboard.press("Escape")
    assert not contents.is_visible()


def test_an_address_that_moved_leads_on(page, base_url, soup):
    """What the-block-of-today.html said of writing faster is a chapter of its own."""
    names = [moved["id"] for moved in soup("the-block-of-today.html").select(".moved")]
    assert "several-texts-at-once" in names
    for name in names:
        page.goto(f"{base_url}the-block-of-today.html#{name}")
        page.wait_for_url(f"{base_url}writing-faster.html#{name}")
        assert page.locator(f"[id='{name}']").count(), name
