"""Run the tests: those for people (`make test`), those left to machines (--rest), both (--all).

Others are for GitHub, once a week (--weekly). The chapters alone run on a GPU (--gpu), in each variant of a
CPU (--variants), or with the packages' tests on any Python (--chapters). Any of these can be told to do as
on a plainer processor (--machine avx2).
"""

import argparse
import os
import subprocess
import sys
import time

from tools import ROOT
from tools.chapters.stamps import BrokenNotebookError
from tools.testing import machines
from tools.testing.pytest_run import finished, pytest

# By marks: tests/README.md says what each tier asks.
TIERS = {
    "people": "not thorough and not weekly",
    "rest": "thorough and not weekly",
    "all": "not weekly",
    "weekly": "weekly",
}


def suite(tier: str) -> int:
    """The tests of this tier, once there is a site to look at, and the types have been checked beside it."""
    types = subprocess.Popen([sys.executable, "-m", "mypy"], cwd=ROOT)
    firefox = [] if tier == "people" else ["--firefox"]
    for made in (["tools.site.browser", *firefox], ["tools.site.build"]):
        if status := subprocess.run([sys.executable, "-m", *made], cwd=ROOT, check=False).returncode:
            types.kill()
            return status
    mistyped = types.wait()
    # The chapters first, since they take longest: so no core is left with one of them at the end.
    workers = ["-n", str(os.cpu_count() or 1)]
    status = finished(pytest(*workers, "-m", TIERS[tier], "book", "tests", ATTNLAB_DEVICE="cpu"))
    return 1 if mistyped or status else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    which = parser.add_mutually_exclusive_group()
    for name in ("all", "rest", "weekly", "gpu", "variants", "chapters"):
        which.add_argument(f"--{name}", dest="which", action="store_const", const=name, default="people")
    parser.add_argument("--machine", help="do as a plainer processor: avx2, oldest")
    options = parser.parse_args()
    started = time.monotonic()
    print(f"test: on {machines.processor()}", flush=True)
    if options.machine:
        machines.be(options.machine)
    alone = {"gpu": machines.gpu, "variants": machines.variants, "chapters": machines.packages}
    status = alone[options.which]() if options.which in alone else suite(options.which)
    print(f"test: {'failed' if status else 'passed'} in {time.monotonic() - started:.0f} s")
    return status


if __name__ == "__main__":
    try:
        sys.exit(main())
    except BrokenNotebookError as error:
        sys.exit(f"test: {error}")
