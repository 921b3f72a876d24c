"""The layers of a chapter: what a tag folds, what stands in its place, what may not be folded."""

import json
import re
from types import SimpleNamespace

import pytest
from playwright.sync_api import Browser, Page, expect

from _ext import folds
from bookkit.mime_types import CLAIM, DRAWING, FIGURE
from tools.chapters import refresh

CHAPTER = "what-is-attention.html"
BOOKKEEPING = re.compile(r"✓ \d+ checks hold")
ROW = "how far any row's sum is from 1"  # of the first cell whose checks are folded


def cell(source="", *kinds, tags=(), kind="code"):
    """A cell of a notebook's JSON, with an output of each kind."""
    outputs = {"outputs": [{"data": {one: "…"}} for one in kinds]} if kind == "code" else {}
    return {"cell_type": kind, "source": [source], "metadata": {"tags": [*tags]}, **outputs}


@pytest.mark.parametrize(
    ("layer", "kinds", "words"),
    [
        ("headline", [CLAIM], "How this was checked"),
        ("measurement", ["text/plain"], "How this was measured"),
        ("measurement", [FIGURE], folds.DRAWN),
        ("measurement", [], "Set-up"),
        ("bookkeeping", [CLAIM], "✓ 1 check holds"),
        ("bookkeeping", [CLAIM, "text/plain", CLAIM], "✓ 2 checks hold"),
    ],
)
def test_a_tag_folds_a_cell_under_a_line_of_its_own(layer, kinds, words):
    tagged = cell("", *kinds, tags=["A1", layer])
    folds.fold(tagged, folds.layer(tagged))
    hidden = "hide-cell" if layer == "bookkeeping" else "hide-input"
    assert tagged["metadata"]["tags"] == ["A1", layer, hidden]
    assert tagged["metadata"]["mystnb"] == {"code_prompt_show": words}


@pytest.mark.parametrize(
    ("source", "tag"),
    [
        ("drawings.clocks([1, 2])", "remove-input"),
        ("x = 1\ndrawings.clocks([x])", "hide-input"),
        ("figures.lines()", "hide-input"),
        ("drawings", "hide-input"),
    ],
)
def test_code_that_does_no_more_than_call_for_a_drawing_leaves_the_page(source, tag):
    tagged = cell(source, DRAWING, tags=["measurement"])
    folds.fold(tagged, "measurement")
    assert tagged["metadata"]["tags"] == ["measurement", tag]


def test_jupyterlab_and_colab_fold_what_the_site_does():
    assert folds.FOLDS.keys() < refresh.FOLDED


def test_a_cell_of_the_lesson_is_of_no_layer():
    assert folds.layer(cell(tags=["raises-exception"])) is None
    assert folds.layer(cell(kind="markdown", tags=["A1"])) is None


def errors(monkeypatch, *cells):
    """What the build says of a chapter with these cells."""
    found = []
    monkeypatch.setattr(folds.logger, "error", lambda text, *parts: found.append(text % parts))
    app = SimpleNamespace(env=SimpleNamespace(doc2path=lambda page: f"{page}.ipynb"))
    folds.read(app, "chapter", [json.dumps({"cells": cells})])
    return found


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        (cell("", CLAIM, tags=["headline", "bookkeeping"]), "it has the tags of two layers, headline and"),
        (cell("", tags=["bookkeeping"]), "it is tagged bookkeeping and claims nothing"),
        (cell("words", kind="markdown", tags=["headline"]), "it is text, and the tag headline is for code"),
    ],
)
def test_a_wrong_tag_is_named_with_its_cell(monkeypatch, wrong, reason):
    (error,) = errors(monkeypatch, cell("1"), wrong)
    assert error.startswith(f"chapter.ipynb: cell 2: {reason}")


DEFINES = "def half(x):\n    return x / 2"


def test_what_the_lesson_uses_may_not_be_defined_in_a_fold_alone(monkeypatch):
    folded, used = cell(DEFINES, tags=["measurement"]), cell("half(3)")
    (error,) = errors(monkeypatch, folded, used)
    assert error == (
        "chapter.ipynb: cell 2: it uses half, which cell 1 defines in a fold: open that, or fold this"
    )
    assert not errors(monkeypatch, cell(DEFINES), used)
    assert not errors(monkeypatch, folded, cell(DEFINES), used)
    assert not errors(monkeypatch, folded, cell("half(3)", tags=["headline"]), cell("x.half(3)"))
    assert not errors(monkeypatch, folded, cell("half(3)", tags=["hide-cell"])), "a solution has its own"


# ---- in the page ----


def test_a_chapter_opens_as_a_lesson_and_one_button_opens_all_that_proves_it(
    page: Page, base_url: str
) -> None:
    page.goto(base_url + CHAPTER)
    checks = page.get_by_text(ROW, exact=True)
    line = page.get_by_text(BOOKKEEPING).first
    expect(line).to_be_visible()
    expect(checks).to_be_hidden()
    button = page.get_by_role("button", name="Show all code and checks")
    expect(button).to_have_attribute("aria-pressed", "false")
    button.focus()
    page.keyboard.press("Enter")
    expect(checks).to_be_visible()
    expect(button).to_have_attribute("aria-pressed", "true")
    page.reload()
    expect(checks).to_be_visible()
    button.click()
    expect(checks).to_be_hidden()
    page.reload()
    expect(checks).to_be_hidden()
    line.click()
    expect(checks).to_be_visible()


@pytest.mark.thorough
def test_a_link_into_a_fold_opens_it(page: Page, base_url: str) -> None:
    page.goto(base_url + CHAPTER)
    page.locator(".tag_bookkeeping .claim").first.evaluate("claim => (claim.id = 'inside')")
    expect(page.locator("#inside")).to_be_hidden()
    page.evaluate("location.hash = 'inside'")
    expect(page.locator("#inside")).to_be_visible()


@pytest.mark.thorough
def test_paper_shows_the_lesson(page: Page, base_url: str) -> None:
    page.goto(base_url + CHAPTER)
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    expect(page.get_by_text(ROW, exact=True)).to_be_hidden()
    expect(page.get_by_text("How this was checked").first).to_be_hidden()
    expect(page.get_by_text(BOOKKEEPING).first).to_be_visible()


@pytest.mark.thorough
def test_without_scripts_every_fold_opens(browser: Browser, base_url: str) -> None:
    with browser.new_context(java_script_enabled=False) as context:
        still = context.new_page()
        still.goto(base_url + CHAPTER)
        still.get_by_text(BOOKKEEPING).first.click()
        expect(still.get_by_text(ROW, exact=True)).to_be_visible()
        assert still.get_by_role("button", name="Show all").count() == 0
