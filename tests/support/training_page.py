"""A page with nothing but one training, made of the files that are here: no site need be built for it."""

from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from _ext import training
from bookkit.registry import BOOK

PAGE = """<!doctype html><html lang="en" data-content_root="./"><meta charset="utf-8">
<meta name="viewport" content="width=device-width"><link rel="icon" href="data:,"><title>A training</title>
<link rel="stylesheet" href="_static/book.css"><main>{closed}</main>
<script src="_static/playground.js"></script><script src="_static/training.js"></script></html>"""


def made_page(folder: Path, name: str) -> Path:
    """`made_page(tmp_path, "guests")` is a page in that folder, with all that it asks for."""
    static = ["book.css", "playground.js", "training.js"]
    files = training.files() | {file: (BOOK / "_static" / file).read_bytes() for file in static}
    (folder / "_static").mkdir(parents=True, exist_ok=True)
    for file, content in files.items():
        (folder / "_static" / file).write_bytes(content)
    (folder / "404.html").write_text('<base href="/">')
    closed, _ = training.closed(name)
    (folder / "page.html").write_text(PAGE.format(closed=closed), "utf-8")
    return folder / "page.html"


def begun(page: Page, address: str) -> Locator:
    """The training of the page, opened by its button and so begun."""
    page.goto(address)
    box = page.locator(".training")
    box.get_by_role("button", name="Train both here").click()
    expect(box.locator(".training-bench")).to_be_visible()
    return box
