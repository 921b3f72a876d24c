"""A playground of the built site, opened."""

from bench_page import field
from playwright.sync_api import Locator, Page, expect

HOME, CHAPTER, GPT_CHAPTER = "index.html", "the-transformer.html", "a-gpt-of-your-own.html"
INSIDE_CHAPTER = "looking-inside.html"
PAGES = {"translator": CHAPTER, "language-model": CHAPTER, "induction": INSIDE_CHAPTER, "gpt": GPT_CHAPTER}


def opened(page: Page, address: str, model: str) -> Locator:
    """The playground of this model, after its button was pressed."""
    page.goto(address)
    box = page.locator(f".playground[data-model={model}]")
    press(box)
    expect(field(box)).to_be_focused()
    return box


def press(box: Locator) -> None:
    """Press its button from a script: on a mouse's way there the playground could open by itself."""
    box.get_by_role("button", name="Open the model here").evaluate("button => button.click()")
