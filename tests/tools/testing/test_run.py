"""What `make test` leaves out, and when it fails."""

import json
from types import SimpleNamespace

import pytest

from tools.testing import beside, check, run
from tools.testing.passed import Digests, Passed


@pytest.fixture
def suite(tmp_path, monkeypatch):
    """`suite(again=True)`: what a run leaves out, and its status; tests/a.py::test_a has passed before."""
    file = tmp_path / "passed.jsonl"
    known = Passed(file, Digests({}, "1"))
    known.begin()
    known.keep("tests/a.py::test_a")
    monkeypatch.setattr(run, "PASSED", file)
    monkeypatch.setattr(Digests, "now", lambda: known.digests)
    monkeypatch.setattr(run, "PLANNED", tmp_path / "plan.json")
    monkeypatch.setattr(check.Memory, "keep", lambda self, jobs: None)
    monkeypatch.setattr(check, "everything", list)
    monkeypatch.setattr(run, "pytest", lambda *words, **variables: SimpleNamespace())
    monkeypatch.setattr(beside.Beside, "start", lambda self: None)

    def go(again=False, types=0, status=0):
        made = SimpleNamespace(communicate=lambda: ("", None), returncode=types)
        monkeypatch.setattr(run.subprocess, "Popen", lambda *words, **options: made)
        monkeypatch.setattr(run, "finished", lambda process: status)
        failed = run.suite("not thorough", again)
        return json.loads((tmp_path / "plan.json").read_text())["known"], failed

    return go


def test_what_passed_is_left_out_unless_all_is_asked_for(suite):
    assert suite() == (["tests/a.py::test_a"], 0)
    assert suite(again=True) == ([], 0)


def test_types_that_fail_make_it_fail(suite):
    assert suite(types=1)[1] == 1


@pytest.mark.parametrize(("status", "failed"), [(0, 0), (1, 1), (run.NOTHING_TO_RUN, 0), (4, 1)])
def test_it_fails_where_pytest_does_but_may_have_nothing_to_run(suite, status, failed):
    assert suite(status=status)[1] == failed


def test_it_begins_without_touching_what_another_run_waits_for(suite, tmp_path, monkeypatch):
    (tmp_path / "ready").write_text("made")
    monkeypatch.setattr(beside, "READY", tmp_path / "ready")
    suite()
    assert (tmp_path / "ready").exists()


def test_an_interrupted_run_says_what_had_passed(suite, capsys):
    assert suite(status=run.INTERRUPTED)[1] == 1
    assert "interrupted when 1 tests had passed; the next run goes on from there" in capsys.readouterr().out


def test_a_full_disk_is_told_in_one_line(suite, monkeypatch):
    monkeypatch.setattr(run.shutil, "disk_usage", lambda folder: SimpleNamespace(free=3_000_000))
    with pytest.raises(SystemExit, match=r"^test: the disk has room for 3 MB, and the tests need 500 MB$"):
        suite()
