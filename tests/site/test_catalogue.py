"""The page for teachers lists every exercise, with what its check says to each mistake."""

import pytest
from bs4 import BeautifulSoup

from bookkit.catalogue import catalogue


@pytest.fixture(scope="module")
def page(site):
    return BeautifulSoup((site / "for-teachers.html").read_text(encoding="utf-8"), "html.parser").main


@pytest.mark.parametrize("entry", catalogue(), ids=lambda entry: entry.exercise)
def test_an_exercise_is_listed_with_its_mistakes(page, entry):
    summaries = [fold.summary.get_text() for fold in page.select("details")]
    words = f"difficulty {entry.difficulty}, {entry.minutes} minutes, {len(entry.mistakes)} mistakes"
    place = summaries.index(f"{entry.exercise}: {words}")
    listed = page.select("details")[place]
    # Sphinx curls quotes.
    terms = [term.get_text().replace("’", "'") for term in listed.select("dt")]
    sentences = [sentence.get_text().replace("’", "'") for sentence in listed.select("dd")]
    assert terms == list(entry.mistakes)
    assert [text.strip() for text in sentences] == [text.replace("`", "") for text in entry.mistakes.values()]


def test_each_chapter_is_linked(page):
    for chapter in {entry.chapter for entry in catalogue()}:
        assert page.select_one(f'a[href^="{chapter.replace("_", "-")}.html"]')
