"""Chapters in viewers of notebooks on the web: the pages that nbconvert makes, the newest and an old one."""

import functools
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from bs4 import BeautifulSoup, Tag
from playwright.sync_api import BrowserContext

from bookkit import registry
from bookkit.mime_types import DRAWING, FIGURE, PICTURE
from tools.chapters import notebooks

pytestmark = pytest.mark.weekly
CHAPTERS = notebooks.chapters()
WITH_EXERCISES = [chapter.notebook for chapter in registry.chapters()]
OLD = "7.2.10"
# What the site's directives and roles look like where nobody knows them, and labels of equations.
RAW = re.compile(r"\{[a-z:-]+\}`|:::|```|\(eq-[\w-]+\)")
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
def page(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, Path], BeautifulSoup]:
    """`page("old", chapter)` as that release makes it: the old one lives in an environment of its own."""
    folder = tmp_path_factory.mktemp("viewers")
    newest = [sys.executable, "-m", "nbconvert"]
    uv = [sys.executable, "-m", "uv", "tool", "run", "--quiet", "--from", f"nbconvert=={OLD}"]
    for name, program in {"new": newest, "old": [*uv, "jupyter-nbconvert"]}.items():
        command = [*program, "--log-level=ERROR", "--to=html", f"--output-dir={folder / name}", *CHAPTERS]
        subprocess.run(command, check=True)

    @functools.cache
    def parsed(release: str, chapter: Path) -> BeautifulSoup:
        return BeautifulSoup((folder / release / f"{chapter.stem}.html").read_text("utf-8"), "html.parser")

    return parsed


def prose(soup: BeautifulSoup) -> list[Tag]:
    return soup.select(".jp-RenderedMarkdown")


@pytest.mark.parametrize("release", ["old", "new"])
@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda path: path.stem)
def test_prose_is_prose_and_solutions_come_last(page: Callable, release: str, chapter: Path) -> None:
    soup = page(release, chapter)
    written = [cell for cell in notebooks.read(chapter).cells if cell.cell_type == "markdown"]
    assert len(prose(soup)) == len(written)
    assert not [text for text in prose(soup) if RAW.search(text.get_text())]
    before, heading, _ = soup.get_text().rpartition("\nSolutions")
    assert bool(heading) == (chapter in WITH_EXERCISES)
    assert "def solution" not in before


def images(soup: BeautifulSoup) -> list[str]:
    return [image["src"] for image in soup.select("img")]


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda path: path.stem)
def test_every_figure_and_chart_is_seen_in_its_colours(
    page: Callable, window: BrowserContext, chapter: Path
) -> None:
    cells = notebooks.code_cells(notebooks.read(chapter))
    kinds = {FIGURE, PICTURE, DRAWING}
    pictures = sum(len(kinds & {*data}) for cell in cells for data in notebooks.displays(cell))
    shown = images(page("new", chapter))
    assert len(shown) == pictures
    assert images(page("old", chapter)) == shown
    tab = window.new_page()
    # Without the page's scripts and styles, which would come from the network.
    tab.set_content("".join(f'<img src="{source}">' for source in shown))
    for number, image in enumerate(tab.locator("img").all()):
        colours, light = image.evaluate(COUNTS)
        assert colours > 20, f"image {number}"
        assert light > 0.5, f"image {number}"
    tab.close()
