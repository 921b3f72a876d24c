"""Colab's run: cells must run and claims hold; what they print and draw is not compared."""

import os
import subprocess
import sys

import nbformat
import pytest

from tools import ROOT
from tools.chapters import notebooks

pytestmark = pytest.mark.weekly

CLAIM = "from bookkit.claims import claim; claim('one is one', measured={}, expected=1)"


@pytest.mark.parametrize(("measured", "status"), [(1, 0), (2, 1)])
def test_only_a_claim_that_fails_makes_it_fail(tmp_path, measured, status):
    printed = [nbformat.v4.new_output("stream", text="5\n")]
    cells = [
        nbformat.v4.new_code_cell("print(2 + 2)", execution_count=1, outputs=printed),
        nbformat.v4.new_code_cell(CLAIM.format(measured), execution_count=2),
    ]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "chapter.ipynb")
    program = (
        f"import pathlib, sys; from tools import colab; sys.exit(colab.main(pathlib.Path({str(tmp_path)!r})))"
    )
    # This environment keeps the versions it has.
    environment = os.environ | {
        "PIP_DRY_RUN": "1",
        "PYTHONPATH": f"{ROOT}:{notebooks.BOOK}",
    }
    run = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == status, run.stdout + run.stderr
    assert ("one is one" in run.stdout) == bool(status)
