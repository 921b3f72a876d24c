"""The buttons of a page lead to the repository that the site is built from."""

import os
import re
import subprocess
import sys
from html import unescape
from pathlib import Path

import nbformat
import pytest
import yaml

from _ext import repository
from tools import ROOT
from tools.chapters import notebooks

DEFAULT = "https://github.com/attention-measured/attention-measured"


@pytest.mark.parametrize(
    "address",
    [
        "https://github.com/ada/fork",
        "https://github.com/ada/fork.git",
        "https://github.com/ada/fork/",
        "https://ada:a-secret@github.com/ada/fork.git",
        "git@github.com:ada/fork.git",
        "git@github.com:ada/fork",
        "ssh://git@github.com/ada/fork.git",
        "ssh://git@ssh.github.com:443/ada/fork.git",
        "git://github.com/ada/fork.git",
    ],
)
def test_every_form_of_an_address_names_the_same_page(address):
    assert repository.page(address) == "https://github.com/ada/fork"


@pytest.mark.parametrize("name", ["fork.of.it", "fork-2", "fork_2", "git"])
def test_a_name_may_hold_dots_and_dashes(name):
    assert repository.page(f"git@github.com:ada/{name}.git") == f"https://github.com/ada/{name}"


@pytest.mark.parametrize(
    "address",
    ["", "/", "/home/ada/fork", "../fork", "file:///home/ada/fork.git", "https://example.org/ada/fork",
     "https://notgithub.com/ada/fork", "https://github.com/ada"],
)  # fmt: skip
def test_what_is_not_a_repository_on_github_is_no_page(address):
    assert repository.page(address) is None


def clone(folder: Path, remote: str | None) -> Path:
    folder.mkdir(exist_ok=True)
    subprocess.run(["git", "init", "--quiet", folder], check=True)
    if remote:
        subprocess.run(["git", "-C", folder, "remote", "add", "origin", remote], check=True)
    return folder


def test_a_clone_leads_to_what_it_was_cloned_from(tmp_path):
    project = clone(tmp_path / "project", "git@github.com:ada/fork.git")
    assert repository.source(project, {}, DEFAULT) == "https://github.com/ada/fork"


@pytest.mark.parametrize("remote", [None, "/home/ada/attention-measured"])
def test_without_a_remote_on_github_the_default_holds(tmp_path, remote):
    assert repository.source(clone(tmp_path / "project", remote), {}, DEFAULT) == DEFAULT


def test_a_copy_inside_another_repository_does_not_take_that_one(tmp_path):
    clone(tmp_path, "https://github.com/ada/all-my-files")
    copy = tmp_path / "project"
    copy.mkdir()
    assert repository.source(copy, {}, DEFAULT) == DEFAULT


def test_a_machine_without_git_takes_the_default(tmp_path, monkeypatch):
    project = clone(tmp_path / "project", "https://github.com/ada/fork")
    monkeypatch.setenv("PATH", "")
    assert repository.source(project, {}, DEFAULT) == DEFAULT


def test_ci_goes_before_the_remote(tmp_path):
    project = clone(tmp_path / "project", "https://github.com/ada/fork")
    ci = {"GITHUB_SERVER_URL": "https://github.com", "GITHUB_REPOSITORY": "grace/other-fork"}
    assert repository.source(project, ci, DEFAULT) == "https://github.com/grace/other-fork"


@pytest.mark.parametrize(
    ("version", "at"), [("1.2.0", "v1.2.0"), ("1.3.0.dev0", "main"), (None, "main")], ids=str
)
def test_what_is_launched_is_what_the_site_was_built_from(tmp_path, version, at):
    if version:
        (tmp_path / "pyproject.toml").write_text(f'[project]\nversion = "{version}"\n')
    assert repository.launched(tmp_path, "main") == at


def build(project: Path) -> set[str]:
    """Where the links of a page lead when a one-chapter book is built with this book's settings."""
    book = project / "book"
    book.mkdir()
    chapter = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("# A chapter")])
    nbformat.write(chapter, book / "chapter.ipynb")
    (book / "_toc.yml").write_text("format: jb-book\nroot: chapter\n")
    settings = yaml.safe_load((ROOT / "_config.yml").read_text("utf-8"))
    tested = {name: settings[name] for name in ("repository", "launch_buttons")}
    tested["html"] = {name: on for name, on in settings["html"].items() if name.startswith("use_")}
    tested["sphinx"] = {
        "recursive_update": True,
        "local_extensions": {"_ext.repository": str(notebooks.BOOK)},
    }
    (book / "_config.yml").write_text(yaml.safe_dump(tested))
    (project / "pyproject.toml").write_text('[project]\nversion = "1.2.0"\n')
    elsewhere = {name: value for name, value in os.environ.items() if not name.startswith("GITHUB_")}
    command = [Path(sys.executable).with_name("jupyter-book"), "build", "book", "-W", "-n"]
    run = subprocess.run(command, cwd=project, env=elsewhere, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    page = (book / "_build" / "html" / "chapter.html").read_text("utf-8")
    return {unescape(link) for link in re.findall('href="(.*?)"', page)}


def buttons(repository: str) -> set[str]:
    return {
        f"https://github.com/{repository}",
        f"https://github.com/{repository}/edit/main/book/chapter.ipynb",
        f"https://mybinder.org/v2/gh/{repository}/v1.2.0?urlpath=lab/tree/book/chapter.ipynb",
        f"https://colab.research.google.com/github/{repository}/blob/v1.2.0/book/chapter.ipynb",
        "_sources/chapter.ipynb",
    }


@pytest.mark.thorough
def test_the_buttons_of_a_clone(tmp_path):
    links = build(clone(tmp_path / "project", "git@github.com:ada/fork.git"))
    assert buttons("ada/fork") <= links
    assert any(link.startswith("https://github.com/ada/fork/issues/new?") for link in links)
