"""Two workers of one training, each a process of its own: what they train on, and how they are started."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import torch
from torch import Tensor, nn

from attnlab.runtime import generator


def task(device: torch.device) -> tuple[nn.Module, Tensor, Tensor]:
    """`network, points, sides = task(device)`: the one network that the worker knows, and what it learns."""
    torch.manual_seed(0)
    layers = [nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2)]
    network = nn.Sequential(*layers).double().to(device)
    points = torch.randn(2000, 2, generator=generator(1), dtype=torch.float64).to(device)
    return network, points, (points.prod(-1) > 0).long()


def launch(
    workers: int, network: nn.Module, points: Tensor, labels: Tensor
) -> tuple[tempfile.TemporaryDirectory[str], subprocess.Popen[str]]:
    """`folder, running = launch(2, network, points, sides)` starts them, and does not wait.

    What they have done is in the folder when they end; it is deleted when Python ends.
    """
    folder = tempfile.TemporaryDirectory()
    start = {"weights": network.state_dict(), "points": points, "labels": labels}
    torch.save(start, Path(folder.name, "start.pt"))
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    torchrun += ["--local-addr=127.0.0.1", f"--nproc-per-node={workers}"]
    running = subprocess.Popen(
        [*torchrun, "-m", "attnlab.training.distributed_worker", folder.name],
        env=os.environ | {"OMP_NUM_THREADS": "1"},  # one thread each
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    return folder, running
