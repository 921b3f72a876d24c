"""What axe finds in a page."""

from collections.abc import Iterator

from playwright.sync_api import Page

from tools import ROOT

AXE = (ROOT / "node_modules/axe-core/axe.min.js").read_text("utf-8")
# What WCAG 2.2 asks for at levels A and AA.
RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"], "resultTypes": ["violations"]}
WITHOUT_FETCHING = RULES | {"preload": False}  # from a folder axe can't fetch the styles once more


def violations(page: Page, rules: dict) -> Iterator[str]:
    """Of these rules, in a page that has run the script AXE."""
    for found in page.evaluate("rules => axe.run(rules)", rules)["violations"]:
        yield f"{found['id']} ({len(found['nodes'])}x), first in {found['nodes'][0]['html']}"


def in_both_colours(page: Page, rules: dict = RULES) -> list[str]:
    """What a page violates as it is now, in dark and in light."""
    page.evaluate(AXE)
    found = []
    for colours in ("dark", "light"):
        page.emulate_media(color_scheme=colours)
        found += [f"{colours}: {line}" for line in violations(page, rules)]
    return found
