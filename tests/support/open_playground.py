"""A playground, opened, and its parts."""

from playwright.sync_api import Locator, Page, expect

HOME, CHAPTER, GPT_CHAPTER = "index.html", "the-transformer.html", "a-gpt-of-your-own.html"
PAGES = {"translator": CHAPTER, "language-model": CHAPTER, "gpt": GPT_CHAPTER}


def opened(page: Page, address: str, model: str) -> Locator:
    """The playground of this model, after its button was pressed."""
    page.goto(address)
    box = page.locator(f".playground[data-model={model}]")
    box.get_by_role("button", name="Open the model here").click()
    expect(box.get_by_role("textbox")).to_be_focused()
    return box


def field(box: Locator) -> Locator:
    return box.get_by_role("textbox")
