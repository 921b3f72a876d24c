"""The link check finds every link, tells the dead from the living, and is polite: tried on a server here."""

import json
import threading
import time
from collections import Counter
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import links
import pytest

# What the server says at the first, second, ... request of a page; the last answer is repeated.
ANSWERS = {
    "/there": [200],
    "/gone": [404],
    "/private": [403],
    "/down": [500],
    "/busy": [503, 429, 200],
    "/limited": [429],
}


class Site(BaseHTTPRequestHandler):
    asked: Counter[str]
    at_once: list[int]
    running = 0

    def do_GET(self) -> None:
        kind = type(self)
        kind.running += 1
        kind.at_once.append(kind.running)
        time.sleep(0.01)  # long enough for a second request to overlap, if there were one
        kind.running -= 1
        if self.path == "/moved":
            self.send_response(302)
            self.send_header("Location", "/there")
        else:
            answers = ANSWERS[self.path]
            self.send_response(answers[min(kind.asked[self.path], len(answers) - 1)])
        kind.asked[self.path] += 1
        self.end_headers()

    def log_message(self, *arguments: object) -> None:
        pass


@pytest.fixture
def site(monkeypatch) -> Iterator[str]:
    monkeypatch.setattr(links, "PAUSES", (0, 0))
    monkeypatch.setenv("no_proxy", "*")
    Site.asked, Site.at_once = Counter(), []
    with ThreadingHTTPServer(("127.0.0.1", 0), Site) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("see https://a.org/x.", ["https://a.org/x"]),
        ("[a](https://a.org/x), [b](http://b.org)", ["https://a.org/x", "http://b.org"]),
        ("<https://a.org/?q=1#part>", ["https://a.org/?q=1#part"]),
        ("(https://a.org/x_(y))", ["https://a.org/x_(y)"]),
        ('<a href="https://a.org/x">', ["https://a.org/x"]),
        ("[https://a.org](https://b.org)", ["https://a.org", "https://b.org"]),
        ("**https://a.org/x**", ["https://a.org/x"]),
        ("no link", []),
    ],
)
def test_addresses(text, found):
    assert links.addresses(text) == found


def test_code_is_not_text_but_a_directive_is():
    text = """\
https://a.org/1
`https://a.org/no` https://a.org/2
```sh
https://a.org/no
```
````{exercise}
https://a.org/7
```python
https://a.org/no
```
https://a.org/11
````
```{code-block} sh
https://a.org/no
```
:::{note}
https://a.org/17
:::
https://a.org/19
"""
    found = {number: links.addresses(line) for number, line in links.prose(text.splitlines())}
    assert found == {number: [f"https://a.org/{number}"] for number in (1, 2, 7, 11, 17, 19)}


def test_find_looks_everywhere_and_says_where(tmp_path):
    book = tmp_path / "book"
    book.mkdir()
    (tmp_path / "README.md").write_text("# A\n\nhttps://a.org/readme\n")
    (book / "page.md").write_text("https://a.org/page and https://a.org/readme\n")
    cells = [
        {"cell_type": "code", "source": ["# https://a.org/no\n"], "outputs": [{"text": "https://a.org/no"}]},
        {"cell_type": "markdown", "source": ["text\n", "[link](https://a.org/chapter)"]},
    ]
    (book / "chapter.ipynb").write_text(json.dumps({"cells": cells}))
    (book / "references.bib").write_text(
        "@article{a,\n  url = {https://a.org/bib},\n  doi = {10.1/2},\n  eprint = {1706.03762},\n}\n"
    )
    assert links.find(tmp_path) == {
        "https://a.org/readme": ["README.md, line 3", "book/page.md, line 1"],
        "https://a.org/page": ["book/page.md, line 1"],
        "https://a.org/chapter": ["book/chapter.ipynb, cell 2, line 2"],
        "https://a.org/bib": ["book/references.bib, line 2"],
        "https://doi.org/10.1/2": ["book/references.bib, line 3"],
        "https://arxiv.org/abs/1706.03762": ["book/references.bib, line 4"],
    }


@pytest.mark.parametrize(
    ("page", "verdict", "requests"),
    [
        ("there", (links.THERE, ""), 1),
        ("there#part", (links.THERE, ""), 1),
        ("moved", (links.THERE, ""), 1),
        ("gone", (links.DEAD, "404 Not Found"), 1),
        ("private", (links.REFUSED, "403 Forbidden"), 1),
        ("busy", (links.THERE, ""), 3),
        ("down", (links.DEAD, "500 Internal Server Error"), 3),
        ("limited", (links.REFUSED, "429 Too Many Requests"), 3),
    ],
)
def test_what_an_answer_means(site, page, verdict, requests):
    assert links.ask(f"{site}/{page}") == verdict
    assert Site.asked[f"/{page.partition('#')[0]}"] == requests


def test_a_site_that_does_not_answer_is_dead(site, unused):
    verdict, reason = links.ask(unused)
    assert verdict == links.DEAD
    assert "refused" in reason


@pytest.fixture
def unused() -> str:
    """An address at which nobody listens: a port that was free a moment ago."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Site) as server:
        return f"http://127.0.0.1:{server.server_port}/"


def test_the_report_names_the_place_of_each_dead_link(tmp_path, site, capsys):
    (tmp_path / "README.md").write_text(f"{site}/there\n{site}/gone\n{site}/private\n{site}/moved\n")
    assert links.main(tmp_path) == 1
    assert capsys.readouterr().out.splitlines() == [
        "links: 4 addresses on 1 sites",
        f"README.md, line 2: {site}/gone: 404 Not Found",
        "links: 2 there, 1 refused a program, 1 dead",
    ]
    assert max(Site.at_once) == 1, "a site is asked one thing at a time"


def test_a_book_whose_links_all_live_passes(tmp_path, site):
    (tmp_path / "README.md").write_text(f"{site}/there and {site}/private\n")
    assert links.main(tmp_path) == 0


def test_without_a_network_it_says_so_in_one_line(tmp_path, site, unused, capsys):
    (tmp_path / "README.md").write_text(f"[a]({unused})\n")
    assert links.main(tmp_path) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1
