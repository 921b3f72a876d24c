"""What a bench shows, kept in an address: brought back whole in a new page; what is not there is told."""

from pathlib import Path
from urllib.parse import quote

import pytest
from bench_page import bench_page, opened_bench
from bench_state import BENCH, changed, logits, looked, put, state, troubles
from playwright.sync_api import Locator, Page, expect

from bookkit.playground import openable

THOROUGH = pytest.mark.thorough
TEXTS = {
    "translator": "the hungry king 's dogs will hide",
    "language-model": "the kings that the king hears",
    "induction": "abcdefgabcdefgab",
    "gpt": "Return the number of nodes",
}
OTHERS = {
    "translator": "the hungry king 's dog will hide",
    "language-model": "the king that the king hears",
    "induction": "abcxefgabcxefgab",
    "gpt": "Return the list of nodes",
}
SHARE = "link to what is shown"


def address_of(page: Page, box: Locator) -> str:
    box.get_by_role("link", name=SHARE).click()
    expect(box.locator(".share")).to_contain_text("in the address bar")
    return page.url


def brought_back(page: Page, address: str) -> Locator:
    """The playground that a new visitor of this address finds."""
    page.goto("about:blank")
    page.goto(address)
    box = page.locator(".playground:has(input, textarea)")
    box.wait_for()
    page.wait_for_function(f"() => {{ {BENCH} return bench && bench.turn && !bench.restoring; }}")
    return box


@pytest.mark.thorough
@pytest.mark.parametrize(
    "model",
    [pytest.param(model, marks=[THOROUGH] * (model != "language-model")) for model in openable()],
)
def test_a_link_brings_back_what_was_shown(page: Page, tmp_path: Path, model: str) -> None:
    found = troubles(page)
    box = opened_bench(page, tmp_path, model)
    put(page, TEXTS[model])
    looked(box, "Reach in")
    changed(page, "a head", "the mask", "the positions", "a hidden word", "a number")
    page.evaluate(
        f"""async (other) => {{ {BENCH}
        const [{{ name: stack, layers: [{{ parts: [{{ mixed, after }}] }}] }}] = bench.stacks;
        const head = {{ stack, name: mixed, place: 2, head: 1, from: 1 }};
        const carried = [head, {{ stack, name: after, place: 3 }}];
        bench.deeds.push(...(await carriedDeeds(bench, {{ other, carried }})));
        await bench.run();
        bench.restoreOwn({{ temperature: 0.7, seed: 12 }});
        const last = bench.stacks.at(-1);
        bench.choose({{ stack: last.name, layer: 1, part: 0, head: 2, place: 3, key: 1, number: 5 }});
        bench.pick([5, 9]); }}""",
        OTHERS[model],
    )
    looked(box, "Step by step")
    box.get_by_role("button", name="Next →").click()
    box.get_by_role("button", name="Next →").click()
    shown, numbers, title = state(page), logits(page), box.locator(".step-title").inner_text()
    assert {"off", "mask", "positions", "hidden", "numbers", "carried", "other", "rivals"} <= shown.keys()
    assert {"view", "stack", "place", "layer", "head", "key", "number", "step"} <= shown.keys()
    address = address_of(page, box)
    box = brought_back(page, address)
    expect(box.get_by_role("list", name="What you have changed").get_by_role("listitem")).to_have_count(8)
    expect(box.locator(".step-title")).to_have_text(title)
    expect(box.locator(".trouble")).to_be_empty()
    assert state(page) == shown
    assert logits(page) == numbers
    # Each of them can be taken back by itself.
    for left in range(6, -1, -1):
        box.get_by_role("list", name="What you have changed").get_by_role("button").first.click()
        expected = left + (left > 1)
        expect(box.get_by_role("list", name="What you have changed").get_by_role("listitem")).to_have_count(
            expected
        )
    assert not found


BAD = {
    "view=pictures": "There is no view “pictures” here.",
    "view=steps&step=never": "There is no step “never” here.",
    "layer=7&view=reach": "There is no layer “7” here",
    "head=9": "There is no head “9” here",
    "place=99": "There is no place “99” here",
    "off=layers.9.self_attention:1": "There is no attention “layers.9.self_attention” here.",
    "rivals=see,unicorn": "There is no word “unicorn” here.",
    "numbers=word.weight:0:999:1": "There is no column “999” here",
    "hidden=text:50": "There is no place “50” here",
    "other=the+dogs&carried=text:layers.9.after:0": "",
    "other=&carried=text:layers.0.after:0": "needs a second sentence",
    "temperature=hot": "The temperature is a number",
    "colour=red": "An address can’t set “colour”.",
    f"text={'a' * 5000}": "Of the text, only the first 1000 letters are read.",
    f"text={quote('<img src=x onerror=alert(1)>')}": "",
}


@pytest.mark.thorough
def test_what_is_not_there_is_told_in_a_sentence_and_the_rest_is_shown(page: Page, tmp_path: Path) -> None:
    found = troubles(page)
    address = bench_page(tmp_path, "language-model")
    for bad, told in BAD.items():
        box = brought_back(page, f"{address}#open=language-model&mask=off&{bad}")
        expect(box.get_by_role("list", name="What you have changed")).to_contain_text("the mask off")
        expect(box.locator(".trouble")).to_contain_text(told)
        if not told:
            expect(box.locator(".trouble")).to_have_text("")
        assert ". " not in box.locator(".trouble").inner_text(), bad
        expect(box.locator(".next tbody tr")).to_have_count(8)
        assert "undefined" not in box.inner_text()
    assert not found


@pytest.mark.parametrize("model", openable())
def test_an_address_with_nothing_right_in_it_opens_what_there_is(
    page: Page, tmp_path: Path, model: str
) -> None:
    found = troubles(page)
    bad = "view=x&stack=y&place=-1&layer=5&part=9&head=z&key=&off=a:1&hidden=b:2&rivals=c,d&numbers=e:1:2:3"
    box = brought_back(page, f"{bench_page(tmp_path, model)}#open={model}&{bad}")
    expect(box.locator(".trouble")).to_contain_text("There is no view “x” here. There is no stack “y” here.")
    expect(box.get_by_role("textbox").first).not_to_have_value("")
    assert "undefined" not in box.inner_text()
    assert not found


@pytest.mark.thorough
def test_a_slim_playground_sets_what_it_can_of_an_address(page: Page, tmp_path: Path) -> None:
    found = troubles(page)
    address = bench_page(tmp_path, "translator", "slim")
    box = brought_back(page, f"{address}#open=translator&text=the+dog+sleeps&positions=off&view=steps")
    expect(box.get_by_role("button", name="Give the positions back")).to_be_visible()
    expect(box.get_by_role("textbox")).to_have_value("the dog sleeps ")
    expect(box.locator(".trouble")).to_have_text("There is no view “steps” here.")
    assert not found


@pytest.mark.thorough
def test_of_two_links_pressed_in_haste_the_second_counts(page: Page, tmp_path: Path) -> None:
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
