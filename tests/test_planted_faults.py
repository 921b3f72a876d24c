"""Do the tests notice? Each planted fault is put into a copy of the project, and its test must then fail.

Each is tried in a process of its own. All are forked from one that has loaded what the tests import, but
nothing of the book: so `import attnlab` finds the copy, and a fault costs a fraction of a second.
"""

import gc
import itertools
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
ROOT = TESTS.parent
CODE = ("book/attnlab", "book/bookkit", "book/chapters", "book/_ext", "book/_static", "tools")
REPORT = "report.txt"
TOO_LONG = 120  # seconds, far above what all the tests together take
seconds = itertools.count()
# What the tests import, and what PyTorch loads when it is first asked for more than sums.
LOADED_BEFORE = ["pytest", "hypothesis", "torch._dynamo", "torchtext.data", "IPython.display", "nbclient"]
LOADED_BEFORE += ["altair", "matplotlib.figure", "matplotlib.backends.backend_svg", "fontTools.subset"]
LOADED_BEFORE += ["bs4", "myst_nb.core.render", "sphinx.application", "playwright.sync_api"]
LOADED_BEFORE += ["tokenizers", "transformers.models.gpt2.modeling_gpt2"]
LOADED_BEFORE += ["transformers.models.llama.modeling_llama"]
# Parts of pytest that a test of one file does without: they take a third of the time that it needs to start.
NOT_NEEDED = ["cacheprovider", "debugging", "doctest", "faulthandler", "junitxml", "legacypath"]
NOT_NEEDED += ["logging", "pastebin", "setuponly", "setupplan", "stepwise"]

forks = multiprocessing.get_context("forkserver")
forks.set_forkserver_preload(LOADED_BEFORE)


def run(tests: list[str], project: Path) -> None:
    """In a process of its own: run these tests on the code in `project`, and exit as pytest does."""
    torch.set_num_threads(1)
    # pytest and Hypothesis search all memory several times, and nearly all of it was there before the fork.
    gc.freeze()
    # The first example that fails is enough, and every run tries the same ones.
    hypothesis.settings.register_profile(
        "mutations", derandomize=True, database=None, phases=[hypothesis.Phase.generate]
    )
    hypothesis.settings.load_profile("mutations")
    path = [str(project), str(project / "book"), str(TESTS / "support")]
    sys.path[:0] = path
    os.environ["PYTHONPATH"] = os.pathsep.join(path)  # for the processes that a test starts
    # A GPU that the process before the fork has looked for can't be used after it.
    os.environ["ATTNLAB_DEVICE"] = "cpu"
    os.environ["PATIENCE"] = "8"  # with a page that does not come to show what it should
    # Nothing that is set up for the whole suite: it would start nbval and look for the built site.
    os.environ.pop("PYTEST_ADDOPTS", None)
    options = ["-x", "-q", "-c", os.devnull, "-o", "markers=slow\nthorough\nweekly", f"--rootdir={ROOT}"]
    options += ["--import-mode=importlib", "--noconftest", "--disable-plugin-autoload"]
    # Whether a test fails matters, and hardly ever how: this halves the time.
    options += ["--assert=plain", "--tb=native", "-W", "error"]
    options += [f"-pno:{plugin}" for plugin in NOT_NEEDED]
    options += ["-pbrowser_pages", "-plive_server"]  # for what only a page or a server shows
    sys.stdout = sys.stderr = (project / REPORT).open("w", encoding="utf-8")
    sys.exit(pytest.main([*options, *(f"{TESTS}/{test}" for test in tests)]))


def status_and_report(tests: list[str], project: Path) -> tuple[int | None, str]:
    """The status is None when the tests hang."""
    report = project / REPORT
    report.touch()
    process = forks.Process(target=run, args=(tests, project))
    process.start()
    process.join(TOO_LONG)
    status = process.exitcode
    process.kill()
    process.join()
    return status, report.read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def project() -> Iterator[Path]:
    """The project with a copy of its code, as it was compiled; all else leads to where it is."""
    with tempfile.TemporaryDirectory() as name:
        copy = Path(name)
        for code in CODE:
            shutil.copytree(ROOT / code, copy / code)
        for path in (*ROOT.iterdir(), *(ROOT / "book").iterdir()):
            here = copy / path.relative_to(ROOT)
            if not here.exists():
                here.symlink_to(path)
        yield copy


# Of the tests in a file one for each file with faults: all have passed where they usually run. What is
# missing here they would all miss, and a test that can't begin is an error, which below is no failure.
TESTS_OF_FILES: dict[str, dict[str, str]] = {}
for mutation in MUTATIONS:
    file, _, _ = mutation.test_in_its_file.partition("::")
    TESTS_OF_FILES.setdefault(file, {}).setdefault(mutation.file, mutation.test_in_its_file)


@pytest.mark.weekly
@pytest.mark.parametrize("file", sorted(TESTS_OF_FILES))
def test_without_a_fault_such_tests_pass(file: str, project: Path) -> None:
    """Here, too, where much is missing that they usually find around them."""
    status, report = status_and_report(sorted({*TESTS_OF_FILES[file].values()}), project)
    assert status == pytest.ExitCode.OK, report


def test_what_a_fault_replaces_stands_there_once() -> None:
    """Whoever mends the code mends its faults, and does not hear of it from the long run alone."""
    sources = {file: (ROOT / file).read_text(encoding="utf-8") for file in {one.file for one in MUTATIONS}}
    counts = {f"{one.file}: {one.fault}": sources[one.file].count(one.right) for one in MUTATIONS}
    assert {fault: count for fault, count in counts.items() if count != 1} == {}


@pytest.mark.weekly
@pytest.mark.parametrize("mutation", MUTATIONS, ids=str)
def test_the_tests_notice(mutation: Mutation, project: Path) -> None:
    source = (ROOT / mutation.file).read_text(encoding="utf-8")
    fault = f"{mutation.file}: {mutation.fault} ({mutation.wrong!r} in place of {mutation.right!r})"
    planted = project / mutation.file
    planted.write_text(source.replace(mutation.right, mutation.wrong), encoding="utf-8")
    # Python tells by size and second whether a file is the one that it compiled.
    os.utime(planted, (0, next(seconds)))
    status, report = status_and_report([mutation.test_in_its_file], project)
    shutil.copy2(ROOT / mutation.file, planted)
    if status == pytest.ExitCode.OK:
        pytest.fail(f"{fault}: {mutation.test} does not notice", pytrace=False)
    # A process that breaks down ends with the same status as a test that fails: the report tells them apart.
    if status != pytest.ExitCode.TESTS_FAILED or "1 failed" not in report:
        pytest.fail(f"{fault}: {mutation.test} ends with status {status}\n{report}", pytrace=False)
