"""The Chromium that checks the pages, prints the book and measures its speed; and how it comes to be here.

`python -m tools.site.browser` installs it where it is missing, with --firefox the second engine, too.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import Browser, Page, Playwright, Request, sync_playwright

CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FIREFOX = ("firefox-esr", "firefox")
# Without these Chromium runs errands of its own on the network: the only requests are to be the page's.
OPTIONS = ["--disable-quic", "--disable-background-networking"]


def program(playwright: Playwright) -> Path:
    """The system's Chromium, or the one that Playwright has downloaded."""
    found = Path(first_of(CHROMIUM) or playwright.chromium.executable_path)
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
    page.evaluate("document.querySelectorAll('details.cover').forEach(cover => cover.open = true)")
    page.evaluate("document.querySelectorAll('img').forEach(image => image.loading = 'eager')")
    # Asked by the clock: a page that is drawn late on a busy machine has no frames to be asked at.
    page.wait_for_function("Array.from(document.images).every(image => image.complete)", polling=100)
    if page.locator(".chart").count():
        # Of a choice, the option that is chosen: the arrow moves on from it.
        page.locator(".chart input[type=range], .chart input:checked").first.press("ArrowRight")
        page.wait_for_function("document.querySelector('.chart [role=status]').textContent")
    sizes = [size["responseBodySize"] + size["responseHeadersSize"] for size in map(Request.sizes, answered)]
    return sum(sizes[:opened]), sum(sizes)


# ---- installing ----


def first_of(names: tuple[str, ...]) -> str | None:
    return next((path for name in names if (path := shutil.which(name))), None)


def install_with_apt(packages: list[str]) -> None:
    print(f"setup: installing {' and '.join(packages)} with apt-get, to check the pages with", flush=True)
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    for words in (["update"], ["install", "-y", "--no-install-recommends", *packages]):
        subprocess.run(["apt-get", "-qq", *words], env=environment, stdout=subprocess.DEVNULL, check=False)


def main() -> None:
    """Chromium must be there in the end; Firefox, where asked for and where apt can bring it."""
    wanted = {"chromium": CHROMIUM} | ({"firefox-esr": FIREFOX} if "--firefox" in sys.argv else {})
    missing = [package for package, names in wanted.items() if not first_of(names)]
    # On Debian and Ubuntu as root, which is what containers run as.
    if missing and shutil.which("apt-get") and os.geteuid() == 0:
        install_with_apt(missing)
    if first_of(CHROMIUM):
        return
    with sync_playwright() as playwright:
        if not Path(playwright.chromium.executable_path).exists():
            print("setup: downloading Playwright's Chromium, to check the pages with", flush=True)
            command = [sys.executable, "-m", "playwright", "install", "chromium"]
            subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        try:
            program(playwright)
        except FileNotFoundError as reason:
            sys.exit(f"setup: {reason}")


if __name__ == "__main__":
    main()
