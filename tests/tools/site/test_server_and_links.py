"""What stands between the built site and the browser; and whether the links that lead out are alive."""

import gzip
import urllib.error
import urllib.request
from types import SimpleNamespace

import pytest

from tools.site import browser, links
from tools.site.server import serving


def test_the_system_s_chromium_comes_first(monkeypatch, tmp_path):
    chromium = tmp_path / "chromium"
    chromium.touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert browser.program(SimpleNamespace()) == chromium


PAGE = '<base href="/fork/">' + "text " * 500


@pytest.fixture
def address(tmp_path):
    """Of a site whose every file of text, small or not, has these words."""
    names = ("404.html", "small.js", "data.json", "robots.txt", "sitemap.xml", "styles.css", "drawing.svg")
    for name in names:
        tmp_path.joinpath(name).write_text(PAGE)
    tmp_path.joinpath("picture.png").write_bytes(b"PNG")
    with serving(tmp_path) as address:
        yield address


def get(address, **headers):
    asked = {name.replace("_", "-"): value for name, value in headers.items()}
    with urllib.request.urlopen(urllib.request.Request(address, headers=asked)) as answer:
        return answer.headers, answer.read()


def test_the_server_compresses_text_and_stands_where_the_site_will(address, tmp_path):
    assert address.endswith("/fork/")
    for file in tmp_path.iterdir():
        headers, body = get(f"{address}{file.name}?q=1", Accept_Encoding="gzip, br")
        assert headers["Vary"] == "Accept-Encoding"
        if file.suffix == ".png":
            assert (headers["Content-Encoding"], body) == (None, b"PNG")
        else:
            assert headers["Content-Encoding"] == "gzip"
            assert int(headers["Content-Length"]) == len(body) < len(PAGE)
            assert gzip.decompress(body).decode() == PAGE
    with pytest.raises(urllib.error.HTTPError, match="404"):
        get(address + "missing.html")
    headers, body = get(address + "404.html")
    assert (headers["Content-Encoding"], body.decode()) == (None, PAGE), "who can't unpack gets it as it is"


def test_what_a_browser_has_does_not_come_again_until_it_changes(address, tmp_path):
    headers, _ = get(address + "small.js", Accept_Encoding="gzip")
    assert headers["Cache-Control"] == "no-cache"  # ask each time
    kept = {"Accept_Encoding": "gzip", "If_None_Match": headers["ETag"]}
    with pytest.raises(urllib.error.HTTPError, match="304"):
        get(address + "small.js", **kept)
    tmp_path.joinpath("small.js").write_text("changed")
    _, body = get(address + "small.js", **kept)
    assert gzip.decompress(body) == b"changed"


# ---- links ----


def link(status: str, info: str = "", filename: str = "a.md", line: int = 3) -> dict[str, object]:
    return {"uri": "https://a.org", "filename": filename, "lineno": line, "status": status, "info": info}


@pytest.mark.parametrize(
    ("answers", "status", "words"),
    [
        ([link("working"), link("broken", "403 Client Error: Forbidden")], 0, "4 pages asked, 2 refused"),
        ([link("redirected"), link("broken", "Read timed out")], 1, "0 refused a program, 2 dead"),
        ([link("broken", "Failed to resolve 'a.org'")], 2, "none of 2 pages answers: is there a network?"),
    ],
)
def test_what_the_answers_come_to(answers, status, words, monkeypatch, capsys):
    monkeypatch.setattr(links, "ask", lambda command, folder: answers)
    assert links.main() == status
    said = capsys.readouterr()
    assert words in said.out + said.err
    assert len(said.err.splitlines()) == (status == 2)
