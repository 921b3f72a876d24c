"""Run the tests: all, or the chapters alone on a GPU (--gpu) or in each variant of a CPU (--variants).

--chapters leaves out what is the same on every Python and processor: the site, the tools and the linters.
--all runs again what passed on the same files before.
"""

import argparse
import os
import subprocess
import sys
import time

from tools import ROOT, check


def pytest(*arguments: str, **variables: str) -> int:
    command = [sys.executable, "-m", "pytest", "-q", "-rs", "--no-header", *arguments]
    return subprocess.run(command, cwd=ROOT, env=os.environ | variables, check=False).returncode


def everything(again: bool = False) -> int:
    """The tests with a worker for each core, and the types beside them.

    What takes long is left out where it passed on the same files before, but not where all is to run `again`.
    """
    memory, costly = check.Memory(check.TESTED), [*check.costly()]
    wanted = costly if again else memory.fresh(costly)
    known = [one for one in costly if one not in wanted]
    if known:
        print(f"test: leaving out {len(known)} long jobs of {len(costly)}, which passed on the same files")
        print("test: `make test ALL=1` runs them all", flush=True)
    types = subprocess.Popen(
        [sys.executable, "-m", "mypy"], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    left_out = [f"--deselect={argument}" for one in known for argument in one.arguments]
    status = pytest("-n", str(os.cpu_count()), "tests", "book", *left_out, ATTNLAB_DEVICE="cpu")
    said, _ = types.communicate()
    if types.returncode:
        print(said)
    if not status and not types.returncode:
        memory.keep(costly)
        check.Memory().keep(check.everything())
    return status or types.returncode


def instruction_sets() -> list[str]:
    """The sets of vector instructions that PyTorch can be told to use here, the portable one included."""
    # What it uses when told nothing is the most there is: told to use more, it does so, and breaks down.
    command = [sys.executable, "-c", "import torch; print(torch.backends.cpu.get_cpu_capability().lower())"]
    variables = {name: value for name, value in os.environ.items() if name != "ATEN_CPU_CAPABILITY"}
    most = subprocess.run(command, env=variables, capture_output=True, text=True, check=True).stdout.strip()
    known = ["default", "avx2", "avx512"]
    return known[: known.index(most) + 1] if most in known else ["default"]


def variants() -> int:
    failures = 0
    for threads in ("1", "2"):
        for instructions in instruction_sets():
            print(f"test: the chapters with {threads} thread(s) on {instructions} instructions", flush=True)
            settings = {
                "OMP_NUM_THREADS": threads,
                "MKL_NUM_THREADS": threads,
                "ATEN_CPU_CAPABILITY": instructions,
            }
            failures += bool(pytest("book", "-n", "2", **settings))
    return failures


def cards() -> str:
    """`cards()` is "NVIDIA H100, driver 580.65": what the driver says is here; "" where nothing says so."""
    command = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    try:
        told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return ""
    return "; ".join(line.replace(", ", ", driver ") for line in told.strip().splitlines())


def why_no_gpu(cards: str, build: str, cuda: str | None) -> str:
    """Why PyTorch, of this build and for this CUDA, sees no GPU where these cards are."""
    if not cards:
        return "PyTorch sees no CUDA device, so the chapters can't be checked on one"
    if cuda is None:
        return (
            f"here is {cards}, and PyTorch {build} is a build without CUDA: remove .venv and run this again"
        )
    return f"here is {cards}, and PyTorch {build} can't use it: CUDA {cuda} may need a newer driver or card"


def gpu() -> int:
    import torch

    if not torch.cuda.is_available():
        sys.exit(f"test: no GPU: {why_no_gpu(cards(), torch.__version__, torch.version.cuda)}")
    print(f"test: the chapters on {torch.cuda.get_device_name()}", flush=True)
    return pytest("book", ATTNLAB_DEVICE="cuda")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--gpu", action="store_true")
    which.add_argument("--variants", action="store_true")
    which.add_argument("--chapters", action="store_true")
    which.add_argument("--all", action="store_true")
    options = parser.parse_args()
    started = time.monotonic()
    if options.gpu:
        status = gpu()
    elif options.variants:
        status = variants()
    elif options.chapters:
        status = pytest("-n", "2", "book", "tests/attnlab", "tests/bookkit", ATTNLAB_DEVICE="cpu")
    else:
        status = everything(again=options.all)
    print(f"test: {'failed' if status else 'passed'} in {time.monotonic() - started:.0f} s")
    return status


if __name__ == "__main__":
    sys.exit(main())
