"""The script that several processes run: who reads what, and where. Its chapter trains with it."""

import os
from pathlib import Path

import pytest
import torch
from torch import distributed, multiprocessing, nn
from torch.distributed import TCPStore

from attnlab.runtime import generator
from attnlab.training import distributed_worker

EXAMPLES = 2001


def as_torchrun_does(rank: int, folder: Path, port: int) -> None:
    torch.set_num_threads(1)
    os.environ |= {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2"}
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "ATTNLAB_DEVICE": "cpu"}
    os.environ["TORCHELASTIC_USE_AGENT_STORE"] = "True"  # no process starts a meeting point of its own
    distributed_worker.main(folder)


def reports_of_two(folder: Path) -> list[dict]:
    """What two forked processes wrote: torchrun's load PyTorch anew, which takes seconds."""
    hidden = [nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU()]
    network = nn.Sequential(*hidden, nn.Linear(64, 2)).double()
    points = torch.rand(EXAMPLES, 2, generator=generator(0), dtype=torch.float64)
    start = {"weights": network.state_dict(), "points": points, "labels": (points.sum(-1) > 1).long()}
    torch.save(start, folder / "start.pt")
    meeting_point = TCPStore("127.0.0.1", 0, world_size=None, is_master=True, wait_for_workers=False)
    shares = folder, meeting_point.port
    # Where one fails, it raises what that one raised, and does not wait for the other.
    multiprocessing.start_processes(as_torchrun_does, shares, nprocs=2, daemon=True, start_method="fork")
    return [torch.load(folder / f"{rank}.pt") for rank in range(2)]


def test_each_process_reads_its_share_in_another_order_in_each_epoch(tmp_path: Path) -> None:
    reports = reports_of_two(tmp_path)
    for report in reports:
        assert [len(numbers) for numbers in report["seen"]] == 2 * [500, 500, 1]
        assert not torch.equal(torch.cat(report["seen"][:3]), torch.cat(report["seen"][3:]))
    first, second = (torch.cat(report["seen"][:3]) for report in reports)
    # 2001 examples make 1001 for each: one of them is read twice.
    assert len(torch.cat([first, second]).unique()) == EXAMPLES


def test_with_a_gpu_for_each_every_process_takes_its_own(tmp_path, monkeypatch) -> None:
    taken = []

    def begin(backend: str, **options: torch.device) -> None:
        taken.append((backend, options))
        raise EOFError  # what follows needs the GPUs

    told = {"RANK": "3", "LOCAL_RANK": "1", "LOCAL_WORLD_SIZE": "2", "ATTNLAB_DEVICE": "cuda"}
    for name, value in told.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "set_device", taken.append)
    monkeypatch.setattr(distributed, "init_process_group", begin)
    with pytest.raises(EOFError):
        distributed_worker.main(tmp_path)
    second = torch.device("cuda", 1)
    assert taken == [second, ("nccl", {"device_id": second})]
