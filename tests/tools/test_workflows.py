"""What GitHub, Dependabot, the hooks and the container run: linted, safe, and nothing but what runs here."""

import ast
import json
import os
import re
import subprocess
import sys
from importlib.metadata import packages_distributions
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml

from tools import ROOT
from tools.chapters import notebooks, stamps
from tools.environment import HELD

GITHUB = ROOT / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
# The words with which a step may begin that looks at the machine, or says something. All else is `make`.
SAYS = {"echo", "gh", "nvidia-smi"}


def run(*command: str | Path, **options) -> subprocess.CompletedProcess[str]:
    program = Path(sys.executable).with_name(str(command[0]))
    return subprocess.run([program, *command[1:]], capture_output=True, text=True, check=False, **options)


# ---- two linters ----


def schema(name: str, *files: Path) -> subprocess.CompletedProcess[str]:
    return run("check-jsonschema", "--builtin-schema", f"vendor.{name}", *files)


def security(*files: Path) -> subprocess.CompletedProcess[str]:
    """Every finding of zizmor, however small, makes it fail."""
    return run("zizmor", "--offline", "--no-progress", "--persona", "auditor", "--strict-collection", *files)


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
    result = schema(name, *files)
    assert result.returncode == 0, result.stdout


def test_the_workflows_are_safe():
    result = security(GITHUB)
    assert result.returncode == 0, result.stdout


DANGER = """\
name: Planted
on: pull_request_target
jobs:
  one:
    run-on: ubuntu-24.04
    steps:
      - uses: actions/checkout@v5
      - run: echo ${{ github.event.pull_request.title }}
"""


@pytest.mark.thorough
def test_both_linters_can_fail(tmp_path):
    file = tmp_path / ".github" / "workflows" / "planted.yml"
    file.parent.mkdir(parents=True)
    file.write_text(DANGER)
    assert schema("github-workflows", file).returncode != 0
    file.write_text(DANGER.replace("run-on", "runs-on"))
    found = security(file)
    assert found.returncode != 0
    for danger in ("dangerous-triggers", "template-injection", "unpinned-uses", "artipacked"):
        assert danger in found.stdout


# ---- the house rules that no linter knows ----


def jobs() -> dict[str, dict]:
    """Every job: {"tests.yml: everything": …}."""
    return {
        f"{file.name}: {name}": job
        for file in WORKFLOWS
        for name, job in yaml.safe_load(file.read_text("utf-8"))["jobs"].items()
    }


def steps() -> list[tuple[str, dict]]:
    return [(where, step) for where, job in jobs().items() for step in job.get("steps", [])]


def targets() -> set[str]:
    return set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))


def test_every_step_that_builds_or_tests_is_a_make_target_that_exists():
    called = set()
    for where, step in steps():
        for line in step.get("run", "").splitlines():
            first, *rest = line.split()
            if first == "make":
                assert len(rest) == 1, f"{where}: {line}"
                assert rest[0] in targets(), f"{where}: the Makefile has no target {rest[0]!r}"
                called.add(rest[0])
            else:
                assert first in SAYS, f"{where}: put {line!r} into the Makefile, so that it runs here too"
    machines = ("chapters", "colab", "gpu", "models", "variants")
    tests = {"test", "test-rest", "test-weekly", *(f"test-{name}" for name in machines)}
    assert called == {"book", "links", "mutants", "newest", "release"} | tests


def test_everything_is_checked_once_and_what_a_machine_can_change_on_each():
    tiers = {
        "make test": "tests.yml: for-people",
        "make test-rest": "tests.yml: for-the-machine",
        "make test-weekly": "weekly.yml: tests",
    }
    assert {step["run"]: where for where, step in steps() if step.get("run") in tiers} == tiers
    rows = {where: job["strategy"]["matrix"] for where, job in jobs().items() if "strategy" in job}
    assert rows == {
        "tests.yml: for-people": {"python": ["3.11", "3.12", "3.13"]},
        "tests.yml: chapters": {"machine": ["ubuntu-24.04-arm", "macos-latest"]},
    }


def test_no_package_that_is_installed_can_write():
    """A job with a right to change something runs none of the project's code, nor anybody else's."""
    writing = {where: job for where, job in jobs().items() if "write" in job["permissions"].values()}
    assert writing.keys() == {"release.yml: publish", "release.yml: release", "weekly.yml: report"}
    for where, job in writing.items():
        for step in job["steps"]:
            does = step.get("uses") or step["run"]
            assert does.startswith(("actions/deploy-pages@", "gh ")), f"{where}: {does}"


def test_every_job_has_a_time_limit_and_every_action_names_the_version_of_its_commit():
    for where, job in jobs().items():
        assert "timeout-minutes" in job or "uses" in job, where
    for file in WORKFLOWS:
        for line in file.read_text("utf-8").splitlines():
            if "uses: " in line and "$/" not in line:
                pinned = re.search(r"uses: [\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$", line)
                assert pinned, f"{file.name}: {line.strip()!r} is not `uses: action@commit # version`"


# ---- what a failing week does ----

# A stand-in for GitHub's own program: it writes down how it is called, and knows of one open issue or none.
GH = """\
#!/bin/sh
case "$1 $2" in
  "issue list") printf '%s' "$OPEN" ;;
  "issue comment") test -n "$3" || exit 1 ;;
esac
printf '%s\\n' "$*" >> "$CALLS"
"""


@pytest.mark.parametrize(
    ("open_issue", "done"),
    [
        ("", "issue create --title The weekly run fails --body It fails."),
        ("7", "issue comment 7 --body It fails."),
    ],
)
def test_a_failing_week_opens_an_issue_or_adds_to_the_open_one(tmp_path, open_issue, done):
    (step,) = jobs()["weekly.yml: report"]["steps"]
    program = tmp_path / "gh"
    program.write_text(GH)
    program.chmod(0o755)
    calls = tmp_path / "calls"
    variables = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "OPEN": open_issue, "CALLS": str(calls)}
    variables |= {"TITLE": step["env"]["TITLE"], "BODY": "It fails."}
    # As GitHub runs a step.
    subprocess.run(["bash", "-e", "-c", step["run"]], env=variables, capture_output=True, check=True)
    asked, *answered = calls.read_text().splitlines()
    assert asked.startswith("issue list ")
    assert answered == [done]


def test_every_weekly_check_is_reported():
    weekly = {where.removeprefix("weekly.yml: "): job for where, job in jobs().items() if "weekly" in where}
    report = weekly.pop("report")
    assert report["needs"] == list(weekly)
    assert report["if"] == "failure()"
    for name, job in weekly.items():
        assert f"needs.{name}.result" in report["steps"][0]["env"]["BODY"]
        assert "continue-on-error" not in job, f"{name}: the report would take its failure for a success"


# ---- Dependabot: it proposes what its checks can accept as it is, and overlooks no file ----

REQUIREMENTS = [ROOT / "requirements.txt", ROOT / "tests" / "requirements.txt"]
UPDATES = {
    update["package-ecosystem"]: update
    for update in yaml.safe_load((ROOT / ".github" / "dependabot.yml").read_text("utf-8"))["updates"]
}


def imported_packages() -> set[str]:
    """What the chapters, and the packages of the book, import from elsewhere, as it is called on PyPI."""
    sources = [
        stamps.plain_python(cell)
        for path in notebooks.chapters()
        for cell in notebooks.code_cells(notebooks.read(path))
    ]
    files = [file for package in stamps.PACKAGES for file in (stamps.source() / package).rglob("*.py")]
    sources += [file.read_text("utf-8") for file in files]
    modules: set[str] = set()
    for node in (node for source in sources for node in stamps.statements(ast.parse(source))):
        if isinstance(node, ast.Import):
            modules |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            modules.add(node.module.partition(".")[0])
    called = packages_distributions()
    imported = {name.lower() for module in modules for name in called.get(module, [])}
    # Altair's, which is pinned for the time that chapters take to import it.
    return imported | {"jsonschema"}


def test_dependabot_raises_just_what_can_be_raised_alone():
    allowed = [entry["dependency-name"] for entry in UPDATES["pip"]["allow"]]
    pinned = re.findall(r"(?m)^([\w-]+)==", "".join(file.read_text("utf-8") for file in REQUIREMENTS))
    assert allowed == sorted({*pinned} - imported_packages() - {*HELD})
    assert UPDATES["pip"]["directories"] == ["/", "/tests"]
    assert UPDATES["npm"]["directories"] == ["/"]


# ---- what readies an editor ----


def test_every_hook_before_a_commit_runs_what_the_set_up_brings():
    (local,) = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))["repos"]
    assert local["repo"] == "local"
    for hook in local["hooks"]:
        words = hook["entry"].split()
        for word in words:
            if "/" in word:
                assert (ROOT / word).exists(), hook["id"]
        if "-m" in words:
            assert find_spec(words[words.index("-m") + 1]), hook["id"]


def test_the_devcontainer_sets_itself_up():
    settings = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text("utf-8"))
    make, target = settings["postCreateCommand"].split()
    assert make == "make"
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
