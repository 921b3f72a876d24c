"""The line that says where a command is."""

import io
from types import SimpleNamespace

import pytest

from tools import progress
from tools.progress import Progress, spoken


@pytest.mark.parametrize(("seconds", "words"), [(3, "10 s"), (44, "40 s"), (89, "90 s"), (100, "2 min")])
def test_a_time_is_told_in_round_numbers(seconds, words):
    assert spoken(seconds) == words


@pytest.mark.parametrize(
    ("terminal", "shown"),
    [
        (False, "refresh: 25 %, 3 min left: where-am-i\nrefresh: stored\nrefresh: 50 %, 2 min left: end\n"),
        (
            True,
            "\r\x1b[Krefresh: 1 %: begin\r\x1b[Krefresh: 25 %, 3 min left: where-am-i"
            "\r\x1b[Krefresh: 30 %, 3 min left: next\r\x1b[Krefresh: stored\n"
            "\r\x1b[Krefresh: 50 %, 2 min left: end\r\x1b[K",
        ),
    ],
)
def test_on_a_terminal_one_line_is_written_over_and_elsewhere_one_comes_now_and_then(
    terminal, shown, monkeypatch
):
    now = [0.0]
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: now[0]))
    stream = io.StringIO()
    stream.isatty = lambda: terminal
    with Progress("refresh", stream) as line:
        for now[0], share, doing in ((3, 0.01, "begin"), (60, 0.25, "where-am-i"), (65, 0.3, "next")):
            line.at(share, doing)
        line.say("refresh: stored")
        now[0] = 100
        line.at(0.5, "end")
    assert stream.getvalue() == shown
