"""A run of three tests with the plugin: what it shows, keeps and leaves out."""

import json
import os
import re
import subprocess
import sys

import pytest

from tools import ROOT
from tools.testing.plugin import Plan

pytestmark = pytest.mark.thorough


TESTS = """
import os

def test_one():
    pass

def test_two():
    assert "this went wrong" == os.environ.get("RIGHT", "")

def test_three():
    if "INTERRUPT" in os.environ:
        raise KeyboardInterrupt
"""
NAMES = ["test_one", "test_two", "test_three"]


@pytest.fixture
def run(tmp_path):
    (tmp_path / "test_it.py").write_text(TESTS)
    kept = tmp_path / "_build" / "passed.jsonl"

    def run(left_out=(), workers="0", **variables):
        known = [f"test_it.py::{name}" for name in left_out]
        variables |= Plan(known, {}, "1", str(kept)).write(tmp_path / "_build" / "plan.json")
        path = os.pathsep.join([str(ROOT), str(ROOT / "book")])
        command = [sys.executable, "-m", "pytest", "-q", "-c", os.devnull, "-p", "tools.testing.plugin"]
        done = subprocess.run(
            [*command, f"--rootdir={tmp_path}", "-n", workers, "test_it.py"],
            cwd=tmp_path, env=os.environ | variables | {"PYTHONPATH": path},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        names = [json.loads(line)[0].rpartition("::")[2] for line in kept.read_text().splitlines()]
        return done.stdout, names

    return run


@pytest.mark.parametrize("workers", ["0", "2"])
def test_what_passes_is_kept_and_what_fails_is_shown_at_once_and_at_the_end(run, workers):
    said, kept = run(workers=workers)
    assert sorted(kept) == ["test_one", "test_three"]
    assert len(re.findall(r"E +AssertionError: assert 'this went wrong'", said)) == 2
    assert "test_it.py::test_two failed" in said.partition("= FAILURES =")[0]
    assert "1 failed, 2 passed" in said


def test_what_is_known_is_left_out(run):
    said, _ = run(left_out=["test_two"])
    assert "2 passed, 1 deselected" in said


def test_what_passed_before_an_interruption_is_kept(run):
    said, kept = run(RIGHT="this went wrong", INTERRUPT="1")
    assert kept == NAMES[:2]
    assert "KeyboardInterrupt" in said
