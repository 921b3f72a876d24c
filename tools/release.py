"""Pack a release into _build/release: the site, the PDF, the hand-outs, and notes on what is new.

`make release` builds the three before. The version stands in pyproject.toml, and what is new in CHANGELOG.md.
Between two releases it is the next version with ".dev0" behind it, and what is new stands below "Unreleased".
"""

import os
import re
import shutil
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path

from tools import ROOT


def version(root: Path = ROOT) -> str:
    return str(tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"])


def is_released(number: str) -> bool:
    return not number.endswith(".dev0")


def notes(number: str, changelog: str) -> str:
    """What the changelog says below the heading of this version."""
    heading = rf"^## {re.escape(number)} - \d{{4}}-\d\d-\d\d$" if is_released(number) else "^## Unreleased$"
    found = re.search(rf"{heading}(.*?)(?=^## |\Z)", changelog, re.MULTILINE | re.DOTALL)
    if not found or not found[1].strip():
        raise ValueError(f"CHANGELOG.md must say what is new, below a line “## {number} - YEAR-MONTH-DAY”")
    return found[1].strip() + "\n"


def tag(environment: Mapping[str, str]) -> str:
    """The tag that GitHub's workflow runs for; "" where it runs for something else, or isn't GitHub's."""
    return environment.get("GITHUB_REF_NAME", "") if environment.get("GITHUB_REF_TYPE") == "tag" else ""


def pack(root: Path, environment: Mapping[str, str]) -> list[Path]:
    """The files of the release, made anew."""
    number = version(root)
    if tag(environment) not in ("", f"v{number}"):
        raise ValueError(f"the tag is {tag(environment)}, but the version in pyproject.toml is {number}")
    news = notes(number, (root / "CHANGELOG.md").read_text(encoding="utf-8"))
    build = root / "_build"
    folder = build / "release"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    (folder / "notes.md").write_text(news, encoding="utf-8")
    stem = folder / f"attention-measured-{number}"
    shutil.copy(build / "attention-measured.zip", f"{stem}-site.zip")
    shutil.copy(build / "attention-measured.pdf", f"{stem}.pdf")
    shutil.make_archive(f"{stem}-hand-outs", "zip", build / "exercises")
    return sorted(folder.iterdir())


if __name__ == "__main__":
    try:
        for path in pack(ROOT, os.environ):
            print(f"release: {path.relative_to(ROOT)}")
    except ValueError as reason:
        sys.exit(f"release: {reason}")
