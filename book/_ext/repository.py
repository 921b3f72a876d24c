"""The launch, edit and issue buttons lead to the repository the site is built from: a fork edits nothing.

The branch stays the one in _config.yml: the site is published from there, and the branch of a pull request,
whose preview is built too, is gone when somebody follows the link.
"""

import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.config import Config

# What git takes as the address of a repository on GitHub, the one place that both Binder and Colab open.
# A user or a token may stand before the @: it must not reach a page.
ADDRESS = re.compile(
    r"(?:\w+://)?(?:[^/@]+@)?(?:ssh\.)?github\.com(?::\d+)?[/:]([\w.-]+/[\w.-]+?)(?:\.git)?/?"
)


def page(address: str) -> str | None:
    """`page("git@github.com:ada/fork.git")` is "https://github.com/ada/fork"; None if it isn't on GitHub."""
    match = ADDRESS.fullmatch(address)
    return f"https://github.com/{match[1]}" if match else None


def origin(project: Path) -> str:
    """`origin(project)` is the address that the project was cloned from, "" if it is no clone."""
    # Without the ceiling, a copy of the project inside another repository would take that one's address.
    environment = os.environ | {"GIT_CEILING_DIRECTORIES": str(project.parent)}
    command = ["git", "-C", str(project), "remote", "get-url", "origin"]
    try:
        run = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    except FileNotFoundError:  # a downloaded copy, on a machine without git
        return ""
    return run.stdout.strip()


def source(project: Path, environment: Mapping[str, str], default: str) -> str:
    """`source(project, os.environ, default)` is what GitHub's CI builds, else what was cloned."""
    built = environment.get("GITHUB_SERVER_URL", "") + "/" + environment.get("GITHUB_REPOSITORY", "")
    return page(built) or page(origin(project)) or default


def configure(app: Sphinx, config: Config) -> None:
    options = config.html_theme_options
    options["repository_url"] = source(Path(app.srcdir).parent, os.environ, options["repository_url"])


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("config-inited", configure)
    return {"parallel_read_safe": True}
