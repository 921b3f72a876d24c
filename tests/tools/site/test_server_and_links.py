"""What stands between the built site and the browser; and whether the links that lead out are alive."""

import gzip
import os
import shutil
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest
import yaml
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from tools import ROOT
from tools.site import browser, links
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


def test_a_server_ends_when_what_it_was_for_fails(tmp_path):
    tmp_path.joinpath("404.html").write_text(PAGE)
    others = {*threading.enumerate()}
    with suppress(ZeroDivisionError), serving(tmp_path):
        (thread,) = {*threading.enumerate()} - others
        raise ZeroDivisionError
    thread.join(10)
    assert not thread.is_alive()


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


def test_who_can_t_unpack_gets_text_as_it_is(address):
    headers, body = get(address + "404.html")
    assert (headers["Content-Encoding"], body.decode()) == (None, PAGE)


def test_what_a_browser_has_does_not_come_again_until_it_changes(address, tmp_path):
    headers, _ = get(address + "small.js", Accept_Encoding="gzip")
    assert headers["Cache-Control"] == "no-cache"  # ask each time
    kept = {"Accept_Encoding": "gzip", "If_None_Match": headers["ETag"]}
    with pytest.raises(urllib.error.HTTPError, match="304"):
        get(address + "small.js", **kept)
    tmp_path.joinpath("small.js").write_text("changed")
    _, body = get(address + "small.js", **kept)
    assert gzip.decompress(body) == b"changed"


# ---- links: asked of a server here ----


# What the server says to a request for each page.
ANSWERS = {"/there": 200, "/entry": 200, "/moved": 302, "/private": 403, "/gone": 404, "/down": 500}


class Site(BaseHTTPRequestHandler):
    asked: Counter[str]

    def do_GET(self) -> None:
        self.asked[self.path] += 1
        self.send_response(ANSWERS[self.path])
        self.send_header("Location", "/there")
        self.end_headers()

    def do_HEAD(self) -> None:
        self.do_GET()

    def log_message(self, *arguments: object) -> None:
        pass


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    Site.asked = Counter()
    with ThreadingHTTPServer(("127.0.0.1", 0), Site) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="module")
def project(tmp_path_factory, site) -> Path:
    """A small book whose links are asked for as _config.yml says."""
    root = tmp_path_factory.mktemp("project")
    settings = yaml.safe_load((ROOT / "_config.yml").read_text("utf-8"))["sphinx"]["config"]
    asking = {name: value for name, value in settings.items() if name.startswith("linkcheck_")}
    config = {"execute": {"execute_notebooks": "off"}, "bibtex_bibfiles": ["references.bib"]}
    config["sphinx"] = {"config": asking}
    files = {
        "_config.yml": yaml.safe_dump(config),
        "_toc.yml": "format: jb-book\nroot: page\nchapters: [{file: chapter}]\n",
        "README.md": f"# A\n\n[here]({site}/there), <{site}/private> and [there]({site}/gone)\n",
        "CONTRIBUTING.md": "# How to\n\n[README](README.md)\n",
        "book/page.md": f"# B\n\n[a]({site}/there#part)\n\n"
        f"```\n{site}/fence\n```\n\n```{{bibliography}}\n:all:\n```\n",
        "book/references.bib": f"@misc{{a, title = {{T}}, year = {{2020}}, url = {{{site}/entry}}}}\n",
    }
    (root / "book").mkdir()
    for name, text in files.items():
        (root / name).write_text(text)
    prose = new_markdown_cell(f"# C\n\nAs [said]({site}/moved).\n\nAnd <{site}/down>.")
    chapter = new_notebook(cells=[prose, new_code_cell(f"'{site}/code'")])
    chapter.metadata["language_info"] = {"name": "python"}
    nbformat.write(chapter, root / "book/chapter.ipynb")
    shutil.copytree(ROOT / "tools", root / "tools", ignore=shutil.ignore_patterns("__pycache__"))
    return root


@pytest.mark.weekly
def test_each_link_that_leads_out_is_asked_for_and_each_dead_one_told_with_its_place(project, site):
    environment = os.environ | {"no_proxy": "*", "PYTHONPATH": ""}
    command = [sys.executable, "-m", "tools.site.links"]
    result = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True)
    down, gone = f"{site}/down", f"{site}/gone"
    assert result.stdout.splitlines() == [
        f"chapter.ipynb: cell 1, line 5: {down}: 500 Server Error: Internal Server Error for url: {down}",
        f"README.md: line 3: {gone}: 404 Client Error: Not Found for url: {gone}",
        "links: 7 pages asked, 1 refused a program, 2 dead",
    ]
    assert result.returncode == 1, result.stderr
    assert Site.asked.keys() == ANSWERS.keys()


def link(status: str, info: str = "", filename: str = "a.md", line: int = 3) -> dict[str, object]:
    return {"uri": "https://a.org", "filename": filename, "lineno": line, "status": status, "info": info}


@pytest.mark.parametrize(
    ("filename", "line", "words"),
    [
        ("README.md", 60002, "README.md: line 60002"),
        ("where-am-i.ipynb", 120013, "where-am-i.ipynb: cell 12, line 12"),
    ],
)
def test_the_place_of_a_link_in_a_notebook_is_its_cell_and_line(filename, line, words):
    assert links.position(link("broken", filename=filename, line=line)) == words


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


def test_where_nothing_could_be_asked_it_says_why(tmp_path):
    with pytest.raises(SystemExit, match="nothing was asked\nout of order"):
        links.ask([sys.executable, "-c", "import sys; sys.exit('out of order')"], tmp_path)
