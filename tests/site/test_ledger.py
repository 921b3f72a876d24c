"""The ledger page holds every claim of every chapter, with what was measured and a link to the chapter."""

import notebooks
import pytest
from bs4 import BeautifulSoup


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
    claims = notebooks.claims(notebooks.read(path))
    assert claims
    assert rows == [
        [claim["sentence"].replace("−", "-"), claim["bound"], claim["measured"]] for claim in claims
    ]
