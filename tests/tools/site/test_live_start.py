"""How `make live` starts: a browser is opened, and what can't be is told in one line."""

import os
import re
import socket
import stat
import subprocess
import sys
import webbrowser

import pytest

from tools import ROOT
from tools.site import live, server


class Recorder:
    """A browser with a window."""

    def __init__(self):
        self.opened = []

    def open(self, address):
        self.opened.append(address)


def test_a_browser_is_sent_on_by_a_file_that_only_this_user_can_read(monkeypatch, small_site):
    browser = Recorder()
    monkeypatch.setattr(webbrowser, "get", lambda: browser)
    with live.opened("http://127.0.0.1:1/#live=token", small_site):
        (file,) = small_site.parent.glob("live-*.html")
        assert browser.opened == [file.as_uri()]
        assert 'url=http://127.0.0.1:1/#live=token"' in file.read_text()
        assert os.name == "nt" or stat.S_IMODE(file.stat().st_mode) == 0o600
    assert not file.exists()


def test_without_a_window_no_browser_is_opened(monkeypatch, small_site):
    """One for terminals would take over this one."""
    for_terminals = webbrowser.GenericBrowser("lynx")
    monkeypatch.setattr(for_terminals, "open", pytest.fail, raising=False)
    monkeypatch.setattr(webbrowser, "get", lambda: for_terminals)
    with live.opened("http://127.0.0.1:1/", small_site):
        pass

    def none():
        raise webbrowser.Error

    monkeypatch.setattr(webbrowser, "get", none)
    with live.opened("http://127.0.0.1:1/", small_site):
        assert [*small_site.parent.glob("live-*.html")]


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("words", "asked"),
    [([], (8000, True)), (["8123"], (8123, True)), (["--no-browser", "8123"], (8123, False))],
)
def test_it_starts_at_the_port_that_is_asked_for_and_opens_a_browser_unless_told_not_to(
    monkeypatch, tmp_path, words, asked
):
    tmp_path.joinpath("404.html").touch()
    monkeypatch.setattr(server, "SITE", tmp_path)
    monkeypatch.setattr(sys, "argv", ["live.py", *words])
    started = []
    monkeypatch.setattr(live, "live", lambda folder, port, opens: started.append((port, opens)))
    live.main()
    assert started == [asked]


@pytest.mark.thorough
def test_make_serve_says_that_there_is_make_live(small_site):
    start = f"from tools.site import files; files.SITE = pathlib.Path({str(small_site)!r})"
    program = f"import pathlib; {start}; from tools.site import server; server.main()"
    with subprocess.Popen(
        [sys.executable, "-c", program, "0"], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as serving:
        said = [serving.stdout.readline() for _ in range(2)]
        serving.terminate()
    assert said[0].startswith("serve: http://127.0.0.1:")
    assert "`make live`" in said[1]


def python(*words):
    return subprocess.run([sys.executable, *words], cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("command", ["serve", "live"])
@pytest.mark.parametrize("word", ["abc", "65536", "-1", "80.5"])
def test_what_is_no_port_is_told_in_one_line(command, word):
    module = {"serve": "tools.site.server", "live": "tools.site.live"}[command]
    result = python("-m", module, word)
    assert result.returncode == 1
    assert re.fullmatch(rf"{command}: a port is a number below 65536, .*: {word} is none\n", result.stderr)


@pytest.mark.thorough
@pytest.mark.parametrize("module", ["server", "live"])
def test_a_site_that_is_not_built_is_told_in_one_line(module, tmp_path):
    program = (
        "import pathlib; from tools.site import files; files.SITE = pathlib.Path('nowhere');"
        f"from tools.site import {module}; {module}.main()"
    )
    result = python("-c", program)
    assert result.returncode == 1
    assert re.fullmatch(r"\w+: the site is not built yet: `make \w+` does it first\n", result.stderr)


@pytest.mark.thorough
def test_a_full_disk_is_told_in_one_line(small_site):
    program = (
        "import pathlib; from tools.site import live\n"
        "def full(): raise OSError(28, 'No space left on device', '/tmp')\n"
        f"live.private_folder = full; live.live(pathlib.Path({str(small_site)!r}), 0, opens=False)"
    )
    result = python("-c", program)
    assert result.returncode == 1
    assert result.stderr == "live: [Errno 28] No space left on device: '/tmp'\n"


@pytest.mark.thorough
def test_a_port_that_is_taken_is_told_in_one_line(small_site):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        start = f"live.live(pathlib.Path({str(small_site)!r}), {port}, opens=False)"
        result = python("-c", f"import pathlib; from tools.site import live; {start}")
    assert result.returncode == 1
    assert result.stderr == f"live: port {port} is taken: choose another with `make live PORT={port + 1}`\n"
