"""The progress bar: who sees it, and what is left of it."""

import os
from pathlib import Path

import nbclient
import pytest
from nbformat import v4 as notebook_format
from watched import take_for_a_terminal

from attnlab.training import progress
from attnlab.training.progress import QUIET_VARIABLE, progress_bar


def count_to_4(total: int = 4) -> None:
    with progress_bar(total) as bar:
        bar.set_description("counting", refresh=False)
        for _ in range(4):
            bar.update()


@pytest.mark.parametrize(("total", "last"), [(4, "4/4"), (0, "4it")])
def test_a_terminal_shows_a_bar_and_wipes_it(monkeypatch, capsys, total, last) -> None:
    take_for_a_terminal(monkeypatch)
    count_to_4(total)
    *_, shown, wiped, nothing = capsys.readouterr().out.split("\r")
    assert shown.startswith("counting")
    assert last in shown
    assert (wiped.strip(), nothing) == ("", "")
    take_for_a_terminal(monkeypatch, patience=60)
    count_to_4(total)
    assert capsys.readouterr() == ("", ""), "a short wait"
    take_for_a_terminal(monkeypatch)
    monkeypatch.setenv(QUIET_VARIABLE, "1")
    count_to_4(total)
    assert capsys.readouterr() == ("", ""), "asked for quiet"


def test_no_bar_in_a_file_or_pipe(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.delenv(QUIET_VARIABLE, raising=False)
    monkeypatch.setattr(progress, "PATIENCE", 0)
    count_to_4()
    assert capfd.readouterr() == ("", "")


def test_a_notebook_shows_a_bar_to_a_person_and_none_to_a_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same cell twice in one kernel: as nbclient runs it, then with input allowed, as in JupyterLab."""
    monkeypatch.delenv(QUIET_VARIABLE, raising=False)
    cell = notebook_format.new_code_cell(
        "from attnlab.training import progress\n"
        "progress.PATIENCE = 0\n"
        "with progress.progress_bar(2) as bar:\n    bar.update()"
    )
    client = nbclient.NotebookClient(notebook_format.new_notebook(cells=[cell]))
    packages = Path(progress.__file__).parents[2]
    with client.setup_kernel(env=os.environ | {"PYTHONPATH": str(packages)}):
        assert client.execute_cell(cell, 0).outputs == []
        client.kc.allow_stdin = True
        outputs = client.execute_cell(cell, 0).outputs
    assert {output.name for output in outputs} == {"stdout"}
    shown = "".join(output.text for output in outputs)
    assert "0/2" in shown
    assert shown.split("\r")[-2].strip() == ""
