"""Guided tours: each step sets what its link says and tells its numbers; at the end all is as it was."""

import re

import pytest
from bench_page import PAGES, TEXTS, troubles
from playwright.sync_api import expect
from tiers import left_to

NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
BENCH = """const bench = [...doors].find(([{ dataset }]) => dataset.model === model)[1].bench;
const state = () => JSON.stringify(stateOfBench(bench));"""
MADE_OWN = f"""async ([model, text]) => {{ {BENCH}
  await bench.put(text);
  await bench.change((changes) => changes.off.add(`${{bench.stacks.at(-1).layers[1].parts[0].attention}} 1`), "a head off");
  return state(); }}"""  # noqa: E501
# Which of the fields of a link the bench has otherwise, once all is set.
SET_OTHERWISE = f"""([model, hash]) => {{ {BENCH}
  if (bench.restoring) return null;
  const [is, asked] = [JSON.parse(state()), stateOf(hash)];
  const alike = (name) => name === "carried" ? is[name].length === asked[name].length : `${{is[name]}}` === `${{asked[name]}}`;
  const others = Object.keys(asked).filter((name) => name !== "unknown" && !alike(name));
  return [...others, bench.trouble.textContent].join(" "); }}"""  # noqa: E501


@pytest.mark.parametrize("model", left_to(pytest.mark.thorough, PAGES, but=["language-model"]))
def test_a_tour_sets_and_tells_what_is_there_and_gives_back_what_was(page, base_url, model):
    found = troubles(page)
    page.goto(base_url + PAGES[model])
    box = page.locator(f".playground[data-model={model}]")
    box.get_by_role("button", name="Open the model here").click()
    expect(box.get_by_role("textbox").first).to_be_visible()
    own = page.evaluate(MADE_OWN, [model, TEXTS[model]])
    tour = page.locator(f".tour[data-model={model}]")
    tour.locator("summary").click()
    steps = tour.get_by_role("listitem").all()
    steps[0].get_by_role("link").click()
    for number, step in enumerate(steps, 1):
        told = box.get_by_role("group", name="Guided tour").get_by_role("status")
        expect(told).to_contain_text(f"Step {number} of {len(steps)}:")
        link = step.get_by_role("link")
        expect(link).to_have_attribute("aria-current", "step")
        asked = [model, link.get_attribute("href")]
        assert page.wait_for_function(
            f"asked => {{ const is = ({SET_OTHERWISE})(asked); return is !== null && [is] }}", arg=asked
        ).json_value() == [""]
        there = NUMBER.findall(box.inner_text().replace(told.inner_text(), ""))
        assert set(NUMBER.findall(step.inner_text())) <= {*there}, step.inner_text()
        page.keyboard.press("Enter")  # the button that leads on has the focus
    box.get_by_role("button", name="Back to what I had").click()
    expect(box.get_by_role("group", name="Guided tour")).to_have_count(0)
    expect(box.get_by_role("status")).to_have_text("All is as it was before the tour.")
    now = page.evaluate(f"model => {{ {BENCH} return state(); }}", model)
    assert now == own, (now, own)
    assert not found
