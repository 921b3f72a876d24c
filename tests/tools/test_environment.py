"""The set-up: what it installs, and what becomes of one that broke off. Nothing is installed here."""

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from bookkit.registry import CONTENTS
from tools import environment

ROOT = CONTENTS.parent
SETUP = ROOT / "tools" / "environment.py"


@pytest.fixture
def venv(tmp_path, monkeypatch):
    """An empty .venv, and a record of the commands that would fill it."""
    folder = tmp_path / ".venv"
    folder.mkdir()
    monkeypatch.setattr(environment, "VENV", str(folder))
    monkeypatch.setattr(environment, "UNFINISHED", str(folder / ".unfinished"))
    monkeypatch.setattr(environment, "installed", lambda package: "")
    monkeypatch.setattr(environment, "wait_for_others", lambda: None)
    (folder / ".made-with").write_text(sys.version)
    return folder


@pytest.fixture
def commands(monkeypatch):
    """What would have been run. `commands.failing` is a word: a command that holds it says why it failed."""

    class Commands(list):
        failing = None

        def __call__(self, command):
            self.append(" ".join(map(str, command)))
            return "ERROR: no route" if self.failing and self.failing in self[-1] else None

    recorded = Commands()
    monkeypatch.setattr(environment, "attempt", recorded)
    return recorded


@pytest.fixture
def nvidia(tmp_path, monkeypatch):
    program = tmp_path / "bin" / "nvidia-smi"
    program.parent.mkdir()
    program.touch(mode=0o755)
    monkeypatch.setenv("PATH", str(program.parent), prepend=os.pathsep)


def install(folder, name, version="1.0", files=("module.py",)):
    """A package as an installer leaves it: its files, and last the list of them with their sizes."""
    site = folder / "lib" / "python3.11" / "site-packages"
    record = site / f"{name}-{version}.dist-info" / "RECORD"
    record.parent.mkdir(parents=True)
    lines = [f"{name}-{version}.dist-info/RECORD,,"]
    for file in files:
        path = site / name / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x = 1\n")
        lines.append(f'"{name}/{file}",sha256=abc,6')
    record.write_text("\n".join(lines))
    return record.parent


# ---- what is installed ----


def test_everything_is_installed_in_one_run_and_the_next_has_nothing_to_do(venv, commands, capsys):
    environment.main("tests")
    assert "torch==" in commands[0], "PyTorch goes first"
    assert any("-r tests/requirements.txt -c " in command for command in commands)
    assert any("--editable ." in command for command in commands)
    assert any("matplotlib.font_manager" in command for command in commands)
    (npm,) = (command for command in commands if "npm" in command)
    assert "--ignore-scripts" in npm, "esbuild's wants a Node on the PATH, where a bare machine has none"
    assert "setup: ready" in capsys.readouterr().out
    assert not (venv / ".unfinished").exists()
    commands.clear()
    for purpose in ("tests", "book"):
        environment.main(purpose)
    assert commands == []
    assert capsys.readouterr().out == ""


def test_reading_needs_none_of_the_tests_tools(venv, commands):
    environment.main("book")
    assert not any("tests/requirements.txt" in command for command in commands)
    assert any("--omit=dev" in command for command in commands)


def test_without_uv_pip_does_its_work(venv, commands):
    environment.main("book")
    assert not any("/uv " in command for command in commands)
    # Which would ask for a hash of each requirement, too.
    (requirements,) = [command for command in commands if "-r requirements.txt" in command]
    assert requirements.endswith(f"-c {venv / 'constraints.txt'}")
    versions = [Requirement(line) for line in (venv / "constraints.txt").read_text().splitlines()]
    assert {"torch", "uv"} <= {version.name for version in versions}
    program = Path(environment.venv_program("uv"))
    program.parent.mkdir()
    program.touch()
    commands.clear()
    (venv / ".ready-for-book").unlink()
    environment.main("book")
    (requirements,) = [command for command in commands if "-r requirements.txt" in command]
    assert requirements.startswith(f"{program} pip install")
    assert requirements.endswith("-c constraints.txt")


def test_uv_has_hashes_to_look_at_for_everything():
    """It refuses by itself any file whose hash is none of those."""
    packages = re.split(r"(?m)^(?=[^ ])", (ROOT / "constraints.txt").read_text("utf-8"))[1:]
    assert len(packages) > 150
    assert all("--hash=sha256:" in package for package in packages)


def test_the_cpu_build_comes_from_its_index_or_from_the_usual_one(venv, commands, monkeypatch):
    monkeypatch.setattr(environment, "has_nvidia", lambda: False)
    environment.install_torch(newest=False)
    assert [environment.PYTORCH_CPU_INDEX in command for command in commands] == [True]
    commands.clear()
    commands.failing = environment.PYTORCH_CPU_INDEX
    environment.install_torch(newest=False)
    assert [environment.PYTORCH_CPU_INDEX in command for command in commands] == [True, False]


@pytest.mark.parametrize(("build", "replaced"), [("+cpu", True), ("", False), ("+cu130", False)])
def test_where_a_gpu_now_is_a_cpu_build_makes_room(
    venv, commands, nvidia, monkeypatch, build, replaced, capsys
):
    version = environment.pin_of("torch").removeprefix("torch==")
    monkeypatch.setattr(environment, "installed", lambda package: version + build)
    environment.install_torch(newest=False)
    assert bool(commands) == replaced
    if replaced:
        assert "with CUDA, because nvidia-smi is here" in capsys.readouterr().out
        assert "--force-reinstall" in commands[0]
        assert environment.PYTORCH_CPU_INDEX not in commands[0]


def test_a_gpu_that_has_come_makes_the_environment_stale(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    before = environment.fingerprint("book")
    (tmp_path / "nvidia-smi").touch(mode=0o755)
    assert environment.fingerprint("book") != before


def test_another_pythons_venv_is_made_anew(venv, commands, monkeypatch):
    (venv / ".made-with").write_text("3.9.1")
    (venv / "old").touch()

    def make(command):
        venv.mkdir(exist_ok=True)
        commands(command)

    monkeypatch.setattr(environment, "attempt", make)
    environment.main("book")
    assert not (venv / "old").exists()
    assert (venv / ".made-with").read_text() == sys.version


# ---- what broke off ----


def test_a_package_of_which_something_is_missing_counts_as_not_installed(venv):
    whole, without_list, lacking, cut = (
        install(venv, name) for name in ("whole", "without_list", "lacking", "cut")
    )
    (without_list / "RECORD").unlink()
    (venv / "lib/python3.11/site-packages/lacking/module.py").unlink()
    (venv / "lib/python3.11/site-packages/cut/module.py").write_text("x")
    environment.forget_half_installed()
    assert [folder.exists() for folder in (whole, without_list, lacking, cut)] == [True, False, False, False]


@pytest.mark.parametrize("step", ["torch", "requirements.txt", "--editable", "npm"])
def test_a_step_that_fails_is_one_line_and_the_next_run_goes_on(venv, commands, capsys, step):
    commands.failing = step
    with pytest.raises(SystemExit) as stopped:
        environment.main("book")
    assert stopped.value.code == 1
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "is there a network, and room on the disk?" in said
    assert (venv / ".unfinished").exists()

    half = install(venv, "half")
    (half / "RECORD").unlink()
    commands.failing = None
    environment.main("book")
    assert "the last set-up broke off" in capsys.readouterr().out
    assert not half.exists()
    assert environment.is_ready("book")


# A set-up in a process of its own, whose first program ends when a file is there.
SLOW = """
import sys
sys.path.insert(0, {root!r})
from tools import environment
environment.VENV, environment.UNFINISHED, environment.LOCKED = {venv!r}, {unfinished!r}, {lock!r}
wait = "import os, time\\nopen({runs!r}, 'w')\\nwhile not os.path.exists({end!r}): time.sleep(0.05)"

def make_venv():
    print("begun", flush=True)
    environment.attempt([sys.executable, "-c", wait])

environment.make_venv = make_venv
environment.install_torch = environment.install_uv = environment.install_packages = lambda *wish: None
environment.install_node_packages = lambda purpose: None
environment.list_fonts = lambda: None
environment.main("book")
"""


@pytest.mark.skipif(environment.fcntl is None, reason="Windows has other locks")
@pytest.mark.parametrize("killed", [False, True], ids=["two at once", "one killed, its program goes on"])
def test_one_set_up_waits_for_another_and_for_what_a_killed_one_has_left(venv, killed):
    (venv / "lock").touch()
    names = {name: str(venv / name) for name in ("lock", "runs", "end")}
    program = SLOW.format(root=str(ROOT), venv=str(venv), unfinished=str(venv / ".unfinished"), **names)
    start = [sys.executable, "-c", program]
    with subprocess.Popen(start, stdout=subprocess.PIPE, text=True) as first:
        assert first.stdout.readline() == "begun\n"
        while not (venv / "runs").exists():  # its program, which is what holds the lock after it
            assert first.poll() is None
            time.sleep(0.01)
        if killed:
            first.kill()
        with subprocess.Popen(start, stdout=subprocess.PIPE, text=True) as second:
            assert second.stdout.readline() == "setup: waiting for another set-up of this folder to end\n"
            (venv / "end").touch()
            rest = second.stdout.read()
    assert ("begun" in rest) == killed, "what another run has just done is not done again"
