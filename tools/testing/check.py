"""Run what an edit touches, in seconds: `make check`.

What was edited, git knows: all that differs from the branch `main`, or on it from the last commit. Style and
types are always asked; then the tests of what was edited, the edited chapters, and their pages in a browser.
"""

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from tools import ROOT
from tools.chapters import stamps
from tools.testing.mutants import QUICK, tests_of

SITE = "tests/site"  # what looks at the built site, and waits until it is
NOTHING_TO_RUN = 5  # what pytest says where all tests of a file have other marks
LINT_IMPORTS = """import sys
sys.path.append("book")  # where _ext is
from importlinter.cli import lint_imports_command
lint_imports_command()"""
STYLE = [["-m", "ruff", "check"], ["-m", "ruff", "format", "--check"], ["-c", LINT_IMPORTS], ["-m", "mypy"]]


def git(*words: str) -> list[str]:
    """`git("status", "--short")` are its lines; none where there is no git, or nothing of that name."""
    run = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    return run.stdout.splitlines()


def edited() -> list[str]:
    """`edited()` are the files that were changed or added, as paths in the repository."""
    since = git("merge-base", "HEAD", "main") or ["HEAD"]
    new = git("ls-files", "--others", "--exclude-standard")
    return sorted(file for file in {*git("diff", "--name-only", *since), *new} if (ROOT / file).exists())


def touched(files: list[str]) -> list[list[str]]:
    """What pytest is told, a run for each: the tests that were edited, and those of edited code.

    The tests of a room stand in the file of its name, where there is one.
    """
    tests = [file for file in files if Path(file).name.startswith("test_") and file.endswith(".py")]
    of_the_site = [file for file in tests if file.startswith(SITE)]
    runs = [run for run in (sorted({*tests} - {*of_the_site}), of_the_site) if run]
    for file in files:
        if file.startswith("book/_static/bench/"):
            runs += [run for run in ([view, "-m", "not weekly"] for view in views(file)) if run not in runs]
        if file.endswith((".py", ".js")) and file.startswith(("book/", "src/", "tools/")):
            own = Path("tests", *Path(file).parts[1:-1], f"test_{Path(file).stem}.py")
            run = [str(own)] if (ROOT / own).exists() else tests_of(file)
            runs += [run] if run not in runs else []
    runs += [[file] for file in files if file.endswith(".ipynb")]
    pages = [
        f"{Path(file).stem}.html" for file in files if file.endswith((".ipynb", ".md")) and "book/" in file
    ]
    return runs + ([[f"{SITE}/test_pages.py", "-k", " or ".join(pages)]] if pages else [])


def views(script: str) -> list[str]:
    """`views("book/_static/bench/reach_carry.js")` is test_reach_view.py, which alone sees what it does."""
    every = sorted((ROOT / SITE).glob("test_*_view.py"))
    named = Path(script).stem.partition("_")[0].rstrip("s")
    return [str(test.relative_to(ROOT)) for test in every if test.stem.split("_")[1].rstrip("s") == named]


def program(*words: str) -> tuple[bool, str]:
    """Whether it ended well, and what it said."""
    run = subprocess.run(
        [sys.executable, *words], cwd=ROOT, env=os.environ | {"ATTNLAB_DEVICE": "cpu"},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
    )  # fmt: skip
    return run.returncode in (0, NOTHING_TO_RUN), run.stdout


def told(ended: tuple[bool, str]) -> bool:
    """Whether it ended well; what it said otherwise is printed at once."""
    well, said = ended
    if not well:
        print(said, end="", flush=True)
    return well


def main() -> int:
    started = time.monotonic()
    runs = touched(edited())
    ran = ", ".join(" ".join(run) for run in runs) or "nothing was edited"
    print(f"check: style, types, {ran}", flush=True)
    seen = [run for run in runs if run[0].startswith(SITE)]
    pytest = ["-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", "-m", QUICK]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = [pool.submit(program, *command) for command in STYLE]
        jobs += [pool.submit(program, *pytest, *run) for run in runs if run not in seen]
        if seen and told(program("-m", "tools.site.build")):  # before the pages are looked at
            jobs += [pool.submit(program, *pytest, *run) for run in seen]
        elif seen:
            jobs.append(pool.submit(lambda: (False, "")))
        failed = [job for job in as_completed(jobs) if not told(job.result())]
    print(f"check: {'failed' if failed else 'passed'} in {time.monotonic() - started:.0f} s")
    print("check: `make test` runs everything, and decides")
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except stamps.BrokenNotebookError as error:
        sys.exit(f"check: {error}")
