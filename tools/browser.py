"""The Chromium that checks the pages, prints the book and measures its speed."""

import shutil
from pathlib import Path

from playwright.sync_api import Browser, Page, Playwright, Request

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# Without these Chromium runs errands of its own on the network: the only requests are to be the page's.
OPTIONS = ["--disable-quic", "--disable-background-networking"]


def program(playwright: Playwright) -> Path:
    """The system's Chromium, or the one that Playwright has downloaded."""
    installed = [path for name in NAMES if (path := shutil.which(name))]
    found = Path(*installed[:1] or [playwright.chromium.executable_path])
    if not found.exists():
        raise FileNotFoundError(
            "there is no Chromium: install one (Debian and Ubuntu: apt install chromium; elsewhere: "
            ".venv/bin/playwright install chromium)"
        )
    return found


def launch(playwright: Playwright) -> Browser:
    return playwright.chromium.launch(executable_path=program(playwright), args=OPTIONS)


def weigh(page: Page, address: str) -> tuple[int, int]:
    """What comes over the network, in bytes: to open a page for the first time, and to use all of it."""
    page.context.new_cdp_session(page).send("Network.clearBrowserCache")
    answered: list[Request] = []
    page.on("requestfinished", lambda request: answered.append(request))
    page.goto(address, wait_until="networkidle")
    opened = len(answered)
    page.evaluate("document.querySelectorAll('img').forEach(image => image.loading = 'eager')")
    page.wait_for_function("Array.from(document.images).every(image => image.complete)")
    if page.locator(".chart").count():
        # Of a choice, the option that is chosen: the arrow moves on from it.
        page.locator(".chart input[type=range], .chart input:checked").first.press("ArrowRight")
        page.wait_for_function("document.querySelector('.chart [role=status]').textContent")
    sizes = [size["responseBodySize"] + size["responseHeadersSize"] for size in map(Request.sizes, answered)]
    return sum(sizes[:opened]), sum(sizes)
