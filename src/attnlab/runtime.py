"""Where the numbers are computed, and how they stay the same in each run."""

import os
import random
from pathlib import Path

import torch

# The one switch: ATTNLAB_DEVICE=cpu or ATTNLAB_DEVICE=cuda (or cuda:1) overrides the choice below.
DEVICE_VARIABLE = "ATTNLAB_DEVICE"


def choose_device() -> torch.device:
    """`choose_device()` is CUDA where there is a GPU, and the CPU elsewhere.

    Set the environment variable ATTNLAB_DEVICE to choose yourself. Asking for a GPU that is not there is
    an error: a run that means to check the GPU must not pass on the CPU.
    """
    wanted = os.environ.get(DEVICE_VARIABLE, "")
    if not wanted:
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if wanted.partition(":")[0] not in ("cpu", "cuda"):
        raise ValueError(f"{DEVICE_VARIABLE} must be cpu or cuda, and it is {wanted!r}")
    device = torch.device(wanted)
    if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
        raise ValueError(
            f"{DEVICE_VARIABLE} is {wanted!r}, and PyTorch sees {torch.cuda.device_count()} GPUs"
        )
    return device


def prepare(seed: int = 0, threads: int | None = None) -> torch.device:
    """`device = prepare(seed=0)` is the first line of every chapter: it seeds, and picks the device.

    threads=1 is for chapters that train: small models are steadiest, and repeat to the last bit, on one.
    """
    # cuBLAS reads this once, at the first product on a GPU; without it PyTorch refuses to be deterministic.
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    random.seed(seed)
    torch.manual_seed(seed)
    # The same as use_deterministic_algorithms(True), which imports PyTorch's compiler too: a second or two.
    torch.set_deterministic_debug_mode("error")
    # TensorFloat-32 keeps 10 bits of each factor: a GPU would then miss bounds that a CPU meets.
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    if threads is not None:
        torch.set_num_threads(threads)
    return choose_device()


def generator(seed: int) -> torch.Generator:
    """`torch.rand(3, generator=generator(0))` gives the same three numbers on every machine.

    It lives on the CPU: draw there and move the result with `.to(device)`, since a GPU's own generator
    gives other numbers for the same seed.
    """
    return torch.Generator(device="cpu").manual_seed(seed)


def free_memory(root: Path = Path("/")) -> int | None:
    """`free_memory()` is how many bytes there are to take; None where the system does not tell (Linux does).

    A container, as on Binder, may have less than its machine. Files that it has read are not taken: they go
    when memory is short.
    """
    told = root / "proc/meminfo"
    if not told.exists():
        return None
    free = int(_numbers(told)["MemAvailable:"]) * 1024
    group = root / "sys/fs/cgroup"
    limit = group / "memory.max"
    if limit.exists() and (most := limit.read_text().strip()) != "max":
        taken = int((group / "memory.current").read_text()) - int(_numbers(group / "memory.stat")["file"])
        free = min(free, int(most) - taken)
    return free


def _numbers(file: Path) -> dict[str, str]:
    return dict(line.split()[:2] for line in file.read_text().splitlines())
