"""What the commands answer when something is missing: one clear line and a status that is not 0."""

import itertools
import os
import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell, new_notebook

from tools import ROOT
from tools.chapters import notebooks
from tools.site import build, live, server
from tools.testing import machines


def run(*command, **options):
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, **options)


def python(*words, **variables):
    return run(sys.executable, *words, env=os.environ | variables)


def program(folder, name, text):
    """A stand-in for Python, or for the driver's program."""
    (folder / name).write_text(text)
    (folder / name).chmod(0o755)
    return folder / name


OLD_PYTHON = f"""#!{sys.executable}
import collections, runpy, sys
sys.version_info = collections.namedtuple("Version", "major minor micro")(3, 9, 1)
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def set_up(folder, before="", **variables):
    """The set-up alone, in a folder with nothing installed."""
    packages = ("requirements.txt", "constraints.txt", "package.json", "package-lock.json", "pyproject.toml")
    for name in (*packages, "tests/requirements.txt", "tools/environment.py"):
        (folder / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    start = f"import os, runpy, sys; sys.argv[1:] = ['book']; {before}"
    start += f"runpy.run_path({str(folder / 'tools/environment.py')!r}, run_name='__main__')"
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PIP_")}
    return run(sys.executable, "-c", start, env=kept | variables)


def served(module, before, port=0):
    """`make serve` or `make live`, by its module, when this has run before."""
    start = f"import sys; from pathlib import Path; from tools.site import {module}"
    return python("-c", f"{start}\n{before}\nsys.argv[1:] = ['{port}']\n{module}.main()")


def on_a_taken_port(module, folder):
    (folder / "404.html").write_text('<base href="/">')
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        site = f"from tools.site import server; server.SITE = {module}.SITE = Path({str(folder)!r})"
        return served(module, site, taken.getsockname()[1])


def only_a_shell(folder):
    (folder / "sh").symlink_to("/bin/sh")
    return str(folder)


NOT_BUILT = "from tools.site import server; server.SITE = Path('nowhere')"
FULL_DISK = """from tools.site import server
server.SITE = live.SITE = Path({!r})
(server.SITE / "404.html").write_text('<base href="/">')
def full(): raise OSError(28, "No space left on device", "/tmp")
live.private_folder = full"""
NOWHERE = "http://127.0.0.1:9"  # where nothing answers
OFFLINE = {
    "PIP_CONFIG_FILE": os.devnull, "PIP_PROXY": NOWHERE, "PIP_INDEX_URL": NOWHERE, "PIP_RETRIES": "0",
    "PIP_NO_CACHE_DIR": "1", "NO_PROXY": "", "no_proxy": "",
}  # fmt: skip
# What is missing, what happens then, and the words of the one line.
MISSING = {
    "a new Python": (
        lambda folder: run("make", "book", f"PYTHON={program(folder, 'python3', OLD_PYTHON)}"),
        "Python 3.11 or newer is needed, and this is 3.9",
    ),
    "any Python": (
        lambda folder: run("make", "book", "PYTHON=python-that-is-not-here"),
        "there is no python-that-is-not-here",
    ),
    "packages, for the hook": (
        lambda folder: python("-S", "-m", "tools.chapters.notebooks"),
        f"there is no nbformat for {sys.executable}: use .venv/bin/python",
    ),
    "docker": (
        lambda folder: run(shutil.which("make"), "test-colab", env={"PATH": only_a_shell(folder)}),
        "there is no docker",
    ),
    "the right to write": (
        lambda folder: set_up(folder, "os.access = lambda *arguments: False;"),
        "can't be written to",
    ),
    "a port to serve at": (
        lambda folder: on_a_taken_port("server", folder),
        "is taken: choose another with `make serve PORT=",
    ),
    "a port": (
        lambda folder: run("make", "serve", "PORT=80.5"),  # before it builds anything
        "serve: a port is a number below 65536, as in `make serve PORT=8000`: 80.5 is none",
    ),
    "one of this machine's ports": (
        lambda folder: python("-m", "tools.site.live", "65536"),
        "live: a port is a number below 65536, as in `make live PORT=8000`: 65536 is none",
    ),
}
SLOW = {
    "a network": (
        lambda folder: set_up(folder, PATH=os.defpath, **OFFLINE),
        "is there a network, and room on the disk?",
    ),
    "a GPU": (  # of a machine that has some, this hides them
        lambda folder: python("-m", "tools.testing.run", "--gpu", CUDA_VISIBLE_DEVICES=""),
        "no GPU",
    ),
    # Neither here nor to be had: no apt-get, and a place to download from that refuses every connection.
    "Chromium": (
        lambda folder: python(
            *("-m", "tools.site.browser"), PATH=str(folder), PLAYWRIGHT_BROWSERS_PATH=str(folder),
            PLAYWRIGHT_DOWNLOAD_HOST="http://127.0.0.1:9",
        ),
        "there is no Chromium: install one",
    ),
    "a port to live at": (
        lambda folder: on_a_taken_port("live", folder),
        "is taken: choose another with `make live PORT=",
    ),
    "a site": (lambda folder: served("live", NOT_BUILT), "live: the site is not built yet: `make live`"),
    "room on the disk": (
        lambda folder: served("live", FULL_DISK.format(str(folder))),
        "live: [Errno 28] No space left on device: '/tmp'",
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    "missing", [*MISSING, *(pytest.param(name, marks=pytest.mark.thorough) for name in SLOW)]
)
def test_what_is_missing_is_told_in_one_line(missing, tmp_path):
    happens, words = (MISSING | SLOW)[missing]
    result = happens(tmp_path)
    assert result.returncode != 0
    assert words in result.stderr
    assert "Traceback" not in result.stderr + result.stdout
    ours = [line for line in result.stderr.splitlines() if not line.startswith("make")]
    assert len(ours) == 1, result.stderr


@pytest.mark.parametrize(
    ("words", "asked"),
    [([], (8000, True)), (["8123"], (8123, True)), (["--no-browser", "8123"], (8123, False))],
)
def test_make_live_starts_at_the_port_that_is_asked_for_and_opens_a_browser_unless_told_not_to(
    monkeypatch, tmp_path, words, asked
):
    tmp_path.joinpath("404.html").touch()
    monkeypatch.setattr(server, "SITE", tmp_path)
    monkeypatch.setattr(sys, "argv", ["live.py", *words])
    started = []
    monkeypatch.setattr(live, "live", lambda folder, port, opens: started.append((port, opens)))
    live.main()
    assert started == [asked]


# ---- other machines ----


def test_a_gpu_that_pytorch_does_not_see_or_none(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert machines.cards() == ""  # there is no driver
    program(tmp_path, "nvidia-smi", "#!/bin/sh\necho No devices were found\nexit 6\n")
    assert machines.cards() == ""
    assert "sees no CUDA device" in machines.why_no_gpu("", "2.13.0+cu130", "13.0")
    program(tmp_path, "nvidia-smi", "#!/bin/sh\necho NVIDIA H100, 470.57\n")
    card = "NVIDIA H100, driver 470.57"
    assert machines.cards() == card
    because = machines.why_no_gpu(card, "2.13.0+cpu", None)
    assert because.startswith(f"here is {card}, and PyTorch 2.13.0+cpu is a build without CUDA")
    because = machines.why_no_gpu(card, "2.13.0+cu130", "13.0")
    assert because.endswith("CUDA 13.0 may need a newer driver or card")


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


# ---- commands that find nothing amiss ----


def test_make_alone_lists_every_command_with_a_line():
    listed = run("make").stdout
    targets = re.findall(r"^([a-z-]+): .*##", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    assert {"book", "serve", "live", "test", "refresh", "grade"} <= {*targets}
    assert all(f"make {target} " in listed for target in targets)


def test_an_unchanged_site_is_not_built_again(site):
    assert run(sys.executable, "-m", "tools.site.build").stdout == "build: _build/html is up to date\n"


def test_a_site_that_somebody_removed_is_not_up_to_date(tmp_path, monkeypatch):
    monkeypatch.setattr(build, "BUILT_FROM", tmp_path / ".built-from")
    build.BUILT_FROM.write_text(build.inputs())
    assert not build.is_up_to_date()
    (tmp_path / "html").mkdir()
    (tmp_path / "html" / "index.html").touch()
    assert build.is_up_to_date()


@pytest.mark.parametrize("name", ["book/index.md", "_config.yml", "src/bookkit/claims.py"])
def test_a_changed_file_makes_the_site_stale(name, monkeypatch):
    before = build.inputs()
    read = Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda path: read(path) + b" " * (path == ROOT / name))
    assert build.inputs() != before
