"""The line that says where a command is."""

import io
import time

import pytest

from tools import progress
from tools.progress import Progress, spoken


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(("seconds", "words"), [(3, "10 s"), (44, "40 s"), (89, "90 s"), (100, "2 min")])
def test_a_time_is_told_in_round_numbers(seconds, words):
    assert spoken(seconds) == words


def test_the_line_says_the_share_the_time_left_and_what_is_done(monkeypatch):
    line = Progress("refresh", io.StringIO())
    line.started = time.monotonic() - 60
    line.at(0.25, "where-am-i")
    assert line.line() == "refresh: 25 %, 3 min left: where-am-i"
    line.at(0.01, "")
    assert line.line() == "refresh: 1 %"


def test_elsewhere_than_on_a_terminal_a_line_comes_now_and_then(monkeypatch):
    monkeypatch.setattr(progress, "SELDOM", 0.01)
    said = io.StringIO()
    with Progress("build", said) as line:
        line.at(0.5, "pages")
        time.sleep(0.2)
    assert "build: 50 %: pages\n" in said.getvalue()
    assert "\r" not in said.getvalue()


def test_on_a_terminal_one_line_is_written_over_and_is_gone_in_the_end(monkeypatch):
    monkeypatch.setattr(progress, "OFTEN", 0.01)
    said = Terminal()
    with Progress("build", said) as line:
        line.at(0.5, "pages")
        time.sleep(0.2)
        line.say("build: a line that stays")
    shown = said.getvalue()
    assert "\r\x1b[Kbuild: 50 %: pages" in shown
    assert "\r\x1b[Kbuild: a line that stays\n" in shown
    assert shown.endswith("\r\x1b[K")
    assert shown.count("\n") == 1
