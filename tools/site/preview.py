"""The moving picture of the README: the front page's translator, as one types and takes its positions away.

`make preview` makes it from the built site. A test makes it again, and refuses one that looks otherwise.
"""

import io
import sys
from collections.abc import Iterator

from PIL import Image
from playwright.sync_api import Page, ViewportSize, sync_playwright

from tools import ROOT
from tools.site.browser import launch
from tools.site.files import SITE
from tools.site.server import serving

PREVIEW = ROOT / ".github" / "preview.webp"
# So high that nothing is scrolled: a frame taken after scrolling may lie a pixel lower.
SCREEN: ViewportSize = {"width": 900, "height": 2400}
TYPED = ["the dog sleeps", "the dogs sleep", "the dogs see my house", "the dogs see my white house"]
QUICK, LONG = 1200, 2500  # milliseconds that a frame stands
TALL = 660  # pixels of the playground that are shown
# A busy machine may take a while from the click to the answer, and from the answer to the view.
REMEMBER_RUNS = """() => {
    const { run } = Workbench.prototype;
    Workbench.prototype.run = function () { return (window.running = run.call(this)); };
}"""


def scenes(page: Page) -> Iterator[int]:
    """Bring the page to one scene after the other, each with the milliseconds that it is to be seen."""
    box = page.locator(".playground")
    box.get_by_role("button", name="Open the model here").click()
    field = box.get_by_role("textbox").first
    field.wait_for()
    page.evaluate(REMEMBER_RUNS)
    for text in TYPED:
        field.fill(text)
        yield LONG if text == TYPED[-1] else QUICK
    for words in ("Take the positions away", "Give the positions back"):
        button = box.get_by_role("button", name=words)
        button.dispatch_event("click")  # without a pointer, under which things look otherwise
        yield LONG


def frames(page: Page) -> Iterator[tuple[Image.Image, int]]:
    box = page.locator(".playground")
    for milliseconds in scenes(page):
        page.evaluate("running.then(painted)")
        picture = Image.open(io.BytesIO(box.screenshot()))
        yield picture.convert("RGB"), milliseconds


def drawn(page: Page, address: str) -> list[tuple[Image.Image, int]]:
    """The frames, all of one size, each with its milliseconds; the site is served at the address."""
    page.set_viewport_size(SCREEN)
    page.goto(f"{address}index.html")
    return [(of_one_size(picture), milliseconds) for picture, milliseconds in frames(page)]


def of_one_size(picture: Image.Image) -> Image.Image:
    canvas = Image.new("RGB", (picture.width, TALL), picture.getpixel((picture.width // 2, 5)))
    canvas.paste(picture)
    return canvas


def main() -> None:
    with serving(SITE) as address, sync_playwright() as playwright:
        try:
            page = launch(playwright).new_page()
        except FileNotFoundError as error:
            sys.exit(f"preview: {error}")
        (first, _), *others = made = drawn(page, address)
    first.save(
        PREVIEW, save_all=True, append_images=[picture for picture, _ in others],
        duration=[milliseconds for _, milliseconds in made], loop=0, quality=80, method=6,
    )  # fmt: skip
    print(f"preview: {PREVIEW.relative_to(ROOT)} is ready: {PREVIEW.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
