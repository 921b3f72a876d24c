"""Every button of a page leads to a file that is there; a chapter that Colab opens alone finds the book."""

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from urllib.parse import unquote

import notebooks
import pytest
import repository
import yaml
from markdown_it import MarkdownIt
from notebooks import ROOT

SETTINGS = yaml.safe_load((ROOT / "_config.yml").read_text("utf-8"))
DEFAULT = SETTINGS["repository"]["url"]
BRANCH = SETTINGS["repository"]["branch"]
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
        "Binder": f"{BINDER}{name}/{BRANCH}?urlpath=lab/tree/",
        "Colab": f"{COLAB}{name}/blob/{BRANCH}/",
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
                lines.append(f"{link} does not lead to the {BRANCH} branch of {source}")
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
        (f"{BINDER}ada/fork/{BRANCH}?urlpath=lab/tree/book/no-such-chapter.ipynb", "not in the repository"),
        (f"{COLAB}ada/fork/blob/{BRANCH}/why-divide-by-root-dk.ipynb", "not in the repository"),
        (f"https://github.com/ada/fork/edit/{BRANCH}/book/no-such-page.md", "not in the repository"),
        (f"https://github.com/ada/fork/blob/{BRANCH}/tools/no_such_tool.py#L3", "not in the repository"),
        (f"{BINDER}ada/fork/{BRANCH}?urlpath=lab/tree/requirements.txt", "not a notebook"),
        (f"{BINDER}ada/fork/{BRANCH}?urlpath=tree/book", "does not lead to"),
        (f"{BINDER}ada/fork/another-branch?urlpath=lab/tree/book", "does not lead to"),
        (f"{BINDER}grace/fork/{BRANCH}?urlpath=lab/tree/book", "does not lead to"),
        (f"{COLAB}grace/fork/blob/{BRANCH}/book/why-divide-by-root-dk.ipynb", "does not lead to"),
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


def test_the_readme_launches_binder_on_the_chapters():
    page = MarkdownIt().render((ROOT / "README.md").read_text("utf-8"))
    assert places(DEFAULT)["Binder"] + "book" in links(page)


# ---- Colab ----


def pin(package: str) -> str:
    return re.search(rf"^{package}==[\w.]+", (ROOT / "requirements.txt").read_text("utf-8"), re.MULTILINE)[0]


# The first cell of every chapter. Colab doesn't tell a notebook where it came from, so this one address stays
# the default in a fork too. A fork that wants Colab to run its own attnlab changes _config.yml;
# the test below then asks for the same address here.
FIRST_CELL = f"""\
# Colab opens a chapter alone: fetch the book around it, and what Colab lacks.
# Elsewhere this does nothing.
import sys

if "google.colab" in sys.modules:
    import os
    import subprocess

    if not os.path.exists("/content/attention-measured"):
        pip = [sys.executable, "-m", "pip", "install", "--quiet"]
        subprocess.run([*pip, "{pin("altair")}", "{pin("torchtext")}"], check=True)
        clone = ["git", "clone", "--quiet", "--depth=1"]
        repository = "{DEFAULT}"
        subprocess.run([*clone, repository, "/content/attention-measured"], check=True)
    os.chdir("/content/attention-measured/book")
    sys.path.insert(0, os.getcwd())"""


@pytest.mark.parametrize("chapter", notebooks.chapters(), ids=lambda path: path.stem)
def test_every_chapter_begins_with_the_cell_for_colab(chapter, site):
    first = notebooks.read(chapter).cells[0]
    assert first.source == FIRST_CELL, "this must be the first cell, word for word (then `make refresh`)"
    assert "remove-cell" in first.metadata.get("tags", []), "tag the cell for Colab remove-cell"
    assert not first.outputs
    assert "google.colab" not in (site / f"{chapter.stem}.html").read_text("utf-8")


def test_the_cell_does_nothing_elsewhere(monkeypatch):
    monkeypatch.setattr(subprocess, "run", lambda *arguments, **options: pytest.fail("it ran a command"))
    folder, path, names = os.getcwd(), list(sys.path), {}
    exec(FIRST_CELL, names)
    assert names.keys() == {"sys", "__builtins__"}
    assert (os.getcwd(), sys.path) == (folder, path)


def test_on_colab_the_cell_fetches_the_book_and_enters_it(tmp_path):
    project = tmp_path / "project"
    (project / "book" / "attnlab").mkdir(parents=True)
    (project / "book" / "attnlab" / "__init__.py").write_text("")
    for command in (
        ["init", "--quiet"],
        ["add", "."],
        ["-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "--quiet", "--message=book"],
    ):
        subprocess.run(["git", "-C", project, *command], check=True)
    cell = FIRST_CELL.replace("/content", str(tmp_path))
    # Twice, as a reader may: the second run must find what the first one fetched.
    program = f"""\
import sys, types
sys.modules["google.colab"] = types.ModuleType("google.colab")
cell = {cell!r}
exec(cell)
exec(cell)
import attnlab
print(attnlab.__file__)
"""
    substitutes = {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": f"url.{project.as_uri()}.insteadOf",
        "GIT_CONFIG_VALUE_0": DEFAULT,
        "PIP_DRY_RUN": "1",  # this environment keeps the versions it has
    }
    run = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path, env=os.environ | substitutes, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip() == str(tmp_path / "attention-measured" / "book" / "attnlab" / "__init__.py")
