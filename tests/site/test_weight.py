"""Opening a page stays light, and so does all that can come after."""

from browser import weigh
from playwright.sync_api import Browser

OPEN, ALL = 150_000, 450_000  # bytes, compressed


def test_pages_are_light(browser: Browser, base_url: str, pages: list[str]) -> None:
    for name in pages:
        opened, used = weigh(browser, base_url + name)
        assert opened <= OPEN, f"opening {name} takes {opened} bytes"
        assert used <= ALL, f"using all of {name} takes {used} bytes"
