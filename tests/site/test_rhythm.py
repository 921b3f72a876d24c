"""How a chapter reads as it first opens: a lesson with pictures, not a wall of code and check marks.

Folded code and folded rows of claims don't count, and neither does what a chart shows once it is moved.
"""

import itertools
import math
import re
from collections.abc import Iterator
from typing import Any

import pytest
from browser_pages import arrived
from playwright.sync_api import BrowserContext, Page
from tiers import left_to

from bookkit import registry
from tools.site.pdf import SHEET

CHAPTERS = {chapter.name: chapter for chapter in registry.chapters()}
SCREEN = 900  # pixels, as high as the window of these tests
MOST = {
    "height in pixels": 20_000,
    "share of code": 0.25,
    "share of rows of claims": 0.06,
    "screens without a picture": 4,
    "words for each picture": 300,
}
FEWEST_DRAWINGS = 1 / 3  # of all pictures: the others plot what was measured
MOST_SHEETS = 22
WORDS_A_MINUTE, LINES_A_MINUTE = 220, 10
SHEET_OF_PDF = re.compile(rb"/Type\s*/Page\b")

# The words are those of paragraphs and lists. A paragraph in a list counts with both, which is about what
# headings, tables and rows of claims would add.
MEASURE = """() => {
    const main = document.querySelector("main");
    const top = (element) => element.getBoundingClientRect().top - main.getBoundingClientRect().top;
    const height = (element) => element.getBoundingClientRect().height;
    const how = {contentVisibilityAuto: true, opacityProperty: true, visibilityProperty: true};
    const seen = (selector) => [...main.querySelectorAll(selector)]
        .filter((element) => element.checkVisibility(how) && height(element) > 1);
    const all = (elements) => elements.map(height).reduce((sum, one) => sum + one, 0);
    const found = (elements, what) => elements.flatMap((element) => element.textContent.match(what) ?? []);
    const frames = ".chart, .drawing, figure";
    const pictures = seen(`img, svg[role=img], ${frames}`)
        .filter((element) => !element.parentElement.closest(frames));
    return {
        height: height(main),
        code: all(seen(".cell_input")),
        claims: all(seen(".claim")),
        words: found(seen("p, li"), /\\S+/g).length,
        lines: found(seen(".cell_input pre"), /^.*\\S/gm).length,
        headings: seen("h1, h2, h3").map((element) => [element.firstChild.textContent.trim(), top(element)]),
        pictures: pictures.map(top),
        drawings: pictures.filter((element) => element.matches(".drawing")).length,
        first_screen: pictures.some((element) => element.matches(".drawing, .chart")
            && element.getBoundingClientRect().top + scrollY < innerHeight),
    };
}"""


def measured(page: Page) -> dict[str, Any]:
    """What of the page is seen without opening anything, all its pictures loaded."""
    arrived(page)
    return page.evaluate(MEASURE)


def shortfalls(seen: dict[str, Any], limits: dict[str, float] = MOST) -> Iterator[str]:
    """A line for each way in which a page is no lesson."""
    height, pictures = seen["height"], seen["pictures"]
    stretches = itertools.pairwise(sorted([0, *pictures, height]))
    gap, start = max((end - start, start) for start, end in stretches)
    reached = {
        "height in pixels": height,
        "share of code": seen["code"] / height,
        "share of rows of claims": seen["claims"] / height,
        "screens without a picture": gap / SCREEN,
        "words for each picture": seen["words"] / max(1, len(pictures)),
    }
    for what, most in limits.items():
        if reached[what] > most:
            value = f"{reached[what]:.0f}" if most >= 100 else f"{reached[what]:.3g}"
            yield f"{what}: {value}, and at most {most}"
    if gap > MOST["screens without a picture"] * SCREEN:
        title, *more = seen["headings"]
        section = [title, *(one for one in more if one[1] <= start)][-1][0]
        yield f"the longest stretch without a picture begins in “{section}”"
    if seen["drawings"] < FEWEST_DRAWINGS * len(pictures):
        yield f"drawings: {seen['drawings']} of {len(pictures)} pictures, and at least a third"
    if not seen["first_screen"]:
        yield "the first screen shows neither a drawing nor a chart"


def minutes(seen: dict[str, Any]) -> int:
    """To read the lesson, in steps of five."""
    return 5 * math.ceil((seen["words"] / WORDS_A_MINUTE + seen["lines"] / LINES_A_MINUTE) / 5)


@pytest.fixture(scope="module", params=left_to(pytest.mark.thorough, CHAPTERS, but=["the-transformer"]))
def chapter(request: pytest.FixtureRequest) -> registry.Chapter:
    return CHAPTERS[request.param]


@pytest.fixture(scope="module")
def opened(chapter: registry.Chapter, window: BrowserContext, base_url: str) -> Iterator[Page]:
    """The chapter's page as a reader comes to it, opened once for all that is looked at here."""
    page = window.new_page()
    page.goto(f"{base_url}{chapter.name}.html")
    yield page
    page.close()


def test_a_chapter_opens_as_a_lesson(opened):
    short = list(shortfalls(measured(opened)))
    assert not short, "as the page opens:\n" + "\n".join(short)


@pytest.fixture
def guessed(opened: Page) -> Page:
    """The same when every guess is made, or not asked for."""
    opened.evaluate("document.querySelectorAll('details.cover').forEach(cover => cover.open = true)")
    return opened


def test_it_stays_one_when_every_guess_is_made(guessed):
    # How high it then is, its reader has decided.
    limits = {what: most for what, most in MOST.items() if what != "height in pixels"}
    short = list(shortfalls(measured(guessed), limits))
    assert not short, "with all covers open:\n" + "\n".join(short)


def test_the_minutes_to_read_are_measured(guessed, chapter):
    seen = measured(guessed)
    said = f"{minutes(seen)} minutes to read"
    words = f"{seen['words']} words and {seen['lines']} open lines of code"
    assert chapter.minutes == said, f"{words}: the line below the title must say *{said}*"


@pytest.mark.weekly
@pytest.mark.slow
def test_a_printed_chapter_is_not_too_long(opened):
    measured(opened)  # all pictures are there
    sheets = len(SHEET_OF_PDF.findall(opened.pdf(**SHEET)))
    assert 1 < sheets <= MOST_SHEETS, f"printed it has {sheets} pages, and at most {MOST_SHEETS}"
