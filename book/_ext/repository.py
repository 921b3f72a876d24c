"""The launch, edit and issue buttons lead to the repository the site is built from: a fork edits nothing.

Binder and Colab open what the page was built from, so that what runs is what the page shows: the tag of a
release or, while the version in pyproject.toml ends in ".dev0", the branch in _config.yml. Edits and issues
belong to that branch.
"""

import os
import re
import subprocess
import tomllib
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


def launched(project: Path, branch: str) -> str:
    """`launched(project, "main")` is "v1.2.0" for version 1.2.0 in pyproject.toml, "main" for 1.3.0.dev0."""
    file = project / "pyproject.toml"
    if not file.exists():
        return branch
    version = tomllib.loads(file.read_text(encoding="utf-8"))["project"]["version"]
    return branch if version.endswith(".dev0") else f"v{version}"


def configure(app: Sphinx, config: Config) -> None:
    project, options = Path(app.srcdir).parent, config.html_theme_options
    options["repository_url"] = source(project, os.environ, options["repository_url"])
    config.launched = launched(project, options["repository_branch"])


def launch(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object) -> None:
    """The theme has one branch for all buttons."""
    branch = re.escape(app.config.html_theme_options["repository_branch"])
    for group in context.get("header_buttons", []):
        if group.get("label") == "launch-buttons":
            for button in group["buttons"]:
                at_branch = rf"(?<=/){branch}(?=[?/])"
                button["url"] = re.sub(at_branch, app.config.launched, button["url"], count=1)


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_config_value("launched", "", "html")
    app.connect("config-inited", configure)
    app.connect("html-page-context", launch, priority=502)  # the theme makes its buttons at 501
    return {"parallel_read_safe": True}
