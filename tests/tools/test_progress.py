"""The line that says where a command is."""

import io
import threading
from types import SimpleNamespace

import pytest

from tools import progress
from tools.progress import Progress, spoken


class Stream(io.StringIO):
    """Says when something was written to it."""

    def __init__(self, terminal=False):
        super().__init__()
        self.terminal, self.written = terminal, threading.Event()

    def isatty(self):
        return self.terminal

    def write(self, text):
        self.written.set()
        return super().write(text)


@pytest.mark.parametrize(("seconds", "words"), [(3, "10 s"), (44, "40 s"), (89, "90 s"), (100, "2 min")])
def test_a_time_is_told_in_round_numbers(seconds, words):
    assert spoken(seconds) == words


def test_the_line_says_the_share_the_time_left_and_what_is_done(monkeypatch):
    line = Progress("refresh", io.StringIO())
    line.started = 0
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: 60))
    line.at(0.25, "where-am-i")
    assert line.line() == "refresh: 25 %, 3 min left: where-am-i"
    line.at(0.01, "")
    assert line.line() == "refresh: 1 %"


def test_elsewhere_than_on_a_terminal_a_line_comes_now_and_then(monkeypatch):
    monkeypatch.setattr(progress, "SELDOM", 0)
    said = Stream()
    line = Progress("build", said)
    line.at(0.5, "pages")
    with line:
        said.written.wait()
    assert "build: 50 %: pages\n" in said.getvalue()
    assert "\r" not in said.getvalue()


def test_on_a_terminal_one_line_is_written_over_and_is_gone_in_the_end(monkeypatch):
    monkeypatch.setattr(progress, "OFTEN", 0)
    said = Stream(terminal=True)
    line = Progress("build", said)
    line.at(0.5, "pages")
    with line:
        said.written.wait()
        line.say("build: a line that stays")
    shown = said.getvalue()
    assert "\r\x1b[Kbuild: 50 %: pages" in shown
    assert "\r\x1b[Kbuild: a line that stays\n" in shown
    assert shown.endswith("\r\x1b[K")
    assert shown.count("\n") == 1
