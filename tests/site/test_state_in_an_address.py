"""What a bench shows, as the end of an address and back; what else stands there is told and harms nothing.

That any state of a bench comes back so is shown in test_states_and_pytorch.py.
"""

import json
from typing import Any
from urllib.parse import quote

import pytest
from bench_page import (
    BENCH,
    TEXTS,
    bench_page,
    changed,
    deeds,
    logits,
    looked,
    opened_bench,
    put,
    state,
    troubles,
)
from node import printed
from playwright.sync_api import Locator, Page, expect
from tiers import left_to

from bookkit.playground import openable
from bookkit.registry import BOOK

SCRIPT = (BOOK / "_static/bench/state.js").read_text("utf-8")
KNOWN = {
    "views": ["steps", "looks"],
    "stacks": {"text": {"layers": 2, "heads": 4, "parts": 2, "places": 6}},
    "words": ["see", "sees"],
    "attentions": ["layers.0.self_attention", "layers.1.self_attention"],
    "tensors": {"layers.0.self_attention.mixed": 64},
    "weights": {"word.weight": [83, 64], "norm.bias": [64]},
}


def evaluated(expression: str, *given: Any) -> Any:
    """What the expression, a function of what is given, gives with the script's functions."""
    call = f"console.log(JSON.stringify(({expression})(...{json.dumps(given)}) ?? null))"
    return printed(f"{SCRIPT}\n{call}")


def asked(*fragments: str) -> list[dict[str, Any]]:
    """Of each fragment what is found in it, and what is told."""
    each = "(known, fragments) => fragments.map((fragment) => checked(stateOf(fragment), known))"
    return evaluated(each, KNOWN, fragments)


def test_any_text_comes_back_from_an_address_that_markdown_html_and_mail_leave_whole():
    state = {"open": "language-model", "text": "the king’s dog, “that” (100 %) & #1 + 1 = 2: 犬"}
    address, found = evaluated("(state) => [addressOf(state), stateOf(addressOf(state))]", state)
    assert found == state | {"unknown": []}
    assert not set(address[1:]) & set(" ()[]<>\"'#*|\\`")


def test_an_address_is_short_and_can_be_read():
    given = {"open": "translator", "text": "the cat sleeps", "mask": True, "head": 0, "layer": 1}
    usual = {"text": "a dog", "head": 0, "layer": 0}
    address = "#open=translator&text=the+cat+sleeps&layer=1"
    assert evaluated("addressOf", given, usual) == address
    off = {"open": "translator", "off": ["encoder.0.self_attention 2"], "positions": False, "rivals": []}
    assert evaluated("addressOf", off) == "#open=translator&off=encoder.0.self_attention:2&positions=off"
    assert evaluated("addressOf", {"open": "gpt", "text": ""}, usual) == "#open=gpt&text="
    # The model's changes are sets.
    sets = '() => addressOf({ open: "gpt", hidden: new Set(["text 3", "text 4"]) })'
    assert evaluated(sets) == "#open=gpt&hidden=text:3,text:4"

    # Half a letter is no trouble.
    assert evaluated('() => addressOf({ open: "gpt", text: "\\ud83d" })') == "#open=gpt&text=%EF%BF%BD"


def test_an_address_that_leads_to_a_place_sets_nothing():
    fragments = ["", "#", "#the-residual-stream", "#text=a&open=gpt", "#Open=gpt"]
    assert evaluated("(fragments) => fragments.map(stateOf)", fragments) == [None] * 5


TROUBLES = {
    "view=pictures": "There is no view “pictures” here.",
    "stack=written": "There is no stack “written” here.",
    "head=4": "There is no head “4” here: in an address they are 0 to 3.",
    "head=-1": "There is no head “-1” here: in an address they are 0 to 3.",
    "head=two": "There is no head “two” here: in an address they are 0 to 3.",
    "layer=2": "There is no layer “2” here: in an address they are 0 to 1.",
    "part=2": "There is no part “2” here: in an address they are 0 to 1.",
    "place=6": "There is no place “6” here: in an address they are 0 to 5.",
    "key=1e999": "There is no key “Infinity” here: in an address they are 0 to 5.",
    "off=layers.7.self_attention:0": "There is no attention “layers.7.self_attention” here.",
    "off=layers.0.self_attention:9": "There is no head “9” here: in an address they are 0 to 3.",
    "off=layers.0.self_attention": "There is no head “” here: in an address they are 0 to 3.",
    "hidden=text:77": "There is no place “77” here: in an address they are 0 to 5.",
    "hidden=__proto__:0": "There is no stack “__proto__” here.",
    "rivals=see,unicorn": "There is no word “unicorn” here.",
    "mask=maybe": "“mask” is on or off, and not “maybe”.",
    "temperature=hot": "The temperature is a number from 0.05 to 5.",
    "temperature=0": "The temperature is a number from 0.05 to 5.",
    "seed=1.5": "The seed is a number from 0 to 999999.",
    "numbers=word.weight:0:64:1": "There is no column “64” here: in an address they are 0 to 63.",
    "numbers=word.weight:0::1": "There is no column “” here: in an address they are 0 to 63.",
    "numbers=norm.bias:64::1": "There is no row “64” here: in an address they are 0 to 63.",
    "numbers=norm.bias:0:0:1": "“norm.bias” has no columns.",
    "numbers=norm.bias:0::1e300": "“norm.bias” can’t be set to “1e+300”.",
    "numbers=norm.bias:0": "“norm.bias” can’t be set to “”.",
    "numbers=toString:0::1": "There is no weight “toString” here.",
    "other=a&carried=text:layers.9:0": "There is no vector “layers.9” here.",
    "other=a&carried=text:layers.0.self_attention.mixed:0:4": (
        "There is no head “4” here: in an address they are 0 to 3."
    ),
    "carried=text:layers.0.self_attention.mixed:0": (
        "What is carried needs a second sentence, and the address has none."
    ),
    "colour=red": "An address can’t set “colour”.",
    "__proto__=1": "An address can’t set “__proto__”.",
    f"view={'a' * 10_000}": f"There is no view “{'a' * 30}…” here.",
}


def test_what_there_is_not_is_told_in_a_sentence_and_left_out():
    found = asked(*(f"#open=language-model&text=the+dogs&{part}" for part in TROUBLES))
    for (part, told), each in zip(TROUBLES.items(), found, strict=True):
        assert each["troubles"] == [told], part
        del each["state"]["open"], each["state"]["text"]
        left = {"other": "a"} if part.startswith("other") else {}
        assert each["state"] == left, part


def test_what_is_right_beside_what_is_wrong_is_kept():
    fragment = "#open=language-model&head=9&layer=1&off=layers.0.self_attention:1,layers.8.self_attention:1"
    (found,) = asked(fragment)
    assert found["state"] == {"open": "language-model", "layer": 1, "off": ["layers.0.self_attention 1"]}
    assert len(found["troubles"]) == 2


def test_a_text_of_ten_thousand_letters_is_cut_and_said_so():
    (found,) = asked(f"#open=language-model&text={'a' * 10_000}")
    assert found["state"]["text"] == "a" * 1000
    assert found["troubles"] == ["Of the text, only the first 1000 letters are read."]


def test_garbage_throws_nothing():
    wild = ["%", "%zz", "&&&", "==", "text=%ff", "off=:::", "off=,", "carried=,:,", "numbers=::::", "\x00"]
    wild += ["<img src=x onerror=alert(1)>", "text=" + quote("\u202e" * 50), ":" * 10_000, "," * 10_000]
    for each in asked(*(f"#open=language-model&{part}" for part in wild)):
        assert each["state"]["open"] == "language-model"
        assert len(each["troubles"]) <= 1


def test_what_a_bench_can_t_say_is_not_checked():
    """Before the text is read nobody knows how many places it has."""
    few = {"views": ["looks"], "stacks": {"text": {"layers": 2, "heads": 4, "parts": 2}}}
    fragment = "#open=gpt&place=50&rivals=a,b&off=any:3&numbers=w:1:2:3"
    found = evaluated("(fragment, known) => checked(stateOf(fragment), known)", fragment, few)
    assert found["troubles"] == []
    assert found["state"]["place"] == 50
    assert found["state"]["numbers"] == [{"name": "w", "row": 1, "column": 2, "value": 3}]


# ---- in a page ----

SHARE = "link to what is shown"
OTHERS = {
    "translator": "the hungry king 's dog will hide",
    "language-model": "the king that the king hears",
    "induction": "abcxefgabcxefgab",
    "gpt": "Return the list of nodes",
}
CHOOSING = f"""async (other) => {{ {BENCH}
  const [{{ name: stack, layers: [{{ parts: [{{ mixed, after }}] }}] }}] = bench.stacks;
  const head = {{ stack, name: mixed, place: 2, head: 1, from: 1 }};
  const carried = [head, {{ stack, name: after, place: 3 }}];
  bench.deeds.push(...(await carriedDeeds(bench, {{ other, carried }})));
  await bench.run();
  bench.restoreOwn({{ temperature: 0.7, seed: 12 }});
  const last = bench.stacks.at(-1);
  bench.choose({{ stack: last.name, layer: 1, part: 0, head: 2, place: 3, key: 1, number: 5 }});
  bench.pick([5, 9]); }}"""


def brought_back(page: Page, address: str) -> Locator:
    """The playground that a new visitor of this address finds."""
    page.goto("about:blank")
    page.goto(address)
    box = page.locator(".playground:has(input, textarea)")
    box.wait_for()
    page.wait_for_function(f"() => {{ {BENCH} return bench && bench.turn && !bench.restoring; }}")
    return box


@pytest.mark.thorough
@pytest.mark.parametrize("model", left_to(pytest.mark.weekly, openable(), but=["language-model"]))
def test_a_link_brings_back_what_was_shown(page, tmp_path, model):
    found = troubles(page)
    box = opened_bench(page, tmp_path, model)
    put(page, TEXTS[model])
    looked(box, "Reach in")
    changed(page, "a head", "the mask", "the positions", "a hidden word", "a number")
    page.evaluate(CHOOSING, OTHERS[model])
    looked(box, "Step by step")
    for _ in range(2):
        box.get_by_role("button", name="Next →").click()
    shown, numbers, title = state(page), logits(page), box.locator(".step-title").inner_text()
    assert {"off", "mask", "positions", "hidden", "numbers", "carried", "other", "rivals"} <= shown.keys()
    assert {"view", "stack", "place", "layer", "head", "key", "number", "step"} <= shown.keys()
    box.get_by_role("link", name=SHARE).click()
    expect(box.locator(".share")).to_contain_text("in the address bar")
    box = brought_back(page, page.url)
    expect(deeds(box)).to_have_count(8)
    expect(box.locator(".step-title")).to_have_text(title)
    expect(box.locator(".trouble")).to_be_empty()
    assert state(page) == shown
    assert logits(page) == numbers
    # Each of them can be taken back by itself.
    for left in range(6, -1, -1):
        deeds(box).get_by_role("button").first.click()
        expect(deeds(box)).to_have_count(left + (left > 1))
    assert not found


@pytest.mark.parametrize("model", left_to(pytest.mark.thorough, openable(), but=["language-model"]))
def test_an_address_with_hardly_anything_right_in_it_sets_that_and_opens_what_there_is(page, tmp_path, model):
    found = troubles(page)
    bad = "mask=off&view=x&stack=y&place=-1&layer=5&part=9&head=z&off=a:1&hidden=b:2&rivals=c&numbers=e:1:2:3"
    box = brought_back(page, f"{bench_page(tmp_path, model)}#open={model}&{bad}")
    expect(box.locator(".trouble")).to_contain_text("There is no view “x” here. There is no stack “y” here.")
    expect(deeds(box)).to_have_text(["the mask off undo"])  # which is right
    expect(box.get_by_role("textbox").first).not_to_have_value("")
    assert "undefined" not in box.inner_text()
    assert not found


@pytest.mark.thorough
def test_a_slim_playground_sets_what_it_can_of_an_address(page, tmp_path):
    address = bench_page(tmp_path, "translator", "slim")
    box = brought_back(page, f"{address}#open=translator&text=the+dog+sleeps&positions=off&view=steps")
    expect(box.get_by_role("button", name="Give the positions back")).to_be_visible()
    expect(box.get_by_role("textbox")).to_have_value("the dog sleeps ")
    expect(box.locator(".trouble")).to_have_text("There is no view “steps” here.")


@pytest.mark.thorough
def test_of_two_links_pressed_in_haste_the_second_counts(page, tmp_path):
    found = troubles(page)
    opened_bench(page, tmp_path, "language-model")
    carried = "other=the+king&carried=text:layers.0.self_attention.mixed:1:1"
    page.evaluate(
        f"""async (carried) => {{ {BENCH}
        const set = (state) => bench.restore(stateOf(`#open=language-model&${{state}}`));
        const first = set(`text=the+kings&mask=off&${{carried}}`);
        await Promise.all([first, set("text=the+dogs&positions=off")]); }}""",
        carried,
    )
    shown = state(page)
    assert (shown["text"], shown["positions"]) == ("the dogs", False)
    assert not {"carried", "mask"} & shown.keys()
    assert not found
