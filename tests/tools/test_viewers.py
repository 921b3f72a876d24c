"""A chapter as readers open it: in a real JupyterLab, and in viewers of notebooks on the web."""

import difflib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from nbformat import NotebookNode
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect
from stand_in_binder import address_of

from bookkit.mime_types import DRAWING, FIGURE, PICTURE
from tools import lab
from tools.chapters import notebooks, refresh

pytestmark = pytest.mark.weekly

CHAPTER = "what-is-attention"
WRONG = """def my_soft_lookup(query, key, value, temperature):
    scores = query @ key.mT * temperature
    weights = scores.softmax(-1)
    return weights @ value, weights


check_soft_lookup(my_soft_lookup)"""
# Until the notebook is read and its kernel is there; the indicator says "idle" before there is one, too.
READY = """async () => {
  const { context, sessionContext } = jupyterapp.shell.currentWidget;
  await Promise.all([context.ready, sessionContext.ready]);
}"""
MOST_LINES = 20  # that running all and saving may change


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the book, for JupyterLab to write into."""
    folder = tmp_path_factory.mktemp("lab") / "book"
    shutil.copytree(notebooks.BOOK, folder, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


@pytest.fixture(scope="module")
def address(book: Path) -> Iterator[str]:
    """A JupyterLab with a fresh profile and the book's own settings, and every cell drawn at once."""
    home = book.parent
    settings = lab.settle(home).parent
    overrides = json.loads((settings / "overrides.json").read_text())
    overrides["@jupyterlab/notebook-extension:tracker"] = {"windowingMode": "none"}
    (settings / "overrides.json").write_text(json.dumps(overrides))
    options = {
        "ServerApp.port": 0, "ServerApp.root_dir": book, "ServerApp.ip": "127.0.0.1",
        "IdentityProvider.token": "", "ServerApp.password": "", "LabApp.app_settings_dir": settings,
        "LabApp.expose_app_in_browser": True, "LabApp.news_url": "",
    }  # fmt: skip
    command = [sys.executable, "-m", "jupyter", "lab", "--no-browser", "--allow-root"]
    command += [f"--{name}={value}" for name, value in options.items()]
    own = {
        name: str(home / name.lower()) for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")
    }
    server = subprocess.Popen(command, env=os.environ | own)
    try:
        yield f"{address_of(server, Path(own['JUPYTER_RUNTIME_DIR']))}lab/tree/{CHAPTER}.ipynb"
    finally:
        server.terminate()
        server.wait()


@pytest.fixture(scope="module")
def page(browser: Browser, address: str) -> Iterator[Page]:
    with browser.new_context(viewport={"width": 1280, "height": 900}) as context:
        opened = context.new_page()
        opened.goto(address)
        opened.locator(".jp-Notebook .jp-Cell").first.wait_for()
        opened.evaluate(READY)
        opened.locator(".vega-embed canvas, .vega-embed svg.marks").wait_for()  # the chart comes last
        yield opened


def do(page: Page, command: str) -> None:
    page.evaluate("command => window.jupyterapp.commands.execute(command)", command)


def saved(page: Page, book: Path) -> list[str]:
    """The lines of the file as JupyterLab leaves it."""
    do(page, "docmanager:save")
    return (book / f"{CHAPTER}.ipynb").read_text(encoding="utf-8").splitlines()


def stored_cells() -> list[NotebookNode]:
    return notebooks.code_cells(notebooks.read(notebooks.BOOK / f"{CHAPTER}.ipynb"))


def changed(before: list[str], after: list[str]) -> list[str]:
    found = difflib.unified_diff(before, after, n=0, lineterm="")
    return [line[:200] for line in found if line[0] in "+-" and not line.startswith(("+++", "---"))]


@pytest.fixture(scope="module")
def before() -> list[str]:
    return (notebooks.BOOK / f"{CHAPTER}.ipynb").read_text(encoding="utf-8").splitlines()


def test_opening_and_saving_changes_nothing(page: Page, book: Path, before: list[str]) -> None:
    assert changed(before, saved(page, book)) == []


def test_before_anything_is_run_figures_are_seen_and_said_and_solutions_folded(page: Page) -> None:
    figures = page.locator(".jp-OutputArea img[src^='data:image/svg']")
    shown = [data for cell in stored_cells() for data in notebooks.displays(cell)]
    stored = [data for data in shown if {FIGURE, DRAWING} & data.keys()]
    assert figures.count() == len(stored)
    for figure, data in zip(figures.all(), stored, strict=True):
        assert figure.evaluate("image => image.naturalWidth") > 100
        assert figure.get_attribute("alt") == data["text/plain"]
    see_that_solutions_are_folded(page)


def see_that_solutions_are_folded(page: Page) -> None:
    """A folded cell shows its first line, to be clicked."""
    folded = sum("hide-cell" in cell.metadata.get("tags", []) for cell in stored_cells())
    assert page.locator(".jp-InputPlaceholder", has_text="def solution").count() == folded
    assert page.locator(".jp-InputArea-editor:visible", has_text="def solution").count() == 0


@pytest.fixture(scope="module")
def run(page: Page) -> Page:
    do(page, "notebook:run-all-cells")
    expect(page.locator(".jp-Notebook-ExecutionIndicator[data-status=idle]")).to_be_attached()
    return page


def test_after_running_all_no_cell_has_failed(run: Page) -> None:
    assert run.locator("[data-mime-type='application/vnd.jupyter.stderr']").count() == 0
    figures = run.locator(".jp-OutputArea img[src^='data:image/svg']")
    assert all(figure.get_attribute("alt") for figure in figures.all())
    see_that_solutions_are_folded(run)
    assert run.get_by_text("(the book's solution, not yours)").count() > 0


def test_running_all_and_saving_changes_few_lines_and_refreshing_none(
    run: Page, book: Path, before: list[str], tmp_path: Path
) -> None:
    difference = changed(before, saved(run, book))
    assert len(difference) <= MOST_LINES, "\n".join(difference)
    chapter = tmp_path / f"{CHAPTER}.ipynb"
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@example.org"]
    shutil.copy(notebooks.BOOK / chapter.name, chapter)
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "As it was"]):
        subprocess.run([*git, *command], check=True)
    shutil.copy(book / chapter.name, chapter)
    refresh.refresh(chapter, everything=False)
    assert chapter.read_bytes() == (notebooks.BOOK / chapter.name).read_bytes()


def test_arrow_keys_move_a_slider_and_fold_nothing(run: Page) -> None:
    cells = run.locator(".jp-Notebook .jp-Cell:visible")
    seen = cells.count()
    slider = run.locator(".vega-bind input[type=range]").first
    slider.scroll_into_view_if_needed()
    slider.focus()
    value = float(slider.input_value())
    for key in ("ArrowLeft", "ArrowLeft", "ArrowLeft", "ArrowRight"):
        run.keyboard.press(key)
    assert float(slider.input_value()) < value
    assert cells.count() == seen


def write(cell: Locator, source: str) -> None:
    cell.locator(".cm-content").click()
    cell.page.keyboard.press("ControlOrMeta+a")
    cell.page.keyboard.insert_text(source)
    cell.page.keyboard.press("Control+Enter")


def test_an_exercise_is_done_wrong_and_then_right(run: Page) -> None:
    call = "check_soft_lookup("
    (books,) = (
        cell.source for cell in stored_cells() if "def solution" in cell.source and call in cell.source
    )
    cell = run.locator(".jp-CodeCell", has_text="def my_soft_lookup").first
    report = cell.locator(".jp-OutputArea")
    write(cell, WRONG)
    expect(report).to_contain_text("A high temperature must bring them together: divide.")
    write(cell, books.replace("solution", "my_soft_lookup"))
    expect(report).to_contain_text("soft_lookup: passed")


# ---- viewers on the web: the pages that nbconvert makes ----


CHAPTERS = notebooks.chapters()
# How many colours an image has, and how many of its pixels are light.
COUNTS = """image => {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [image.naturalWidth, image.naturalHeight];
  const context = canvas.getContext("2d");
  context.drawImage(image, 0, 0);
  const pixels = new Uint32Array(context.getImageData(0, 0, canvas.width, canvas.height).data.buffer);
  const light = pixels.filter(pixel => (pixel & 255) > 128 && pixel >>> 24 == 255).length;
  return [new Set(pixels).size, light / pixels.length];
}"""


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, BeautifulSoup]:
    """Each chapter's page."""
    folder = tmp_path_factory.mktemp("viewers")
    command = [sys.executable, "-m", "nbconvert", "--log-level=ERROR", "--to=html", f"--output-dir={folder}"]
    subprocess.run([*command, *CHAPTERS], check=True)
    made = {chapter: folder / f"{chapter.stem}.html" for chapter in CHAPTERS}
    return {chapter: BeautifulSoup(page.read_text("utf-8"), "html.parser") for chapter, page in made.items()}


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda path: path.stem)
def test_every_figure_and_chart_is_seen_in_its_colours(
    pages: dict[Path, BeautifulSoup], window: BrowserContext, chapter: Path
) -> None:
    kinds = {FIGURE, PICTURE, DRAWING}
    cells = notebooks.code_cells(notebooks.read(chapter))
    pictures = sum(len(kinds & {*data}) for cell in cells for data in notebooks.displays(cell))
    shown = [image["src"] for image in pages[chapter].select("img")]
    assert len(shown) == pictures
    tab = window.new_page()
    # Without the page's scripts and styles, which would come from the network.
    tab.set_content("".join(f'<img src="{source}">' for source in shown))
    for number, image in enumerate(tab.locator("img").all()):
        colours, light = image.evaluate(COUNTS)
        assert colours > 20, f"image {number}"
        assert light > 0.5, f"image {number}"
    tab.close()
