"""A run of two tests with the plugin: what it shows, and when."""

import os
import subprocess
import sys

from tools import ROOT

TESTS = """
def test_one():
    pass

def test_two():
    assert "this went wrong" == ""
"""


def test_a_failure_is_shown_when_it_happens_and_a_line_says_where_the_run_is(tmp_path):
    (tmp_path / "conftest.py").write_text("from tools.testing import plugin\n\nplugin.SELDOM = 0\n")
    (tmp_path / "test_it.py").write_text(TESTS)
    command = [sys.executable, "-m", "pytest", "-q", "-c", os.devnull, f"--rootdir={tmp_path}"]
    command += ["-p", "tools.testing.plugin", "-n", "1", "test_it.py"]
    path = {"PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "book")])}
    said = subprocess.run(command, cwd=tmp_path, env=os.environ | path, capture_output=True, text=True)
    meanwhile, _, at_the_end = said.stdout.partition("= FAILURES =")
    assert "test_it.py::test_two failed" in meanwhile
    assert "assert 'this went wrong' == ''" in meanwhile
    assert "assert 'this went wrong' == ''" in at_the_end
    assert "test: 2 of 2 tests; now test_it.py" in meanwhile
