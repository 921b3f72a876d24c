"""Do the tests notice? Each planted fault is put into a copy of the packages, and its test must then fail.

Each copy is tested in a process of its own. All are forked from one that has loaded PyTorch, but nothing of
the book: so `import attnlab` finds the copy, and a fault costs a fraction of a second.
"""

import gc
import multiprocessing
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest
import torch
from planted_faults import MUTATIONS
from planted_faults.kinds import Mutation

TESTS = Path(__file__).parent
BOOK = TESTS.parent / "book"
REPORT = "report.txt"
TOO_LONG = 120  # seconds, far above what all the tests together take

forks = multiprocessing.get_context("forkserver")
# What the tests import, and what PyTorch loads when it is first asked for more than sums.
forks.set_forkserver_preload(["pytest", "hypothesis", "torch._dynamo", "IPython.display", "nbclient"])


def run(tests: list[str], folder: Path) -> None:
    """In a process of its own: test the attnlab that stands in `folder`, and exit as pytest does."""
    torch.set_num_threads(1)
    # pytest and Hypothesis search all memory several times, and nearly all of it was there before the fork.
    gc.freeze()
    # The first example that fails is enough, and every run tries the same ones.
    hypothesis.settings.register_profile(
        "mutations", derandomize=True, database=None, phases=[hypothesis.Phase.generate]
    )
    hypothesis.settings.load_profile("mutations")
    sys.path[:0] = [str(folder), str(TESTS / "support"), str(TESTS.parent / "tools")]
    # A GPU that the process before the fork has looked for can't be used after it.
    os.environ["ATTNLAB_DEVICE"] = "cpu"
    # Nothing that is set up for the whole suite: it would start nbval and look for the built site.
    os.environ.pop("PYTEST_ADDOPTS", None)
    options = [
        "-x",
        "-q",
        "-c",
        os.devnull,
        f"--rootdir={TESTS.parent}",
        "-p",
        "no:cacheprovider",
        "--import-mode=importlib",
    ]
    options += ["--noconftest", "--disable-plugin-autoload"]
    sys.stdout = sys.stderr = (folder / REPORT).open("w", encoding="utf-8")
    sys.exit(pytest.main([*options, *(f"{TESTS}/{test}" for test in tests)]))


def status_and_report(tests: list[str], folder: Path) -> tuple[int | None, str]:
    """The status is None when the tests hang."""
    report = folder / REPORT
    report.touch()
    process = forks.Process(target=run, args=(tests, folder))
    process.start()
    process.join(TOO_LONG)
    status = process.exitcode
    process.kill()
    process.join()
    return status, report.read_text(encoding="utf-8")


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder, wiped afterwards, that holds a copy of the packages."""
    with tempfile.TemporaryDirectory() as name:
        # Without what Python compiled: it tells a changed file by its size and second.
        for package in ("attnlab", "bookkit", "chapters"):
            shutil.copytree(BOOK / package, Path(name, package), ignore=shutil.ignore_patterns("__pycache__"))
        yield Path(name)


def test_without_a_fault_the_same_tests_pass(folder: Path) -> None:
    status, report = status_and_report(sorted({mutation.test for mutation in MUTATIONS}), folder)
    assert status == pytest.ExitCode.OK, report


@pytest.mark.parametrize("mutation", MUTATIONS, ids=str)
def test_the_tests_notice(mutation: Mutation, folder: Path) -> None:
    room = folder / f"{mutation.room}.py"
    source = room.read_text(encoding="utf-8")
    found = source.count(mutation.right)
    fault = f"{room.name}: {mutation.fault} ({mutation.wrong!r} in place of {mutation.right!r})"
    if found != 1:
        pytest.fail(f"{fault}: what it replaces stands there {found} times, not once", pytrace=False)
    room.write_text(source.replace(mutation.right, mutation.wrong), encoding="utf-8")
    status, report = status_and_report([mutation.test], folder)
    if status == pytest.ExitCode.OK:
        pytest.fail(f"{fault}: {mutation.test} does not notice", pytrace=False)
    # A process that breaks down ends with the same status as a test that fails: the report tells them apart.
    if status != pytest.ExitCode.TESTS_FAILED or "1 failed" not in report:
        pytest.fail(f"{fault}: {mutation.test} ends with status {status}\n{report}", pytrace=False)
