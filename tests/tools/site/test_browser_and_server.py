"""What stands between the built site and the browser that looks at it."""

import gzip
import urllib.error
import urllib.request
from types import SimpleNamespace

import pytest

from tools.site import browser
from tools.site.server import serving


def test_a_missing_chromium_is_told_in_one_line(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    playwright = SimpleNamespace(chromium=SimpleNamespace(executable_path=str(tmp_path / "chrome")))
    with pytest.raises(FileNotFoundError, match=r"^there is no Chromium: install one \(Debian .*\)$"):
        browser.program(playwright)


def test_the_system_s_chromium_comes_first(monkeypatch, tmp_path):
    chromium = tmp_path / "chromium"
    chromium.touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert browser.program(SimpleNamespace()) == chromium


def test_the_server_compresses_text_and_stands_where_the_site_will(tmp_path):
    page = '<base href="/fork/">' + "text " * 500
    tmp_path.joinpath("404.html").write_text(page)
    tmp_path.joinpath("picture.png").write_bytes(b"PNG")
    with serving(tmp_path) as address:
        assert address.endswith("/fork/")
        with urllib.request.urlopen(address + "404.html?q=1") as answer:
            body = answer.read()
        assert gzip.decompress(body).decode() == page
        with urllib.request.urlopen(address + "picture.png") as answer:
            assert answer.read() == b"PNG"
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(address + "missing.html")
