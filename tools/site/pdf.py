"""Print the whole book to _build/attention-measured.pdf, with pictures in the place of the charts."""

import sys
import time
from typing import Any

from playwright.sync_api import sync_playwright

from tools import ROOT
from tools.site.browser import launch
from tools.site.build import COMMAND, sphinx

BOOK = ROOT / "_build" / "singlehtml" / "index.html"
PDF = ROOT / "_build" / "attention-measured.pdf"
SHEET: dict[str, Any] = {
    "format": "A4",
    "margin": dict.fromkeys(("top", "bottom", "left", "right"), "20mm"),
    "print_background": True,
}
NUMBER = '<p style="width: 100%; font-size: 9px; text-align: center"><span class="pageNumber"></span></p>'


def main() -> None:
    started = time.monotonic()
    print("pdf: putting the chapters onto one page", flush=True)
    command = [*COMMAND, "--builder", "singlehtml"]
    status, _ = sphinx(command, "pdf")
    if status:
        sys.exit("pdf: the book can't be built: `make book` says why")
    with sync_playwright() as playwright:
        try:
            browser = launch(playwright)
        except FileNotFoundError as error:
            sys.exit(f"pdf: {error}")
        page = browser.new_page()
        page.goto(BOOK.as_uri())
        # Figures far down the page wait to be scrolled to.
        page.evaluate("document.querySelectorAll('img').forEach(image => image.loading = 'eager')")
        page.wait_for_load_state("networkidle")
        page.pdf(
            path=PDF,
            **SHEET,
            display_header_footer=True,
            header_template="<p></p>",
            footer_template=NUMBER,
            tagged=True,
            outline=True,
        )
    print(f"pdf: {PDF.relative_to(ROOT)} is ready in {time.monotonic() - started:.0f} s")


if __name__ == "__main__":
    main()
