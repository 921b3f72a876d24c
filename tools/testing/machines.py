"""The tests on other machines: on a GPU, and on this processor told to do as a plainer one."""

import json
import os
import platform
import subprocess
import sys
from pathlib import Path

from tools.testing.pytest_run import finished, pytest

Settings = dict[str, str]

# What each library must be told, all at once, so that none of them uses what the plainer processor lacks:
# PyTorch itself, its oneDNN and its MKL, and NumPy's OpenBLAS. NumPy's own loops are told in `machines`.
PLAINER: dict[str, Settings] = {
    "avx2": {
        "ATEN_CPU_CAPABILITY": "avx2",
        "ONEDNN_MAX_CPU_ISA": "AVX2",
        "MKL_ENABLE_INSTRUCTIONS": "AVX2",
        "OPENBLAS_CORETYPE": "Haswell",
    },
    # The oldest that PyTorch runs on. What Python's `math` calls has an AVX2 way of its own, in Linux's libm.
    "oldest": {
        "ATEN_CPU_CAPABILITY": "default",
        "ONEDNN_MAX_CPU_ISA": "SSE41",
        "MKL_CBWR": "COMPATIBLE",  # which MKL obeys on AMD's processors, too
        "OPENBLAS_CORETYPE": "Nehalem",
        "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-FMA",
    },
}
NUMPY = "NPY_DISABLE_CPU_FEATURES"
VARIABLES = {NUMPY, *PLAINER["avx2"], *PLAINER["oldest"]}
# By what PyTorch uses when told nothing, which is the most there is: told to use more, it does so, and breaks
# down. Elsewhere (ARM) there is nothing to be told.
CAN_BE = {"AVX512": ("avx2", "oldest"), "AVX2": ("oldest",)}
IN_FORCE = """\
import json, numpy, torch
vectors = numpy.show_config(mode="dicts")["SIMD Extensions"].get("found", [])
print(json.dumps([torch.backends.cpu.get_cpu_capability(), vectors]))
"""


def in_force(settings: Settings) -> tuple[str, list[str]]:
    """The instructions that PyTorch says it uses, and the sets that NumPy does, when told so much."""
    told_nothing = {name: value for name, value in os.environ.items() if name not in VARIABLES}
    run = subprocess.run(
        [sys.executable, "-c", IN_FORCE],
        env=told_nothing | settings,
        capture_output=True,
        text=True,
        check=True,
    )
    pytorch, numpy = json.loads(run.stdout)
    return pytorch, numpy


def machines() -> dict[str, Settings]:
    """`machines()["avx2"]` are the variables that make of this processor a plainer one, where it can be."""
    pytorch, numpy = in_force({})
    # NumPy refuses to start when a set is named that this processor lacks.
    beyond = {"avx2": [name for name in numpy if name.startswith(("AVX512", "X86_V4"))], "oldest": numpy}
    plainer = {name: PLAINER[name] | {NUMPY: " ".join(beyond[name])} for name in CAN_BE.get(pytorch, ())}
    return {"as it is": {}} | plainer


def processor() -> str:
    """`processor()` is "AMD EPYC 7763 64-Core Processor", as far as the system knows."""
    told = Path("/proc/cpuinfo")
    lines = told.read_text(encoding="utf-8").splitlines() if told.exists() else []
    names = [line.partition(": ")[2] for line in lines if line.startswith("model name")]
    return f"{names[0] if names else platform.processor() or 'a processor'} ({platform.machine()})"


def be(name: str) -> None:
    """From here on, each process that is started does as a plainer processor."""
    known = machines()
    if name not in known:
        sys.exit(f"test: MACHINE must be one of {', '.join(known)} on {processor()}, got {name!r}")
    os.environ.update(known[name])
    describe(name, known[name])


def describe(name: str, settings: Settings) -> None:
    pytorch, numpy = in_force(settings)
    print(
        f"test: {name}: PyTorch uses {pytorch}, NumPy {', '.join(numpy) or 'no more than it must'}",
        flush=True,
    )


def variants() -> int:
    """All that a chapter says, also what it has stored, on this processor and as on plainer ones."""
    from bookkit.stored import ANEW

    failures = 0
    for name, settings in machines().items():
        describe(name, settings)
        for threads in ("1", "2"):
            print(f"test: the chapters on this processor, {name}, with {threads} thread(s)", flush=True)
            counts = {"OMP_NUM_THREADS": threads, "MKL_NUM_THREADS": threads, ANEW: "1"}
            failures += bool(finished(pytest("book", "-n", "2", **settings, **counts)))
    return failures


def gpu() -> int:
    import torch

    if not torch.cuda.is_available():
        build = f"PyTorch {torch.__version__}, built for CUDA {torch.version.cuda}"
        sys.exit(f"test: no GPU: {build}, sees none; `nvidia-smi` says which cards and driver are here")
    print(f"test: the chapters on {torch.cuda.get_device_name()}", flush=True)
    return finished(pytest("book", ATTNLAB_DEVICE="cuda"))


def packages() -> int:
    """The chapters and the packages' tests: what another Python can change."""
    return finished(
        pytest("-n", "2", "-m", "not weekly", "book", "tests/attnlab", "tests/bookkit", ATTNLAB_DEVICE="cpu")
    )
