"""A bench on a page of its own, from a folder, with the scripts and styles that a chapter would load."""

from pathlib import Path

from playwright.sync_api import Page

from _ext import playground
from bookkit.playground import openable
from bookkit.registry import BOOK

# Whoever waits for `busy` waits until the model has read, and the page shows it.
OPEN = """
window.bench = benches[stored[NAME].kind](document.querySelector(".playground"), stored[NAME]);
const run = bench.run;
bench.run = function () { return (window.busy = run.call(this)); };
"""


def bare_bench(page: Page, name: str, folder: Path, view: str) -> None:
    """`bare_bench(page, "translator", tmp_path, "reach")` opens this model's bench and one of its views."""
    files = openable()[name].files
    at = (BOOK / "_static").as_uri()
    styles = [
        f'<link rel="stylesheet" href="{at}/{file}">' for file in ("book.css", *files) if ".css" in file
    ]
    scripts = [f'<script src="{at}/{file}"></script>' for file in files if file.endswith(".js")]
    weights = folder / "weights.js"
    weights.write_text(playground.script(name), "utf-8")
    parts = [
        '<!doctype html><html lang="en" data-content_root="./"><meta charset="utf-8"><title>A bench</title>',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        *styles,
        f'<main class="page"><h1>A bench</h1><div class="playground" data-model="{name}" data-form="full">',
        '<p class="unseen" role="status"></p></div></main><script>const stored = {}, benches = {};</script>',
        *scripts,
        '<script src="weights.js"></script>',
        f"<script>{OPEN.replace('NAME', repr(name))}</script></html>",
    ]
    path = folder / "bench.html"
    path.write_text("\n".join(parts), "utf-8")
    page.goto(path.as_uri())
    page.wait_for_function("bench.input")
    page.evaluate("view => { bench.look(view); return bench.run(); }", view)


def settled(page: Page) -> None:
    """Until the model has read once more, changed as it is now."""
    page.evaluate("() => window.busy")
