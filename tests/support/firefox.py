"""The other engine: Firefox lays out formulas and runs scripts in its own way."""

import os
import shutil
from typing import Any

import pytest
from node import output

from tools import ROOT

MISSING = "there is no Firefox: install one (Debian: apt install firefox-esr; elsewhere: from mozilla.org)"


def in_firefox(script: str, *words: str) -> Any:
    """`in_firefox("in_firefox.mjs", "trains", address)`: what that script of tests/site prints of it.

    Continuous integration must have a Firefox; on a reader's machine Chromium will do.
    """
    found = shutil.which("firefox-esr") or shutil.which("firefox")
    if not found:
        if "CI" in os.environ:
            pytest.fail(MISSING, pytrace=False)
        pytest.skip(MISSING)
    return output(str(ROOT / "tests/site" / script), found, *words)
