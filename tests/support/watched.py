"""A person who watches a training, without waiting for one."""

import itertools
import sys

import pytest

from attnlab.training import progress


def take_for_a_terminal(monkeypatch: pytest.MonkeyPatch, patience: float = 0) -> None:
    """Where each look at the clock takes a second, so that the bar is drawn anew at each update."""
    monkeypatch.delenv(progress.QUIET_VARIABLE, raising=False)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setattr(progress, "PATIENCE", patience)
    monkeypatch.setattr("tqdm.std.time", itertools.count().__next__)
