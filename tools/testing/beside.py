"""What a run of the tests needs and can wait for: the browser and the site are made beside the first tests.

Tests that look at the site wait until it is there (tests/conftest.py), so they need not be begun later.
"""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

from tools import ROOT

# In the tests' environment: a file that is written when the site is there, or can't be.
SITE = "ATTNLAB_SITE"
READY = ROOT / "_build" / "site.ready"
MADE = "made"


def await_site() -> str:
    """`await_site()` is "" once the site is there, or why it is not; at once where nobody is making it."""
    if SITE not in os.environ:
        return ""
    while not READY.exists():
        time.sleep(0.1)
    said = READY.read_text(encoding="utf-8")
    return "" if said == MADE else said


class Beside:
    """`Beside(["tools.site.build"], failed=stop).start()` runs such modules in turn, in the background."""

    def __init__(self, *modules: list[str], failed: Callable[[], object]) -> None:
        self.modules, self.failed = modules, failed
        self.said = ""
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        READY.parent.mkdir(exist_ok=True)
        READY.unlink(missing_ok=True)
        self._thread.start()

    def _run(self) -> None:
        for module in self.modules:
            done = program("-m", *module)
            if done.returncode:
                self.said = done.stdout.strip()
                note(READY, self.said)
                self.failed()
                return
        note(READY, MADE)


def note(file: Path, text: str) -> None:
    """Written elsewhere first: who waits for the file finds all of it."""
    fresh = file.with_suffix(".new")
    fresh.write_text(text, encoding="utf-8")
    fresh.replace(file)


def program(*words: str) -> subprocess.CompletedProcess[str]:
    """What this Python did with these words; its errors stand among what it said."""
    return subprocess.run(
        [sys.executable, *words],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
