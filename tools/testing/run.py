"""Run the tests: those for people (`make test`), all there are (--all), or the difference (--rest).

What has passed on the same files is left out, unless all is to run --again. The chapters alone run on a GPU
(--gpu), in each variant of a CPU (--variants), or with the packages' tests on any Python (--chapters). Any of
them can be told to do as on a plainer processor (--machine avx2).
"""

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import time

from tools import ROOT
from tools.chapters.stamps import BrokenNotebookError
from tools.testing import beside, check, dealing, machines
from tools.testing.passed import PASSED, Digests, Passed
from tools.testing.plugin import TOOK, Plan
from tools.testing.pytest_run import finished, pytest

# Marks what only `make test-all` runs: tests/README.md says which, and why.
THOROUGH = "thorough"
PLANNED = PASSED.with_name("plan.json")
ROOM = 500_000_000  # bytes: the site, what tests write beside it, and what a browser keeps
INTERRUPTED, NOTHING_TO_RUN = 2, 5  # of pytest's statuses


def suite(selected: str, again: bool) -> int:
    """The tests that this expression of marks selects, with the site and the types made beside them."""
    room = shutil.disk_usage(ROOT).free
    if room < ROOM:
        sys.exit(f"test: the disk has room for {room // 10**6} MB, and the tests need {ROOM // 10**6} MB")
    if again:
        PASSED.unlink(missing_ok=True)
    digests = Digests.now()
    known = Passed(PASSED, digests).tests
    planned = Plan(sorted(known), digests.chapters, digests.project, str(PASSED)).write(PLANNED)
    if known:
        print(f"test: leaving out {len(known):,} tests that passed on the same files", flush=True)
        print("test: `make test ALL=1` runs them, too", flush=True)
    types = subprocess.Popen(
        [sys.executable, "-m", "mypy"], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    # One worker more than there are cores: who waits for a browser or a kernel leaves its core to another.
    workers = (os.cpu_count() or 1) + 1
    told = planned | {beside.SITE: "1"}
    run = pytest("-n", str(workers), "-m", selected, "tests", "book", ATTNLAB_DEVICE="cpu", **told)
    browsers = ["tools.site.browser"] + ([] if selected.startswith("not") else ["--firefox"])
    site = beside.Beside(browsers, ["tools.site.build"], failed=lambda: run.send_signal(signal.SIGINT))
    site.start()
    status = finished(run)
    said, _ = types.communicate()
    if types.returncode:
        print(said)
    if site.said:
        print(site.said)
        return 1
    if status == INTERRUPTED:
        passed = len(Passed(PASSED, digests).tests)
        print(f"test: interrupted when {passed:,} tests had passed; the next run goes on from there")
    failed = bool(types.returncode) or status not in (0, *([NOTHING_TO_RUN] if known else []))
    if not failed:
        # Planted faults too, though `make test` plants none: `make check` does in rooms edited from now on.
        check.Memory().keep(check.everything())
    return int(failed)


def learn() -> None:
    """What the last run of these tests took is what the next ones expect. It must have been a whole one."""
    table = json.loads(dealing.SECONDS.read_text(encoding="utf-8"))
    for selected, took in json.loads(PASSED.with_name(TOOK).read_text(encoding="utf-8")).items():
        table[selected] = {unit: round(took[unit], 1) for unit in sorted(took) if took[unit] >= 1}
    dealing.SECONDS.write_text(json.dumps(table, indent=0) + "\n", encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    which = parser.add_mutually_exclusive_group()
    for name in ("all", "rest", "gpu", "variants", "chapters", "learn"):
        which.add_argument(f"--{name}", action="store_true")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--machine", help="do as a plainer processor: avx2, oldest")
    options = parser.parse_args()
    started = time.monotonic()
    if options.learn:
        learn()
        return 0
    print(f"test: on {machines.processor()}", flush=True)
    if options.machine:
        machines.be(options.machine)
    if options.gpu:
        status = machines.gpu()
    elif options.variants:
        status = machines.variants()
    elif options.chapters:
        status = machines.packages()
    else:
        selected = "" if options.all else THOROUGH if options.rest else f"not {THOROUGH}"
        status = suite(selected, options.again)
    took = f"{time.monotonic() - started:.0f} s"
    print(f"test: {'failed' if status else 'passed'} in {took}")
    return status


if __name__ == "__main__":
    try:
        sys.exit(main())
    except BrokenNotebookError as error:
        sys.exit(f"test: {error}")
    except OSError as error:
        sys.exit(f"test: {error.filename or 'the tests'}: {error.strerror}")
