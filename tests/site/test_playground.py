"""The models in the page: opened when asked for, the same as PyTorch's, and what a reader does with them."""

import gzip
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from accessible import AXE, RULES, violations
from bs4 import BeautifulSoup
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect
from script_and_pytorch import IN_JAVASCRIPT, everything, largest_difference, switched, texts, translations

from _ext import playground
from attnlab.corpora import agreement
from bookkit.playground import exported, openable, picture
from chapters.the_transformer import models
from chapters.the_transformer.playground import loaded
from chapters.translating_with_attention.models import ENGLISH_WORDS, LINGO_WORDS
from tools.chapters.notebooks import BOOK

HOME, CHAPTER = "index.html", "the-transformer.html"
PHONE = {"width": 390, "height": 844}
MOST = 400_000  # bytes, compressed: a model with the scripts that let it speak
SENTENCES = 50


def opened(page: Page, address: str, model: str) -> Locator:
    """The playground of this model, after its button was pressed."""
    page.goto(address)
    box = page.locator(f".playground[data-model={model}]")
    box.get_by_role("button", name="Open the model here").click()
    expect(box.get_by_role("textbox")).to_be_focused()
    return box


def field(box: Locator) -> Locator:
    return box.get_by_role("textbox")


# ---- the same as PyTorch's ----


def test_every_tensor_of_fifty_translations_is_pytorchs(page: Page, base_url: str) -> None:
    opened(page, base_url + HOME, "translator")
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


def test_every_tensor_of_fifty_texts_is_pytorchs(page: Page, base_url: str) -> None:
    opened(page, base_url + CHAPTER, "language-model")
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
    names = ["transformer.js", "workbench.js", f"model-{model}.js"]
    size = sum(len(gzip.compress(site.joinpath("_static", name).read_bytes())) for name in names)
    assert size <= MOST
    button = soup(CHAPTER).select_one(f".playground[data-model={model}] button")
    assert button.get_text() == f"Open the model here ({size / 1000:.0f} kB)"


def test_nothing_of_a_model_comes_before_it_is_asked_for(page: Page, base_url: str, soup) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url.rpartition("/")[2]))
    page.goto(base_url + HOME, wait_until="networkidle")
    assert "playground.js" in asked
    rest = ["transformer.js", "workbench.js", "model-translator.js"]
    assert not {*rest} & {*asked}
    opened(page, base_url + HOME, "translator")
    assert [name for name in asked if name in rest] == rest
    assert "playground.js" not in str(soup("notation.html"))


def test_a_model_that_does_not_arrive_is_told(page: Page, base_url: str) -> None:
    page.route("**/model-translator.js", lambda route: route.abort())
    page.goto(base_url + HOME)
    box = page.locator(".playground")
    box.get_by_role("button").click()
    expect(box.get_by_role("status")).to_have_text(
        "The model could not be loaded. Press the button to try again."
    )
    assert box.get_by_role("status").bounding_box()["height"] > 10
    assert box.locator("svg:visible").count() == 1
    page.unroute("**/model-translator.js")
    box.get_by_role("button").click()
    expect(field(box)).to_be_focused()


@pytest.fixture
def offline(page: Page, window: BrowserContext) -> Iterator[Page]:
    window.set_offline(True)
    yield page
    window.set_offline(False)


@pytest.mark.parametrize("model", openable())
def test_from_a_folder_without_a_network_on_a_phone(offline: Page, site: Path, model: str) -> None:
    troubles: list[str] = []
    offline.on("console", lambda message: troubles.append(message.text))
    offline.on("pageerror", lambda error: troubles.append(str(error)))
    offline.set_viewport_size(PHONE)
    box = opened(offline, (site / CHAPTER).as_uri(), model)
    offline.evaluate(AXE)
    for colours in ("dark", "light"):
        offline.emulate_media(color_scheme=colours)
        # From a folder axe can't fetch the styles once more, as one rule asks.
        troubles += [f"{colours}: {line}" for line in violations(offline, RULES | {"preload": False})]
    assert offline.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    assert box.get_by_role("status").text_content()
    assert not troubles, "\n".join(troubles)


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


@pytest.mark.parametrize("model", openable())
def test_without_scripts_there_is_a_picture_that_is_described_and_no_button(
    browser: Browser, base_url: str, model: str
) -> None:
    with browser.new_context(viewport=PHONE, java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(base_url + CHAPTER)
        box = page.locator(f".playground[data-model={model}]")
        shown = box.locator("svg:visible")
        assert shown.count() == 1
        assert shown.get_attribute("aria-label") == picture(model).alt
        assert not box.get_by_role("button").count()


@pytest.mark.parametrize("screen", [{"width": 1280, "height": 900}, PHONE], ids=["wide", "phone"])
def test_the_front_pages_playground_has_its_room_before_it_is_opened(
    page: Page, base_url: str, screen: dict
) -> None:
    page.set_viewport_size(screen)
    page.goto(base_url + HOME)
    height = page.locator(".playground").bounding_box()["height"]
    box = opened(page, base_url + HOME, "translator")
    assert box.bounding_box()["height"] == height


# ---- the translator ----


def translated(words: str, **switches) -> str:
    """What PyTorch writes, with these parts of the model off."""
    source = torch.tensor([[*map(ENGLISH_WORDS.index, words.split()), 2]])
    written = models.greedy(switched("translator", switches), source, torch.tensor([source.shape[1]]))
    return " ".join(LINGO_WORDS[word] for word in written[0].tolist() if word > 2)


def test_a_sentence_is_translated_as_it_is_typed(page: Page, base_url: str) -> None:
    box = opened(page, base_url + HOME, "translator")
    for typed, words in {
        "the hungry king's dogs will hide": "the hungry king 's dogs will hide",
        "My sisters’ cat sings!": "my sisters ' cat sings",
    }.items():
        field(box).fill(typed)
        expect(box.locator(".says")).to_have_text(f"In Lingo: {translated(words)}")
        expect(box.locator(".found li > :first-child")).to_have_text([*words.split(), "end"])
        expect(box.locator(".asking")).to_have_text("".join([*translated(words).split(), "end"]))
        expect(box.get_by_role("status")).to_have_text(f"In Lingo: {translated(words)}.")


def test_words_are_offered_and_strange_ones_named(page: Page, base_url: str) -> None:
    box = opened(page, base_url + HOME, "translator")
    field(box).fill("the ho")
    offered = box.locator(".offers").get_by_role("button")
    expect(offered).to_have_text(["horse", "horses", "house", "houses"])
    field(box).press("Tab")
    page.keyboard.press("Enter")
    expect(field(box)).to_have_value("the horse ")
    expect(field(box)).to_be_focused()
    page.keyboard.type("runs")
    expect(box.locator(".says")).to_have_text(f"In Lingo: {translated('the horse runs')}")
    field(box).fill("the wolf runs")
    told = "Only “the” is read. The model has not met “wolf”: with w it knows white, will and with."
    expect(box.locator(".ask .hint")).to_have_text(told)
    expect(box.get_by_role("status")).to_have_text(told)
    expect(box.locator(".says")).to_have_text(f"In Lingo: {translated('the')}")
    field(box).fill("the dog and " * 9)
    expect(box.locator(".ask .hint")).to_have_text("Only the first 24 words are read.")
    expect(box.get_by_role("status")).to_have_text("Only the first 24 words are read.")
    field(box).fill(f"{'the dog and ' * 4}the wolf runs")
    quoted = "Only “… the dog and the dog and the dog and the” is read."
    expect(box.locator(".ask .hint")).to_contain_text(quoted)
    field(box).fill("xylophone ")
    expect(box.locator(".ask .hint")).to_contain_text("Nothing is read. ")
    expect(box.locator(".ask .hint")).to_contain_text("“xylophone”: it knows and, because, behind")
    field(box).fill("“The dog” (my dog) – sleeps…")
    expect(box.locator(".says")).to_have_text(f"In Lingo: {translated('the dog my dog sleeps')}")


def test_one_sentence_is_read(page: Page, base_url: str) -> None:
    box = opened(page, base_url + HOME, "translator")
    field(box).fill("... The dog sleeps. My cat si")
    expect(box.locator(".says")).to_have_text(f"In Lingo: {translated('the dog sleeps')}")
    expect(box.locator(".ask .hint")).to_have_text("Only the first sentence is read.")
    expect(box.get_by_role("status")).to_have_text("Only the first sentence is read.")
    expect(box.locator(".offers")).to_be_empty()
    field(box).fill("The dog sleeps!? ")
    expect(box.locator(".ask .hint")).to_contain_text("It knows ")


def test_a_long_picture_is_moved_in_its_place(page: Page, base_url: str) -> None:
    box = opened(page, base_url + CHAPTER, "translator")
    field(box).fill("the dog and the cat and the horse sleep")
    picture = box.locator(".attention")
    assert picture.evaluate("it => it.scrollHeight <= it.clientHeight")
    box.get_by_role("checkbox", name="the positions").check()
    for layer in 1, 2:
        box.get_by_role("button", name=f"head 1 of layer {layer} (writing)", exact=True).click()
        box.get_by_role("checkbox", name=f"all heads of layer {layer} (writing)").check()
    assert picture.bounding_box()["height"] <= 48 * 16
    assert picture.evaluate("it => it.scrollHeight > it.clientHeight")


def test_what_was_typed_is_printed(page: Page, base_url: str) -> None:
    box = opened(page, base_url + HOME, "translator")
    page.emulate_media(media="print")
    expect(field(box)).to_be_visible()
    assert box.get_by_role("button", name="Another sentence").count() == 0
    assert box.locator(".hint:visible").count() == 0


def test_each_offered_sentence_is_new_to_the_model_and_translated(page: Page, base_url: str) -> None:
    box = opened(page, base_url + HOME, "translator")
    for sentence in exported("translator")["offered"]:
        expect(field(box)).to_have_value(f"{sentence} ")
        expect(box.locator(".says")).to_have_text(f"In Lingo: {translated(sentence)}")
        box.get_by_role("button", name="Another sentence").click()


def test_one_word_of_one_head_is_shown_with_its_weights_and_its_mix(page: Page, base_url: str) -> None:
    box = opened(page, base_url + CHAPTER, "translator")
    field(box).fill("these kings will love the kings")
    heads = box.get_by_role("group", name="Which head to look at").get_by_role("button")
    assert heads.count() == 3 * 2 * 4
    for name in (
        "head 1 of layer 2 (reading)",
        "head 3 of layer 1 (writing)",
        "head 2 of layer 1 (looking across)",
    ):
        heads.and_(box.get_by_role("button", name=name, exact=True)).press("Enter")
        asking = box.locator(".asking").get_by_role("button")
        for place in (0, asking.count() - 1):
            asking.nth(place).press("Enter")
            expect(asking.nth(place)).to_be_focused()
            expect(asking.nth(place)).to_have_attribute("aria-pressed", "true")
            shares = box.locator(".found li:not(.mix) > :nth-child(2)").all_text_contents()
            total = sum(float(share.removesuffix("\xa0%")) for share in shares)
            assert abs(total - 100) < 0.5 * len(shares)
            expect(box.get_by_role("status")).to_contain_text(name.partition(" (")[0])
            assert box.locator(".found .vector").count() == len(shares) + 1


def test_without_a_head_the_sentence_says_what_becomes_of_it(page: Page, base_url: str) -> None:
    box = opened(page, base_url + CHAPTER, "translator")
    words = "the old king 's red dogs follow my cats"
    field(box).fill(words)
    height = box.bounding_box()["height"]
    off = []
    # One after the other, until most of those that look across are off.
    for head in range(3):
        name = f"head {head + 1} of layer 2 (looking across)"
        box.get_by_role("button", name=name, exact=True).click()
        box.get_by_role("checkbox", name=name, exact=True).check()
        off.append(f"decoder.1.cross_attention {head}")
        now, then = translated(words, off=off), translated(words)
        became = (
            f"the translation becomes “{now}”; it was “{then}”"
            if now != then
            else "the translation stays as it is"
        )
        expect(box.locator(".change")).to_contain_text(f", {became}.")
        expect(box.locator(".says")).to_have_text(f"In Lingo: {now}")
    expect(box.locator(".change")).to_contain_text("Without 3 heads, ")
    box.get_by_role("button", name="All on again").click()
    expect(box.locator(".says")).to_have_text(f"In Lingo: {translated(words)}")
    assert box.bounding_box()["height"] == height
    box.get_by_role("checkbox", name="all heads of layer 2 (looking across)").check()
    off = [f"decoder.1.cross_attention {head}" for head in range(4)]
    expect(box.locator(".says")).to_have_text(f"In Lingo: {translated(words, off=off)}")
    expect(box.get_by_role("checkbox", name=name, exact=True)).to_be_checked()


def test_without_positions_and_without_the_mask(page: Page, base_url: str, monkeypatch) -> None:
    box = opened(page, base_url + CHAPTER, "translator")
    words = "these queens follow the small happy cats"
    field(box).fill(words)
    box.get_by_role("checkbox", name="the positions").check()
    expect(box.locator(".says")).to_have_text(f"In Lingo: {translated(words, positions=False)}")
    expect(box.locator(".change")).to_contain_text("Without positions, ")
    box.get_by_role("checkbox", name="the positions").uncheck()
    box.get_by_role("checkbox", name="the mask").check()
    monkeypatch.setattr("attnlab.transformer.causal", everything)
    expect(box.locator(".says")).to_have_text(f"In Lingo: {translated(words)}")
    expect(box.locator(".change")).to_contain_text("Without the mask, ")
    expect(box.locator(".change")).to_contain_text("Nothing stands behind the newest word")
    # What is shown is the last look of all, when there are words behind the chosen one.
    box.get_by_role("button", name="head 1 of layer 1 (writing)", exact=True).click()
    expect(box.locator(".looks")).to_contain_text("When all is written, from the place of “")
    box.get_by_role("checkbox", name="the mask").uncheck()
    expect(box.locator(".looks")).to_contain_text("is written, head 1 of layer 1 looks at “")


def test_all_of_it_is_reached_from_the_keyboard(page: Page, base_url: str) -> None:
    page.goto(base_url + CHAPTER)
    box = page.locator(".playground").first
    box.get_by_role("button").focus()
    page.keyboard.press("Enter")
    expect(field(box)).to_be_focused()
    names = []
    for _ in range(60):
        page.keyboard.press("Tab")
        inside = "box => box.contains(document.activeElement) ? document.activeElement : null"
        focused = box.evaluate_handle(inside).as_element()
        if focused is None:
            break
        names.append(
            focused.evaluate("it => it.ariaLabel ?? it.closest('label')?.textContent ?? it.textContent")
        )
    assert names[0] == "Another sentence"
    assert names[2:5] == ["all heads of layer 2 (looking across)", "the mask", "the positions"]
    assert len([name for name in names if name.startswith("head ")]) == 1 + 24  # a switch and all maps
    words = len(exported("translator")["offered"][0].split())
    assert len(names) > 5 + 24 + words - 2
    assert names[-1] == "end"


# ---- the language model ----


def chances(words: str, temperature: float = 1, **switches) -> torch.Tensor:
    model = switched("language-model", switches)
    with torch.no_grad():
        ids = torch.tensor([[1, *map(models.WORDS.index, words.split())]])
        return (model(ids)[0, -1] / temperature).softmax(-1)


def numbers_of(box: Locator) -> dict[str, list[str]]:
    rows = box.locator(".next tbody tr").all()
    return {
        row.get_by_role("button").text_content(): row.locator("td:not(.bar)").all_text_contents()
        for row in rows
    }


def is_share(said: str, number: float) -> bool:
    """“16 %” and “8.1 %” are rounded, and what was rounded may differ by a little."""
    return abs(float(said.removesuffix("\xa0%")) / 100 - number) < (0.0006 if number < 0.0995 else 0.0051)


def test_the_likeliest_words_with_the_models_chances_and_the_grammars(page: Page, base_url: str) -> None:
    box = opened(page, base_url + CHAPTER, "language-model")
    words = "the dogs near the king"
    field(box).fill(words)
    state = agreement.FIRST
    for word in words.split():
        state = agreement.following(state)[word][1]
    slider = box.get_by_role("slider", name="temperature")
    for temperature in (1, 0.5, 2):
        slider.fill(str(temperature))
        expect(box.locator(".draw span")).to_have_text(str(temperature))
        said = numbers_of(box)
        likeliest = chances(words, temperature).topk(8)
        assert [*said] == [models.WORDS[word] for word in likeliest.indices.tolist()]
        for word, chance in zip(said, likeliest.values.tolist(), strict=True):
            allowed = agreement.following(state).get(word, (0, None))[0]
            assert is_share(said[word][0], chance)
            assert is_share(said[word][1], allowed)


def test_a_word_is_chosen_from_the_bars_and_a_wrong_beginning_is_told(page: Page, base_url: str) -> None:
    box = opened(page, base_url + CHAPTER, "language-model")
    field(box).fill("the")
    first = box.locator(".next").get_by_role("button").first
    word = first.text_content()
    first.press("Enter")
    expect(field(box)).to_have_value(f"the {word} ")
    expect(box.locator(".next").get_by_role("button").first).to_be_focused()
    field(box).fill("the dogs sees")
    expect(box.locator(".change")).to_have_text(
        "The grammar has no such beginning: word 3, “sees”, can't stand there."
    )
    # Behind a whole sentence the full stop may come first, which can't be pressed.
    field(box).fill("the dogs see the")
    box.locator(".next").get_by_role("button", disabled=False).first.press("Enter")
    assert page.evaluate("document.activeElement.closest('.next') !== null")
    field(box).fill("the dogs near " * 9)
    assert box.locator(".next").get_by_role("button", disabled=False).count() == 0


def test_rings_and_bars_have_one_scale(page: Page, base_url: str) -> None:
    box = opened(page, base_url + CHAPTER, "language-model")
    field(box).fill("the dogs near the king")
    rows = box.locator(".next tbody tr").all()
    said = [[float(part.removesuffix("\xa0%")) for part in each] for each in numbers_of(box).values()]
    width = {}
    for row, (model, grammar) in zip(rows, said, strict=True):
        place, bar, ring = (
            row.locator(part).evaluate(
                "it => [it.getBoundingClientRect().x, it.getBoundingClientRect().width]"
            )
            for part in (".bar", ".bar i", ".bar b")
        )
        if model > 5:
            width[bar[1] / model] = None
        if grammar > 5:
            width[(ring[0] + ring[1] / 2 - place[0]) / grammar] = None
    assert len(width) > 6
    assert max(width) < 1.12 * min(width)  # shares are rounded


def test_an_unknown_word_is_not_passed_over_in_writing_on(page: Page, base_url: str) -> None:
    box = opened(page, base_url + CHAPTER, "language-model")
    field(box).fill("the elephant ")
    box.get_by_role("button", name="Write on").click()
    expect(box.locator(".sample")).to_contain_text("Only “the” is read. The model has not met “elephant”")
    field(box).fill("the ki")
    box.get_by_role("button", name="Write on").click()
    told = "“ki” is no word yet: type on, or choose one of those that are offered."
    expect(box.locator(".sample")).to_have_text(told)
    expect(box.get_by_role("status")).to_have_text(told)
    field(box).fill("the king")
    box.get_by_role("button", name="Write on").click()
    expect(box.locator(".sample")).to_contain_text("“the king ")


def test_a_mark_is_named_and_cannot_be_chosen(page: Page, base_url: str) -> None:
    box = opened(page, base_url + CHAPTER, "language-model")
    field(box).fill("")
    expect(box.locator(".next")).not_to_contain_text("<")
    expect(box.locator(".next").get_by_role("button", name="start")).to_be_disabled()


def test_without_a_head_the_chances_change_as_pytorchs_do(page: Page, base_url: str) -> None:
    box = opened(page, base_url + CHAPTER, "language-model")
    words = "the dogs near the king"
    field(box).fill(words)
    place, head = exported("language-model")["shown"]
    box.get_by_role("checkbox", name=re.compile("^head")).check()
    before, now = chances(words), chances(words, off=[f"{place} {head}"])
    for word, (said, _) in numbers_of(box).items():
        assert is_share(said, now[models.WORDS.index(word)])
    most = int((now - before).abs().argmax())
    told = re.search(r"“(\S+)” goes from (\S+\s%) to (\S+\s%)\.", box.locator(".change").text_content())
    assert told[1] == models.WORDS[most]
    assert is_share(told[2], before[most])
    assert is_share(told[3], now[most])
    box.get_by_role("checkbox", name=re.compile("^head")).uncheck()
    for word, (said, _) in numbers_of(box).items():
        assert is_share(said, before[models.WORDS.index(word)])


def test_what_it_writes_is_judged_by_the_grammar(page: Page, base_url: str) -> None:
    box = opened(page, base_url + CHAPTER, "language-model")
    field(box).fill("the dogs")
    box.get_by_role("slider", name="temperature").fill("1.6")
    right = 0
    for count in range(1, 13):
        before = box.locator(".sample").text_content()
        box.get_by_role("button", name="Write on").press("Enter")
        expect(box.locator(".sample")).not_to_have_text(before)
        said = box.locator(".sample").text_content()
        text = said[1 : said.index("”")]
        fault = agreement.fault(text.replace(".", " .").split())
        right += not fault
        assert ("✓ A sentence of the grammar." in said) == (not fault)
        if fault:
            assert f"No sentence of the grammar: {fault.partition(' must')[0]}, " in said
        if count > 1:
            assert said.endswith(f"So far {right} of {count} were, at temperature 1.6.")
    box.get_by_role("slider", name="temperature").fill("0.5")
    box.get_by_role("button", name="Write on").press("Enter")
    expect(box.locator(".sample")).not_to_contain_text("So far")


def test_written_at_hardly_any_temperature_it_takes_the_likeliest(page: Page, base_url: str) -> None:
    page.add_init_script("Math.random = () => 0.5")
    box = opened(page, base_url + CHAPTER, "language-model")
    field(box).fill("the dogs")
    box.get_by_role("slider", name="temperature").fill("0.1")
    words = "the dogs"
    while not words.endswith(".") and len(words.split()) < 60:
        cumulated = chances(words, 0.1).cumsum(-1)
        words += f" {models.WORDS[int((cumulated > 0.5).nonzero()[0])]}"
    box.get_by_role("button", name="Write on").click()
    expect(box.locator(".sample")).to_contain_text(f"“{words.replace(' .', '.')}”")


# ---- how it looks ----


@pytest.mark.parametrize("model", openable())
def test_an_open_playground_is_accessible_in_both_modes(page: Page, base_url: str, model: str) -> None:
    box = opened(page, base_url + CHAPTER, model)
    box.get_by_role("checkbox", name=re.compile("^head")).check()
    field(box).press("End")
    page.keyboard.type("w")  # words are offered
    page.evaluate(AXE)
    troubles = []
    for colours in ("light", "dark"):
        page.emulate_media(color_scheme=colours)
        troubles += [f"{colours}: {line}" for line in violations(page, RULES)]
    assert not troubles, "\n".join(troubles)


# ---- the directive ----

SETTINGS = f"""
import sys
sys.path.append({str(BOOK)!r})
extensions = ["myst_nb", "_ext.playground"]
nb_execution_mode = "off"
"""
PAGE = """# A page

```{playground} translator
*Elsewhere.*
```

```{playground} language-model slim
*Elsewhere.*
```

```{playground} interpreter
```
"""


def test_the_directive_has_a_model_beside_the_page_and_tells_of_a_wrong_one(tmp_path: Path) -> None:
    messages, page = build(tmp_path, "html")
    boxes = BeautifulSoup((page / "index.html").read_text("utf-8"), "html.parser").select(".playground")
    assert [box["data-model"] for box in boxes] == [*openable()]
    assert "Elsewhere." not in str(boxes[0].parent)
    for model in openable():
        stored = (page / f"_static/model-{model}.js").read_text("utf-8")
        assert stored == f'stored["{model}"] = {json.dumps(exported(model), separators=(",", ":"))};\n'
    told = "a playground can't be made: 'interpreter' is none of translator, language-model"
    assert f"index.md:11: ERROR: {told}" in messages


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
        files = [BOOK / "_static" / name for name in ("transformer.js", "workbench.js")]
        sizes = [len(gzip.compress(file.read_bytes())) for file in files]
        size = sum(sizes) + len(gzip.compress(playground.script(model).encode()))
        assert box.button.get_text() == f"Open the model here ({size / 1000:.0f} kB)"


@pytest.mark.parametrize("given", [("interpreter", "full"), ("translator", "tall")])
def test_a_model_or_a_form_that_there_is_not_is_told(given: tuple[str, str]) -> None:
    with pytest.raises(ValueError, match=r"^'(interpreter|tall)' is none of "):
        playground.closed(*given)
