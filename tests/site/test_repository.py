"""Which repository a site is built from: its pages' buttons lead there (tests/tools/test_launch.py)."""

import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from _ext import repository

DEFAULT = "https://github.com/attention-measured/attention-measured"


@pytest.mark.parametrize(
    "address",
    [
        "https://github.com/ada/fork-2.of.it/",
        "https://ada:a-secret@github.com/ada/fork-2.of.it.git",
        "git@github.com:ada/fork-2.of.it",
        "ssh://git@ssh.github.com:443/ada/fork-2.of.it.git",
        "git://github.com/ada/fork-2.of.it.git",
    ],
)
def test_every_form_of_an_address_names_the_same_page(address):
    assert repository.page(address) == "https://github.com/ada/fork-2.of.it"


@pytest.mark.parametrize("address", ["", "https://notgithub.com/ada/fork", "https://github.com/ada"])
def test_what_is_not_a_repository_on_github_is_no_page(address):
    assert repository.page(address) is None


def clone(folder: Path, remote: str) -> Path:
    folder.mkdir(exist_ok=True)
    subprocess.run(["git", "init", "--quiet", folder], check=True)
    subprocess.run(["git", "-C", folder, "remote", "add", "origin", remote], check=True)
    return folder


def test_without_a_remote_of_its_own_on_github_or_without_git_the_default_holds(tmp_path, monkeypatch):
    inside = clone(tmp_path, "https://github.com/ada/all-my-files") / "project"
    inside.mkdir()
    assert repository.source(inside, {}, DEFAULT) == DEFAULT
    assert repository.source(clone(inside, "/home/ada/attention-measured"), {}, DEFAULT) == DEFAULT
    fork = clone(tmp_path / "fork", "https://github.com/ada/fork")
    monkeypatch.setenv("PATH", "")
    assert repository.source(fork, {}, DEFAULT) == DEFAULT


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


def test_a_clone_is_built_for_its_own_repository_and_release(tmp_path, monkeypatch):
    project = clone(tmp_path / "project", "git@github.com:ada/fork.git")
    project.joinpath("pyproject.toml").write_text('[project]\nversion = "1.2.0"\n')
    monkeypatch.delenv("GITHUB_REPOSITORY", raising=False)
    config = SimpleNamespace(html_theme_options={"repository_url": DEFAULT, "repository_branch": "main"})
    repository.configure(SimpleNamespace(srcdir=project / "book"), config)
    assert config.html_theme_options["repository_url"] == "https://github.com/ada/fork"
    assert config.launched == "v1.2.0"
