"""Every button of a page leads to a file that is there; a chapter that Colab opens alone finds the book."""

import os
import shutil
import subprocess
import sys
import tomllib
from html.parser import HTMLParser
from urllib.parse import unquote

import pytest
import yaml
from IPython.core.interactiveshell import InteractiveShell
from markdown_it import MarkdownIt

from _ext import repository
from attnlab.corpora import text
from bookkit import registry
from tools import ROOT, release
from tools.chapters import notebooks

SETTINGS = yaml.safe_load((ROOT / "_config.yml").read_text("utf-8"))
DEFAULT = SETTINGS["repository"]["url"]
BRANCH = SETTINGS["repository"]["branch"]
TAG = f"v{release.version()}"
BINDER = "https://mybinder.org/v2/gh/"
COLAB = "https://colab.research.google.com/github/"


# ---- the links of the built pages ----


def links(page: str) -> list[str]:
    """`links('<a href="x.html">x</a>')` is ["x.html"]."""
    found: list[str] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
            found.extend(value for name, value in attributes if name in ("href", "src") and value)

    Reader().feed(page)
    return found


def places(source: str) -> dict[str, str]:
    """Where a file of the repository `source` can be opened: what for, and how such a link begins."""
    name = source.removeprefix("https://github.com/")
    return {
        "Binder": f"{BINDER}{name}/{TAG}?urlpath=lab/tree/",
        "Colab": f"{COLAB}{name}/blob/{TAG}/",
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
                lines.append(f"{link} does not lead to this release of {source}")
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


@pytest.mark.parametrize(
    ("link", "reason"),
    [
        (f"{BINDER}ada/fork/{TAG}?urlpath=lab/tree/book/no-such-chapter.ipynb", "not in the repository"),
        (f"{COLAB}ada/fork/blob/{TAG}/why-divide-by-root-dk.ipynb", "not in the repository"),
        (f"https://github.com/ada/fork/edit/{BRANCH}/book/no-such-page.md", "not in the repository"),
        (f"https://github.com/ada/fork/blob/{BRANCH}/tools/no_such_tool.py#L3", "not in the repository"),
        (f"{BINDER}ada/fork/{TAG}?urlpath=lab/tree/requirements.txt", "not a notebook"),
        (f"{BINDER}ada/fork/{TAG}?urlpath=tree/book", "does not lead to"),
        (f"{BINDER}ada/fork/{BRANCH}?urlpath=lab/tree/book", "does not lead to"),
        (f"{BINDER}grace/fork/{TAG}?urlpath=lab/tree/book", "does not lead to"),
        (f"{COLAB}grace/fork/blob/{TAG}/book/why-divide-by-root-dk.ipynb", "does not lead to"),
    ],
)
def test_a_wrong_link_is_caught(link, reason):
    fork = "https://github.com/ada/fork"
    good = places(fork)["edit"] + "requirements.txt"
    (line,) = wrong_links(f'<a href="{good}">Edit</a> <p><a class="button" href="{link}">Run</a></p>', fork)
    assert link in line
    assert reason in line


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_the_files_that_github_shows_link_to_files_that_are_there(name):
    page = MarkdownIt().render((ROOT / name).read_text("utf-8"))
    assert not wrong_links(page, DEFAULT)
    inside = [link for link in links(page) if "://" not in link]
    assert not [link for link in inside if not (ROOT / unquote(link.partition("#")[0])).exists()]


def test_the_readme_launches_binder_on_the_first_chapter():
    page = MarkdownIt().render((ROOT / "README.md").read_text("utf-8"))
    first = registry.chapters()[0].notebook.name
    assert f"{places(DEFAULT)['Binder']}book/{first}" in links(page)


# ---- Colab ----


# The first cell of every chapter. Colab doesn't tell a notebook where it came from, so this address stays the
# default in a fork too, and the release is named: what a chapter imports fits what it says.
FIRST_CELL = f"""\
if "google.colab" in str(get_ipython()):  # Colab opens a chapter alone
    %pip install --quiet "attention-measured[colab] @ git+{DEFAULT}@{TAG}\""""


@pytest.mark.parametrize("chapter", notebooks.chapters(), ids=lambda path: path.stem)
def test_every_chapter_begins_with_the_cell_for_colab(chapter, site):
    first = notebooks.read(chapter).cells[0]
    assert first.source == FIRST_CELL, "this must be the first cell, word for word (then `make refresh`)"
    assert "remove-cell" in first.metadata.get("tags", []), "tag the cell for Colab remove-cell"
    assert first.metadata["cellView"] == "form", "Colab shows its code: run `make refresh`"
    assert not first.outputs
    assert "google.colab" not in (site / f"{chapter.stem}.html").read_text("utf-8")


class Shell(InteractiveShell):
    """A place to run the cell in, that keeps what it would install."""

    def run_line_magic(self, name, line, *arguments, **options):
        self.asked = [*getattr(self, "asked", []), f"{name} {line}"]


def what_the_cell_asks_for(shell):
    result = shell.run_cell(FIRST_CELL)
    result.raise_error()
    return getattr(shell, "asked", [])


def test_the_cell_does_nothing_elsewhere():
    assert what_the_cell_asks_for(Shell()) == []


def test_on_colab_the_cell_installs_the_release():
    colab = type("Colab", (Shell,), {"__module__": "google.colab._shell"})
    (asked,) = what_the_cell_asks_for(colab())
    assert asked.startswith("pip install --quiet")
    assert f"@{TAG}" in asked


def test_what_colab_lacks_comes_in_the_pinned_versions():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    pins = {line.split()[0] for line in (ROOT / "requirements.txt").read_text("utf-8").splitlines() if line}
    assert {*project["optional-dependencies"]["colab"]} <= pins
    assert "dependencies" not in project, "Colab keeps the PyTorch that it has"


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The packages and sample texts as pip puts them into a folder, from a copy of this one."""
    folder = tmp_path_factory.mktemp("colab")
    unwanted = shutil.ignore_patterns("__pycache__", "*.ipynb", "*.egg-info")
    shutil.copytree(notebooks.BOOK, folder / "project/book", ignore=unwanted)
    shutil.copy(ROOT / "pyproject.toml", folder / "project")
    command = [sys.executable, "-m", "uv", "pip", "install", "--quiet", "--offline", "--no-deps"]
    command += ["--no-build-isolation", "--target", folder / "installed", folder / "project"]
    subprocess.run(command, check=True)
    return folder / "installed"


@pytest.mark.thorough
def test_on_colab_chapters_find_the_packages_the_texts_and_altairs_own_renderer(installed, tmp_path):
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
