"""The chapters on other machines: on a GPU, and on this processor told to do with less."""

import os
import subprocess
import sys

from tools.testing.pytest_run import finished, pytest


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
            failures += bool(finished(pytest("book", "-n", "2", **settings)))
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
    return finished(pytest("book", ATTNLAB_DEVICE="cuda"))


def packages() -> int:
    """The chapters and the packages' tests: what another Python can change."""
    return finished(
        pytest("-n", "2", "-m", "not weekly", "book", "tests/attnlab", "tests/bookkit", ATTNLAB_DEVICE="cpu")
    )
