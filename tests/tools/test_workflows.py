"""What GitHub runs: linted, safe, and nothing but what runs here."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tools import ROOT

GITHUB = ROOT / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
# The words with which a step may begin that looks at the machine, or says something. All else is `make`.
SAYS = {"echo", "gh", "nvidia-smi"}
JOBS = {
    f"{file.name}: {name}": job
    for file in WORKFLOWS
    for name, job in yaml.safe_load(file.read_text("utf-8"))["jobs"].items()
}
STEPS = [(where, step) for where, job in JOBS.items() for step in job.get("steps", [])]


def run(program: str, *words: str | Path) -> None:
    command = [Path(sys.executable).with_name(program), *words]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "files"),
    [
        ("github-workflows", WORKFLOWS),
        ("dependabot", [GITHUB / "dependabot.yml"]),
        ("github-issue-forms", sorted((GITHUB / "ISSUE_TEMPLATE").glob("[!c]*.yml"))),
        ("github-issue-config", [GITHUB / "ISSUE_TEMPLATE" / "config.yml"]),
        ("citation-file-format", [ROOT / "CITATION.cff"]),
    ],
)
def test_the_files_fit_their_schema(name, files):
    run("check-jsonschema", "--builtin-schema", f"vendor.{name}", *files)


def test_the_workflows_are_safe():
    """Every finding of zizmor, however small, makes it fail."""
    run("zizmor", "--offline", "--no-progress", "--persona", "auditor", "--strict-collection", GITHUB)


# ---- the house rules that no linter knows ----


def test_every_step_that_builds_or_tests_is_a_make_target_that_exists():
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    called = {}
    for where, step in STEPS:
        for line in step.get("run", "").splitlines():
            first, *rest = line.split()
            if first == "make":
                assert rest[0] in targets, f"{where}: {line}"
                called[where] = line.removeprefix("make ")
            else:
                assert first in SAYS, f"{where}: put {line!r} into the Makefile, so that it runs here too"
    machines = ("chapters", "colab", "gpu", "models", "variants")
    tests = {"test", "test-rest", "test-weekly", *(f"test-{name}" for name in machines)}
    assert sorted(called.values()) == sorted({"links", "mutants", "newest", "release"} | tests)
    assert called["tests.yml: for-people"] == "test"
    assert called["tests.yml: for-the-machine"] == "test-rest"


def test_no_package_that_is_installed_can_write():
    """A job with a right to change something runs none of the project's code, nor anybody else's."""
    writing = {where: job for where, job in JOBS.items() if "write" in job["permissions"].values()}
    assert writing.keys() == {"release.yml: publish", "release.yml: release", "weekly.yml: report"}
    for where, job in writing.items():
        for step in job["steps"]:
            does = step.get("uses") or step["run"]
            assert does.startswith(("actions/deploy-pages@", "gh ")), f"{where}: {does}"


def test_every_job_has_a_time_limit():
    assert not [where for where, job in JOBS.items() if "timeout-minutes" not in job and "uses" not in job]


def test_every_weekly_check_is_reported():
    weekly = [where.removeprefix("weekly.yml: ") for where in JOBS if where.startswith("weekly.yml: ")]
    report = JOBS["weekly.yml: report"]
    assert report["needs"] == [name for name in weekly if name != "report"]
    assert report["if"] == "failure()"
    assert all(f"needs.{name}.result" in report["steps"][0]["env"]["BODY"] for name in report["needs"])
