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
from tools.site import live


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


def python(*words):
    return subprocess.run([sys.executable, *words], cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("command", ["serve", "live"])
@pytest.mark.parametrize("word", ["abc", "65536", "-1", "80.5"])
def test_what_is_no_port_is_told_in_one_line(command, word):
    module = {"serve": "tools.site.server", "live": "tools.site.live"}[command]
    result = python("-m", module, word)
    assert result.returncode == 1
    assert re.fullmatch(rf"{command}: a port is a number below 65536, .*: {word} is none\n", result.stderr)


@pytest.mark.parametrize("module", ["server", "live"])
def test_a_site_that_is_not_built_is_told_in_one_line(module, tmp_path):
    program = (
        "import pathlib; from tools.site import files; files.SITE = pathlib.Path('nowhere');"
        f"from tools.site import {module}; {module}.main()"
    )
    result = python("-c", program)
    assert result.returncode == 1
    assert re.fullmatch(r"\w+: the site is not built yet: `make \w+` does it first\n", result.stderr)


def test_a_port_that_is_taken_is_told_in_one_line(small_site):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        start = f"live.live(pathlib.Path({str(small_site)!r}), {port}, opens=False)"
        result = python("-c", f"import pathlib; from tools.site import live; {start}")
    assert result.returncode == 1
    assert result.stderr == f"live: port {port} is taken: choose another with `make live PORT={port + 1}`\n"
