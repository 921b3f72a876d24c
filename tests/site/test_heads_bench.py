"""What was measured of a model too large for the page: that it is so, and how a reader looks at it."""

import base64

import torch
from accessible import WITHOUT_FETCHING, in_both_colours
from bench_page import bench_page, is_share, troubles
from browser_pages import PHONE
from playwright.sync_api import Page, expect

from _ext import playground
from attnlab.today import opened
from attnlab.today.gguf import File
from chapters.a_real_model_opened import explored
from chapters.a_real_model_opened.playground import BITS, HEADS, smollm2

MOST = 400_000  # bytes of all that comes, uncompressed: not every server compresses


def test_the_shortest_text_measured_anew_is_what_is_stored():
    file = File(opened.wheel())
    cut = opened.pieces(file)
    found = explored.measured(opened.model(file), cut, explored.TEXTS["A capital"](cut))
    stored = explored.stored()["A capital"]
    assert (found["pieces"], found["next"][0][0]) == (stored["pieces"], "·Paris")
    for what, read, most in (("removals", list, 5), ("weights", base64.b64decode, 1)):
        one, two = (torch.tensor([*read(each[what])]) for each in (found, stored))
        assert (one - two).abs().max() <= most
    for one, two in zip(found["lens"], stored["lens"], strict=True):
        assert abs(one[0][1] - two[0][1]) < 0.001


def test_a_head_of_a_text_is_chosen_by_keys_and_told_as_it_was_measured(page: Page, tmp_path):
    wrong, asked = troubles(page), []
    page.on("request", lambda request: asked.append(request.url.rpartition("/")[2]))
    assert sum(map(len, playground.files("smollm2").values())) < MOST
    page.goto(bench_page(tmp_path, "smollm2"))
    page.keyboard.press("Shift")  # at which others open as they are looked at
    assert page.evaluate("doors.size - waiting.size") == 1
    assert "model-smollm2.js" not in asked
    page.get_by_role("button", name="Look inside here").press("Enter")
    expect(page.get_by_role("button", name="A capital")).to_be_focused()
    for text in smollm2()["texts"]:
        page.get_by_role("button", name=text["name"]).press("Enter")
        worst = min(range(270), key=lambda head: text["removals"][head][0])
        key, head = ("ArrowUp", worst - HEADS) if worst >= HEADS else ("ArrowDown", worst + HEADS)
        page.locator(".heads-map [tabindex='0']").press(key)
        told = f"Head {head % HEADS} of block {head // HEADS}: from “{text['pieces'][-1]}” it looks"
        expect(page.get_by_role("status")).to_contain_text(told)
        rows = page.locator(".next tbody td:not(.bar)").all_inner_texts()
        for place, (_, chance) in enumerate(text["next"]):
            assert is_share(rows[2 * place], chance)
            assert is_share(rows[2 * place + 1], chance * 2 ** (text["removals"][head][place] / BITS))
        assert page.locator("tbody .rank").all_text_contents() == [f"{rank:,}" for rank in text["ranks"]]
    page.get_by_role("combobox").select_option("first")
    assert not in_both_colours(page, WITHOUT_FETCHING)
    page.set_viewport_size(PHONE)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert not wrong
