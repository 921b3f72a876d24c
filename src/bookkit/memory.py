"""How much memory a computation takes at most."""

import os
import re
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

os.environ.setdefault("KINETO_LOG_LEVEL", "99")  # PyTorch's profiler reads it once, and then runs in silence
import torch


def peak_memory(run: Callable[[], object], device: torch.device) -> int:
    """`peak_memory(lambda: torch.zeros(1000), torch.device("cpu"))` is 4000: the most bytes held at once.

    Those that were held before are not counted.
    """
    run()  # some memory is taken by the first call, and kept
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)
        before = torch.cuda.memory_allocated(device)
        run()
        return torch.cuda.max_memory_allocated(device) - before
    # The profiler sees every allocation, those inside a fused kernel included, and notes what is held then.
    activities = [torch.profiler.ProfilerActivity.CPU]
    # There is one cycle; some versions of PyTorch warn, unless told to keep events, that the next drops them.
    with torch.profiler.profile(activities=activities, profile_memory=True, acc_events=True) as profile:
        run()
    with TemporaryDirectory() as folder:
        trace = Path(folder, "trace.json")
        profile.export_chrome_trace(str(trace))
        noted = re.findall(r'"Total Allocated": (-?\d+), "Bytes": (-?\d+)', trace.read_text(encoding="utf-8"))
    if not noted:
        return 0
    totals = [int(total) for total, _ in noted]
    # The profiler goes on counting what an earlier profile saw come and did not see go.
    before = totals[0] - int(noted[0][1])
    return max(totals) - before
