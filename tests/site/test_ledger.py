"""The ledger page says of every claim what its chapter says, under a link to the chapter."""

import pytest
from bs4 import BeautifulSoup

from _ext import ledger
from bookkit.mime_types import CLAIM
from tools.chapters import notebooks


@pytest.fixture(scope="module")
def page(site):
    page = site / "how-this-book-checks-itself.html"
    return BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser")


@pytest.mark.parametrize("path", notebooks.chapters(), ids=lambda path: path.stem)
def test_every_claim_of_a_chapter_is_in_the_ledger(page, path):
    link = page.select_one(f'main a[href="{path.stem}.html"]')
    table = link.find_next("table")
    # Sphinx curls apostrophes, and the ledger's minus signs are no hyphens.
    rows = [
        [cell.get_text(strip=True).replace("’", "'").replace("−", "-") for cell in row.select("td")]
        for row in table.select("tbody tr")
    ]
    said = [
        seen(data["text/html"])
        for cell in notebooks.code_cells(notebooks.read(path))
        for data in notebooks.displays(cell)
        if CLAIM in data
    ]
    assert said
    assert rows == said


@pytest.mark.parametrize("path", notebooks.chapters(), ids=lambda path: path.stem)
def test_each_claim_of_the_ledger_leads_to_its_row(page, soup, path):
    chapter = soup(f"{path.stem}.html")
    links = page.select(f'.ledger a[href^="{path.stem}.html#"]')
    assert len(links) == len(chapter.select(".claim"))
    rows = {place["id"]: place for place in chapter.select("[id]")}
    for link in links:
        row = rows[link["href"].partition("#")[2]]
        said = row.select_one(".claim-sentence").get_text()
        assert link.get_text().replace("’", "'") == said.replace("’", "'")


def test_what_is_claimed_twice_has_two_addresses_and_no_chapter_those_of_another():
    twice = ledger.addresses("chapter", ["it holds", "it holds"])
    assert len({*twice, *ledger.addresses("another", ["it holds"])}) == 3
    assert ledger.addresses("chapter", ["something new", "it holds"])[1] == twice[0]


def seen(claim: str) -> list[str]:
    """The sentence, what is claimed and what was measured, as the HTML of a claim shows them."""
    html = BeautifulSoup(claim, "html.parser")
    words = [html.select_one(f".claim-{part}") for part in ("sentence", "bound", "measured")]
    # What is claimed to be true is not measured.
    sentence, bound, measured = (word.get_text() if word else "true" for word in words)
    bound = bound.removeprefix("claimed ").replace("\N{NO-BREAK SPACE}", " ")
    return [sentence.replace("−", "-"), bound, measured.removeprefix("measured ")]
