"""A page with nothing but one playground, made of the files that are here: no site need be built for it."""

from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from _ext import playground
from bookkit.playground import VIEWS
from bookkit.registry import BOOK

PAGE = """<!doctype html><html lang="en" data-content_root="./"><meta charset="utf-8">
<meta name="viewport" content="width=device-width"><title>A bench</title>
<link rel="stylesheet" href="_static/book.css"><main>{closed}</main>
<script src="_static/playground.js"></script></html>"""

# What a bench draws is the same in every run.
SEEDED = "{ let last = 1; Math.random = () => (last = (48271 * last) % 2147483647) / 2147483647; }"


def bench_page(folder: Path, model: str, form: str = "full") -> str:
    """`page.goto(bench_page(tmp_path, "translator"))`: the address of a page in that folder."""
    static = ["book.css", "playground.js"]
    files = playground.files(model) | {view: playground.bundled(view) for view in VIEWS}
    files |= {name: (BOOK / "_static" / name).read_bytes() for name in static}
    for name, content in files.items():
        path = folder / "_static" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    closed, _ = playground.closed(model, form)
    (folder / "page.html").write_text(PAGE.format(closed=closed), "utf-8")
    return (folder / "page.html").as_uri()


def opened_bench(
    page: Page, folder: Path, model: str, text: str | None = None, form: str = "full"
) -> Locator:
    """The playground of this model, opened, with this text in its field."""
    page.add_init_script(SEEDED)
    page.goto(bench_page(folder, model, form))
    box = page.locator(".playground")
    box.get_by_role("button", name="Open the model here").click()
    expect(box.get_by_role("textbox").first).to_be_focused()
    if text is not None:
        box.get_by_role("textbox").first.fill(text)
    return box
