"""A clock for all limits, which stands still until a test lets time pass: a busy machine decides nothing."""

import signal

import pytest

from checkup import limits


class Clock:
    """`Clock(monkeypatch).passes(3)`: it is three seconds later, and an alarm that is set rings.

    `served` is the share of it that code gets of the processor.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch, served: float = 1.0) -> None:
        self.now = 0.0
        monkeypatch.setattr(limits, "monotonic", lambda: self.now)
        monkeypatch.setattr(limits, "thread_time", lambda: served * self.now)

    def passes(self, seconds: float) -> None:
        self.now += seconds
        if callable(signal.getsignal(signal.SIGALRM)):
            signal.raise_signal(signal.SIGALRM)
