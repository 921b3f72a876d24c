"""The page for teachers lists every exercise, with what its check says to each mistake."""

import pytest
from bs4 import BeautifulSoup

from bookkit.catalogue import catalogue


@pytest.fixture(scope="module")
def page(site):
    return BeautifulSoup((site / "for-teachers.html").read_text(encoding="utf-8"), "html.parser").main


@pytest.fixture(scope="module")
def folds(page):
    """What is folded under each line. The page is long, and is gone through once."""
    return {fold.summary.get_text(): fold for fold in page.select("details")}


@pytest.mark.parametrize("entry", catalogue(), ids=lambda entry: entry.exercise)
def test_an_exercise_is_listed_with_its_mistakes(folds, entry):
    words = f"difficulty {entry.difficulty}, {entry.minutes} minutes, {len(entry.mistakes)} mistakes"
    listed = folds[f"{entry.exercise}: {words}"]
    # Sphinx curls quotes.
    terms = [term.get_text().replace("’", "'") for term in listed.select("dt")]
    sentences = [sentence.get_text().replace("’", "'") for sentence in listed.select("dd")]
    assert terms == list(entry.mistakes)
    assert [text.strip() for text in sentences] == [text.replace("`", "") for text in entry.mistakes.values()]


def test_each_chapter_is_linked(page):
    for chapter in {entry.chapter for entry in catalogue()}:
        assert page.select_one(f'a[href^="{chapter.replace("_", "-")}.html"]')
