"""A release: one version, what is new in it, and what it brings."""

import re
import zipfile
from datetime import date

import pytest
import yaml
from packaging.version import parse as parsed

from tools import ROOT, release

CHANGELOG = (ROOT / "CHANGELOG.md").read_text("utf-8")
GITHUB = {"GITHUB_REF_TYPE": "tag"}
HEADING = re.compile(r"^## (\d+\.\d+\.\d+) - (\d{4}-\d\d-\d\d)$", re.MULTILINE)


def test_the_version_is_the_latest_in_the_changelog_or_the_one_to_come_and_one_cites_the_latest():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    latest, day = HEADING.findall(CHANGELOG)[0]
    number = release.version()
    assert number == release.version(ROOT / "src/checkup")
    assert number == latest or (not release.is_released(number) and parsed(number) > parsed(latest))
    assert latest == citation["version"]
    assert date.fromisoformat(day) == citation["date-released"]


def test_before_a_release_the_news_are_what_is_unreleased():
    changelog = "## Unreleased\n\nMasks.\n\n## 1.2.0 - 2027-01-31\n\nHeads."
    assert release.notes("1.3.0.dev0", changelog) == "Masks.\n"


# ---- packing ----


@pytest.fixture
def project(tmp_path):
    """What `make release` has built before it packs, and the two files that it reads."""
    (tmp_path / "pyproject.toml").write_text('[project]\nversion = "1.2.0"\n')
    changelog = (
        "# Changelog\n\n## Unreleased\n\n## 1.2.0 - 2027-01-31\n\nMasks.\n\n## 1.1.0 - 2026-12-24\n\nHeads.\n"
    )
    (tmp_path / "CHANGELOG.md").write_text(changelog)
    build = tmp_path / "_build"
    (build / "exercises" / "student").mkdir(parents=True)
    (build / "exercises" / "student" / "a.ipynb").write_text("{}")
    (build / "attention-measured.zip").write_bytes(b"the site")
    (build / "attention-measured.pdf").write_bytes(b"the book")
    return tmp_path


def test_a_release_holds_the_site_the_book_the_hand_outs_and_its_own_news(project):
    (project / "_build" / "release").mkdir()
    (project / "_build" / "release" / "attention-measured-1.1.0.pdf").touch()
    packed = {path.name: path for path in release.pack(project, GITHUB | {"GITHUB_REF_NAME": "v1.2.0"})}
    stem = "attention-measured-1.2.0"
    assert packed.keys() == {f"{stem}-site.zip", f"{stem}.pdf", f"{stem}-hand-outs.zip", "notes.md"}
    assert packed["notes.md"].read_text("utf-8") == "Masks.\n"
    assert packed[f"{stem}-site.zip"].read_bytes() == b"the site"
    assert packed[f"{stem}.pdf"].read_bytes() == b"the book"
    with zipfile.ZipFile(packed[f"{stem}-hand-outs.zip"]) as archive:
        assert "student/a.ipynb" in archive.namelist()


@pytest.mark.parametrize("name", ["v1.2.1", "1.2.0"])
def test_another_tag_is_refused(project, name):
    words = f"the tag is {name}, but the version in pyproject.toml is 1.2.0"
    with pytest.raises(ValueError, match=re.escape(words)):
        release.pack(project, GITHUB | {"GITHUB_REF_NAME": name})
    assert not (project / "_build" / "release").exists()


@pytest.mark.parametrize("news", ["Unreleased\n\nMasks.", "1.2.0 - 2027-01-31\n\n## 1.1.0 - 2026-12-24"])
def test_a_version_of_which_nothing_is_said_is_refused(project, news):
    (project / "CHANGELOG.md").write_text(f"## {news}")
    with pytest.raises(ValueError, match=r"say what is new, below a line “## 1\.2\.0 - YEAR-MONTH-DAY”"):
        release.pack(project, {})
