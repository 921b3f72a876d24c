"""The models in the page: opened when asked for, the same as PyTorch's, and what a reader does with them."""

import base64
import gzip
import hashlib
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from accessible import AXE, RULES, violations
from bench_page import opened_bench
from bs4 import BeautifulSoup
from open_playground import HOME, PAGES, field, opened
from playwright.sync_api import Browser, BrowserContext, Page, expect
from script_and_pytorch import IN_JAVASCRIPT, largest_difference, texts, translations

from _ext import playground
from bookkit.playground import exported, openable, picture
from chapters.the_transformer import models
from chapters.the_transformer.playground import loaded
from tools.chapters.notebooks import BOOK

PHONE = {"width": 390, "height": 844}


# Bytes, compressed: a model with the scripts that let it speak.
MOST = {"translator": 425_000, "language-model": 260_000, "induction": 210_000, "gpt": 490_000}


SENTENCES = 50


# ---- the same as PyTorch's ----
@pytest.mark.weekly
def test_every_tensor_of_fifty_translations_is_pytorchs(page: Page, tmp_path: Path) -> None:
    opened_bench(page, tmp_path, "translator")
    runs = translations(SENTENCES)
    said = page.evaluate(IN_JAVASCRIPT, ["translator", runs])
    differences = [
        largest_difference(run, each, loaded("translator")) for run, each in zip(runs, said, strict=True)
    ]
    assert len(differences) == SENTENCES
    assert max(differences) < 1e-4
    for run, each in zip(runs, said, strict=True):
        source = torch.tensor([run["read"]])
        words = models.greedy(loaded("translator"), source, torch.tensor([source.shape[1]]))
        assert each["translation"] == words[0].tolist()


@pytest.mark.weekly
def test_every_tensor_of_fifty_texts_is_pytorchs(page: Page, tmp_path: Path) -> None:
    opened_bench(page, tmp_path, "language-model")
    runs = texts(SENTENCES)
    said = page.evaluate(IN_JAVASCRIPT, ["language-model", runs])
    differences = [
        largest_difference(run, each, loaded("language-model")) for run, each in zip(runs, said, strict=True)
    ]
    assert len(differences) == SENTENCES
    assert max(differences) < 1e-4


# ---- opening it ----
@pytest.mark.parametrize("model", openable())
def test_a_model_and_its_scripts_are_light_and_the_button_says_how_light(
    site: Path, soup, model: str
) -> None:
    names = [*openable()[model].files, f"model-{model}.js"]
    files = [site.joinpath("_static", name).read_bytes() for name in names]
    compressed, plain = sum(map(len, map(gzip.compress, files))), sum(map(len, files))
    assert compressed <= MOST[model]
    opening = soup(PAGES[model]).select_one(f".playground[data-model={model}] .opening")
    told = f"{compressed / 1000:.0f}\u00a0kB ({plain / 1000:.0f} uncompressed)"
    assert opening.get_text() == f"Open the model here {told}"


@pytest.fixture
def offline(page: Page, window: BrowserContext) -> Iterator[Page]:
    window.set_offline(True)
    yield page
    window.set_offline(False)


@pytest.mark.thorough
@pytest.mark.parametrize("model", openable())
def test_from_a_folder_without_a_network_on_a_phone(offline: Page, site: Path, model: str) -> None:
    troubles: list[str] = []
    offline.on("console", lambda message: troubles.append(message.text))
    offline.on("pageerror", lambda error: troubles.append(str(error)))
    offline.set_viewport_size(PHONE)
    box = opened(offline, (site / PAGES[model]).as_uri(), model)
    expect(box.get_by_role("status")).not_to_be_empty()
    expect(box).not_to_have_class(re.compile("computing"))  # its buttons get their names when it has read
    offline.evaluate(AXE)
    for colours in ("dark", "light"):
        offline.emulate_media(color_scheme=colours)
        # From a folder axe can't fetch the styles once more, as one rule asks.
        troubles += [f"{colours}: {line}" for line in violations(offline, RULES | {"preload": False})]
    assert offline.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    assert not troubles, "\n".join(troubles)


@pytest.mark.thorough
def test_it_runs_where_a_page_may_run_no_text_as_code_and_ask_for_nothing(page: Page, base_url: str) -> None:
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


@pytest.mark.weekly
@pytest.mark.parametrize("model", openable())
def test_without_scripts_there_is_a_picture_that_is_described_and_no_button(
    browser: Browser, base_url: str, model: str
) -> None:
    with browser.new_context(viewport=PHONE, java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(base_url + PAGES[model])
        box = page.locator(f".playground[data-model={model}]")
        shown = box.locator("svg:visible")
        assert shown.count() == 1
        assert shown.get_attribute("aria-label") == picture(model).alt
        assert not box.get_by_role("button").count()
        assert box.get_by_text(picture(model).caption).is_visible()
        assert not box.locator(".invitation, .opening").filter(visible=True).count()
        for cell in (box.locator("xpath=preceding-sibling::p[1]"), box):
            assert not re.search(r"\b[Tt]ype\b", cell.inner_text())


@pytest.mark.weekly
@pytest.mark.parametrize("model", openable())
def test_on_paper_a_closed_playground_is_its_picture_and_a_sentence(
    page: Page, base_url: str, model: str
) -> None:
    page.goto(base_url + PAGES[model])
    page.emulate_media(media="print")
    box = page.locator(f".playground[data-model={model}]")
    assert box.get_by_text(picture(model).caption).is_visible()
    assert not box.locator(".invitation, .opening, button").filter(visible=True).count()


@pytest.mark.thorough
@pytest.mark.parametrize("screen", [{"width": 1280, "height": 900}, PHONE], ids=["wide", "phone"])
def test_the_front_pages_playground_has_its_room_before_it_is_opened(
    page: Page, base_url: str, screen: dict
) -> None:
    page.set_viewport_size(screen)
    page.goto(base_url + HOME)
    height = page.locator(".playground").bounding_box()["height"]
    box = opened(page, base_url + HOME, "translator")
    assert box.bounding_box()["height"] == height


# ---- the directive ----
SETTINGS = f"""
import sys
sys.path.append({str(BOOK)!r})
extensions = ["myst_nb", "_ext.playground"]
nb_execution_mode = "off"
"""


PAGE = "\n\n".join(
    [
        "# A page",
        "See [*where*](#open=translator&head=2&text=the+cat), [there](index.md#open=gpt), [no](#nowhere).",
        *(
            f"```{{playground}} {model} {form}\n*Elsewhere.*\n```"
            for model, form in zip(openable(), ["", "slim", "", ""], strict=True)
        ),
        "```{playground} interpreter\n```",
    ]
)


@pytest.mark.thorough
def test_the_directive_has_a_model_beside_the_page_and_tells_of_a_wrong_one(tmp_path: Path) -> None:
    messages, page = build(tmp_path, "html")
    boxes = BeautifulSoup((page / "index.html").read_text("utf-8"), "html.parser").select(".playground")
    assert [box["data-model"] for box in boxes] == [*openable()]
    assert "Elsewhere." not in str(boxes[0].parent)
    for model in openable():
        stored = (page / f"_static/model-{model}.js").read_text("utf-8")
        assert stored == f'stored["{model}"] = {json.dumps(exported(model), separators=(",", ":"))};\n'
    told = f"a playground can't be made: 'interpreter' is none of {', '.join(openable())}"
    assert f"index.md:{len(PAGE.splitlines()) - 1}: ERROR: {told}" in messages


@pytest.mark.thorough
def test_a_link_that_sets_a_state_leads_there_without_a_warning(tmp_path: Path) -> None:
    messages, page = build(tmp_path, "html")
    links = BeautifulSoup((page / "index.html").read_text("utf-8"), "html.parser").select("section p a")
    assert [(link["href"], link.get_text()) for link in links] == [
        ("#open=translator&head=2&text=the+cat", "where"),
        ("#open=gpt", "there"),
        ("#nowhere", "no"),
    ]
    assert [line for line in messages.splitlines() if "WARNING" in line and "open=" in line] == []
    assert "target not found: 'nowhere'" in messages


@pytest.mark.thorough
def test_a_page_that_is_only_text_says_what_the_pictures_show(tmp_path: Path) -> None:
    _, page = build(tmp_path, "text")
    text = " ".join((page / "index.txt").read_text("utf-8").split())
    for model in openable():
        assert picture(model).alt in text
    assert "<" not in text


def build(folder: Path, builder: str) -> tuple[str, Path]:
    folder.joinpath("conf.py").write_text(SETTINGS, "utf-8")
    folder.joinpath("index.md").write_text(PAGE, "utf-8")
    out = folder / builder
    command = [sys.executable, "-m", "sphinx", "-q", "--keep-going", "-b", builder, str(folder), str(out)]
    return subprocess.run(command, capture_output=True, text=True, check=False).stderr, out


@pytest.mark.parametrize("model", openable())
def test_a_closed_playground_is_a_picture_and_a_button_that_says_what_comes(model: str) -> None:
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
        compressed, plain = sum(map(len, map(gzip.compress, files))), sum(map(len, files))
        told = f"{compressed / 1000:.0f}\u00a0kB ({plain / 1000:.0f} uncompressed)"
        assert box.select_one(".opening").get_text() == f"Open the model here {told}"


@pytest.mark.parametrize("given", [("interpreter", "full"), ("translator", "tall")])
def test_a_model_or_a_form_that_there_is_not_is_told(given: tuple[str, str]) -> None:
    with pytest.raises(ValueError, match=r"^'(interpreter|tall)' is none of "):
        playground.closed(*given)
