"""Every bench in every view: in both colours, on a narrow phone, by keyboard, on paper."""

from pathlib import Path

import pytest
from accessible import AXE, RULES, violations
from bench_page import opened_bench
from bench_state import changed, looked
from playwright.sync_api import Locator, Page, expect

from bookkit.playground import openable

WEEKLY = pytest.mark.weekly
pytestmark = pytest.mark.thorough
VIEWS = ("Looks and effects", "Step by step", "Reach in")
SCREENS = {"wide": {"width": 1280, "height": 900}, "phone": {"width": 320, "height": 700}}
WITHOUT_FETCHING = RULES | {"preload": False}  # from a folder axe can't fetch the styles once more
each_model_and_view = pytest.mark.parametrize(
    ("model", "view"),
    [
        pytest.param(model, view, marks=[WEEKLY] * ((model, view) != ("translator", "Looks and effects")))
        for model in openable()
        for view in VIEWS
    ],
)


def in_view(page: Page, folder: Path, model: str, view: str) -> Locator:
    """With something changed, and all that is folded open."""
    box = opened_bench(page, folder, model)
    looked(box, view)
    changed(page, "a head", "the positions")
    for fold in box.locator("summary").all():
        if not fold.evaluate("it => it.parentElement.open"):
            fold.evaluate("it => it.click()")
    expect(box.locator(".deeds li")).to_have_count(3)
    return box


@each_model_and_view
def test_axe_finds_nothing(page: Page, tmp_path: Path, model: str, view: str) -> None:
    in_view(page, tmp_path, model, view)
    page.evaluate(AXE)
    found = []
    for screen, size in SCREENS.items():
        page.set_viewport_size(size)
        for colours in ("light", "dark"):
            page.emulate_media(color_scheme=colours)
            found += [f"{screen}, {colours}: {line}" for line in violations(page, WITHOUT_FETCHING)]
    page.emulate_media(color_scheme="light")
    assert not found, "\n".join(found)


# What is wider than the screen, and does not scroll in its own place; type and targets that are too small.
SMALL = """box => {
  const isSeen = (it) => it.checkVisibility({ visibilityProperty: true });
  const moves = (it) => it.matches(".unseen") || getComputedStyle(it).overflowX !== "visible";
  const inPlace = (it) => it && (moves(it) || inPlace(it.parentElement));
  const found = [];
  for (const it of [...box.querySelectorAll("*")].filter(isSeen)) {
    const { left, right, width, height } = it.getBoundingClientRect();
    const name = `${it.tagName} ${it.getAttribute("class") ?? ""} ${it.textContent.slice(0, 30)}`;
    if (width && (right > innerWidth + 0.5 || left < -0.5) && !inPlace(it)) found.push(`too wide: ${name}`);
    const text = [...it.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    const isSmall = parseFloat(getComputedStyle(it).fontSize) < 12;
    if (text && !it.closest(".unseen, svg") && isSmall) found.push(`type: ${name}`);
    const isTarget = it.matches("button, select, summary, input");
    if (isTarget && (width < 24 || height < 23.9)) found.push(`target: ${width} ${height} ${name}`);
  }
  return [...new Set(found)];
}"""


@each_model_and_view
def test_on_a_phone_of_320_pixels_nothing_sticks_out_or_is_too_small(
    page: Page, tmp_path: Path, model: str, view: str
) -> None:
    page.set_viewport_size(SCREENS["phone"])
    box = in_view(page, tmp_path, model, view)
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width == 320
    assert box.evaluate(SMALL) == []


@each_model_and_view
def test_all_of_it_is_reached_from_the_keyboard(page: Page, tmp_path: Path, model: str, view: str) -> None:
    """All that can be pressed; of pieces and cells that the arrow keys lead through, one."""
    box = in_view(page, tmp_path, model, view)
    controls = (
        "it => it.matches(':is(button, select, input, textarea, summary, a[href]):enabled, summary, a[href]')"
    )
    wanted = box.evaluate(
        f"""box => [...box.querySelectorAll("*")].filter({controls})
        .filter((it) => it.checkVisibility({{ visibilityProperty: true }}) && it.tabIndex >= 0).length"""
    )
    box.evaluate("it => it.before(Object.assign(document.createElement('a'), { href: '#' }))")
    box.locator("xpath=preceding-sibling::a").focus()
    reached = set()
    for _ in range(wanted + 40):
        page.keyboard.press("Tab")
        inside, name = page.evaluate(
            """() => {
              const it = document.activeElement;
              window.numbered ??= new Map();
              if (!numbered.has(it)) numbered.set(it, numbered.size);
              return [Boolean(it.closest(".playground")), numbered.get(it)];
            }"""
        )
        if not inside:
            break
        reached.add(name)
    assert len(reached) >= wanted > 12


@each_model_and_view
def test_on_paper_stands_what_was_shown(page: Page, tmp_path: Path, model: str, view: str) -> None:
    box = in_view(page, tmp_path, model, view)
    page.emulate_media(media="print")
    expect(box.get_by_role("textbox").first).to_be_visible()
    expect(box.locator(".view > *").first).to_be_visible()
    expect(box.locator(".deeds")).to_contain_text("a head")
    # What a reader presses is of no use there.
    assert box.get_by_role("button", name="undo").filter(visible=True).count() == 0
    assert box.get_by_role("group", name="Ways to look at it").filter(visible=True).count() == 0
    page.emulate_media(media="screen")
