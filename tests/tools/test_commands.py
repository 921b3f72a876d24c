"""What the commands answer when something is missing: one clear line and a status that is not 0."""

import itertools
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell, new_notebook

from tools import ROOT
from tools.chapters import notebooks
from tools.site import build
from tools.testing import machines


def run(*command, **options):
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, **options)


def assert_one_line(result, words):
    assert result.returncode != 0
    assert words in result.stderr
    assert "Traceback" not in result.stderr + result.stdout
    ours = [line for line in result.stderr.splitlines() if not line.startswith("make")]
    assert len(ours) == 1, result.stderr


def python_that_is(version, folder):
    """A stand-in for an older Python: it reports another version to the script that it runs."""
    program = folder / "python3"
    program.write_text(
        f"#!{sys.executable}\n"
        "import collections, runpy, sys\n"
        "Version = collections.namedtuple('Version', 'major minor micro')\n"
        f"sys.version_info = Version{version}\n"
        "sys.argv = sys.argv[1:]\n"
        "runpy.run_path(sys.argv[0], run_name='__main__')\n"
    )
    program.chmod(0o755)
    return program


def test_an_old_python(tmp_path):
    result = run("make", "book", f"PYTHON={python_that_is((3, 9, 1), tmp_path)}")
    assert_one_line(result, "Python 3.11 or newer is needed, and this is 3.9")


def test_no_python_at_all():
    assert_one_line(
        run("make", "book", "PYTHON=python-that-is-not-here"), "there is no python-that-is-not-here"
    )


@pytest.fixture
def copy(tmp_path):
    """The set-up alone, in a folder with nothing installed."""
    packages = ("requirements.txt", "constraints.txt", "package.json", "package-lock.json")
    for name in (*packages, "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    for folder in ("tools", "tests"):
        (tmp_path / folder).mkdir()
    shutil.copy(ROOT / "tests/requirements.txt", tmp_path / "tests")
    shutil.copy(ROOT / "tools/environment.py", tmp_path / "tools")
    return tmp_path


@pytest.mark.thorough
def test_no_network(copy):
    # A proxy that refuses every connection, and no folder of wheels to fall back on.
    offline = {"PIP_CONFIG_FILE": os.devnull, "PIP_PROXY": "http://127.0.0.1:9", "PIP_RETRIES": "0"}
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PIP_")}
    command = [sys.executable, copy / "tools/environment.py", "book"]
    result = run(*command, env=environment | offline | {"PATH": os.defpath})
    assert_one_line(result, "is there a network, and room on the disk?")


@pytest.mark.skipif(os.name == "nt", reason="permissions are set in another way there")
def test_no_write_access(copy):
    program = (
        "import os, runpy, sys; os.access = lambda *arguments: False;"
        f"sys.argv = ['environment.py', 'book']; runpy.run_path({str(copy / 'tools/environment.py')!r}, "
        "run_name='__main__')"
    )
    assert_one_line(run(sys.executable, "-c", program), "can't be written to")


def test_a_busy_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        result = run(sys.executable, "-m", "tools.site.server", str(port))
    assert_one_line(result, f"port {port} is taken")


@pytest.mark.thorough
def test_no_gpu(tmp_path):
    # CUDA_VISIBLE_DEVICES hides the GPUs of a machine that has some.
    result = run(
        sys.executable, "-m", "tools.testing.run", "--gpu", env=os.environ | {"CUDA_VISIBLE_DEVICES": ""}
    )
    assert_one_line(result, "no GPU")


def test_a_gpu_that_pytorch_does_not_see(tmp_path, monkeypatch):
    program = tmp_path / "nvidia-smi"
    program.write_text("#!/bin/sh\necho NVIDIA H100, 470.57\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert machines.cards() == "NVIDIA H100, driver 470.57"
    because = machines.why_no_gpu(machines.cards(), "2.13.0+cpu", None)
    assert because.startswith(
        "here is NVIDIA H100, driver 470.57, and PyTorch 2.13.0+cpu is a build without CUDA"
    )
    because = machines.why_no_gpu(machines.cards(), "2.13.0+cu130", "13.0")
    assert because.endswith("CUDA 13.0 may need a newer driver or card")


def test_no_driver_or_one_that_finds_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert machines.cards() == ""
    (tmp_path / "nvidia-smi").write_text("#!/bin/sh\necho No devices were found\nexit 6\n")
    (tmp_path / "nvidia-smi").chmod(0o755)
    assert machines.cards() == ""
    assert "sees no CUDA device" in machines.why_no_gpu("", "2.13.0+cu130", "13.0")


@pytest.mark.thorough
def test_a_chapter_that_takes_too_much_memory_fails_alone(tmp_path):
    """Its kernel is stopped all the same: else the next chapter's first cell would fail with it."""
    chapter = new_notebook(cells=[new_code_cell("1 + 1", outputs=[])], metadata=notebooks.NOTEBOOK_METADATA)
    chapter.cells[0].metadata["tags"] = ["nbval-ignore-output"]
    for name in ("first", "second"):
        notebooks.write(chapter, tmp_path / f"{name}.ipynb")
    limit = f"conftest.MOST_MEMORY, conftest.ROOT = 1, conftest.Path({str(tmp_path)!r})"
    (tmp_path / "strict.py").write_text(f"import conftest\n{limit}\n")
    path = os.pathsep.join([*map(str, (tmp_path, ROOT)), os.environ.get("PYTHONPATH", "")])
    options = ["-q", "-n0", "-cpyproject.toml", "-pno:cacheprovider", "-pconftest", "-pstrict"]
    command = [sys.executable, "-m", "pytest", *options, str(tmp_path)]
    result = run(*command, env=os.environ | {"PYTHONPATH": path})
    assert "2 passed, 2 errors" in result.stdout
    assert "first.ipynb took" in result.stdout
    assert "torn down" not in result.stdout


@pytest.mark.thorough
def test_on_a_plainer_processor_pytorch_and_numpy_use_less():
    used = {name: machines.in_force(settings) for name, settings in machines.machines().items()}
    assert {used[name][0] for name in used if name != "as it is"} <= {"AVX2", "DEFAULT"}
    for (more, more_of_numpy), (less, less_of_numpy) in itertools.pairwise(used.values()):
        assert more != less
        assert {*more_of_numpy} > {*less_of_numpy}


@pytest.mark.parametrize(
    ("pytorch", "numpy", "disabled"),
    [
        ("AVX512", ["X86_V3", "X86_V4"], {"avx2": "X86_V4", "oldest": "X86_V3 X86_V4"}),
        ("AVX2", ["X86_V3"], {"oldest": "X86_V3"}),
        ("DEFAULT", ["ASIMDHP"], {}),  # on ARM
    ],
)
def test_a_processor_can_be_a_plainer_one(pytorch, numpy, disabled, monkeypatch):
    monkeypatch.setattr(machines, "in_force", lambda settings: (pytorch, numpy))
    as_it_is, *plainer = machines.machines().items()
    assert as_it_is == ("as it is", {})
    assert {name: told[machines.NUMPY] for name, told in plainer} == disabled
    with pytest.raises(SystemExit, match="MACHINE must be one of as it is"):
        machines.be("avx9")


@pytest.mark.thorough
def test_no_chromium(tmp_path):
    """Neither here nor to be had: no apt-get, and a place to download from that refuses every connection."""
    nowhere = {"PATH": str(tmp_path), "PLAYWRIGHT_BROWSERS_PATH": str(tmp_path)}
    nowhere["PLAYWRIGHT_DOWNLOAD_HOST"] = "http://127.0.0.1:9"
    result = run(sys.executable, "-m", "tools.site.browser", env=os.environ | nowhere)
    assert_one_line(result, "there is no Chromium: install one")


def test_the_hook_on_a_python_without_packages():
    result = run(sys.executable, "-S", "-m", "tools.chapters.notebooks")
    assert_one_line(result, f"there is no nbformat for {sys.executable}: use .venv/bin/python")


def test_no_docker(tmp_path):
    (tmp_path / "sh").symlink_to("/bin/sh")
    assert_one_line(
        run(shutil.which("make"), "test-colab", env={"PATH": str(tmp_path)}), "there is no docker"
    )


def test_make_alone_lists_every_command_with_a_line():
    listed = run("make").stdout
    for command in (
        "book",
        "serve",
        "live",
        "lab",
        "test",
        "test-gpu",
        "refresh",
        "pdf",
        "zip",
        "bench",
        "links",
        "clean",
    ):
        assert f"make {command} " in listed


def test_an_unchanged_site_is_not_built_again(site):
    assert run(sys.executable, "-m", "tools.site.build").stdout == "build: _build/html is up to date\n"


def test_a_site_that_somebody_removed_is_not_up_to_date(tmp_path, monkeypatch):
    monkeypatch.setattr(build, "BUILT_FROM", tmp_path / ".built-from")
    build.BUILT_FROM.write_text(build.inputs())
    assert not build.is_up_to_date()
    (tmp_path / "html").mkdir()
    (tmp_path / "html" / "index.html").touch()
    assert build.is_up_to_date()


@pytest.mark.parametrize("name", ["book/index.md", "_config.yml", "book/bookkit/claims.py"])
def test_a_changed_file_makes_the_site_stale(name, monkeypatch):
    before = build.inputs()
    read = Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda path: read(path) + b" " * (path == ROOT / name))
    assert build.inputs() != before
