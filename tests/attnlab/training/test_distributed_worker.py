"""The script that several processes run: compared with one process, and started as readers start it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import distributed, multiprocessing, nn
from torch.distributed import TCPStore
from torch.nn import functional as F

from attnlab.runtime import generator
from attnlab.training import distributed_worker

PACKAGES = Path(distributed_worker.__file__).parents[2]
EXAMPLES = 2001


def network() -> nn.Sequential:
    torch.manual_seed(0)
    hidden = [nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU()]
    return nn.Sequential(*hidden, nn.Linear(64, 2)).double()


@pytest.fixture(scope="module")
def start() -> dict:
    points = torch.rand(EXAMPLES, 2, generator=generator(0), dtype=torch.float64)
    return {
        "weights": network().state_dict(),
        "points": points,
        "labels": (points.sum(-1) > 1).long(),
    }


def as_torchrun_does(rank: int, folder: Path, port: int) -> None:
    torch.set_num_threads(1)
    os.environ |= {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2"}
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "ATTNLAB_DEVICE": "cpu"}
    os.environ["TORCHELASTIC_USE_AGENT_STORE"] = "True"  # no process starts a meeting point of its own
    distributed_worker.main(folder)


def load_reports(folder: Path) -> list[dict]:
    return [torch.load(folder / f"{rank}.pt") for rank in range(2)]


@pytest.fixture(scope="module")
def reports(start: dict, tmp_path_factory: pytest.TempPathFactory) -> list[dict]:
    """What two forked processes wrote: torchrun's load PyTorch anew, which takes seconds."""
    folder = tmp_path_factory.mktemp("forked")
    torch.save(start, folder / "start.pt")
    meeting_point = TCPStore("127.0.0.1", 0, world_size=None, is_master=True, wait_for_workers=False)
    shares = folder, meeting_point.port
    # Where one fails, it raises what that one raised, and does not wait for the other.
    multiprocessing.start_processes(as_torchrun_does, shares, nprocs=2, daemon=True, start_method="fork")
    return load_reports(folder)


@pytest.mark.thorough
@pytest.mark.slow
def test_torchrun_starts_it(start: dict, reports: list[dict], tmp_path: Path) -> None:
    torch.save(start, tmp_path / "start.pt")
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--local-addr=127.0.0.1"]
    command += ["--nproc-per-node=2", "-m", "attnlab.training.distributed_worker", str(tmp_path)]
    run = subprocess.run(
        command,
        cwd=PACKAGES,
        env=os.environ | {"OMP_NUM_THREADS": "1", "ATTNLAB_DEVICE": "cpu"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    torch.testing.assert_close(load_reports(tmp_path), reports, rtol=0, atol=0)


def test_each_process_reads_its_share_in_another_order_in_each_epoch(reports: list[dict]) -> None:
    for report in reports:
        assert [len(numbers) for numbers in report["seen"]] == 2 * [500, 500, 1]
        assert not torch.equal(torch.cat(report["seen"][:3]), torch.cat(report["seen"][3:]))
    first, second = (torch.cat(report["seen"][:3]) for report in reports)
    # 2001 examples make 1001 for each: one of them is read twice.
    assert len(torch.cat([first, second]).unique()) == EXAMPLES


def test_two_processes_do_what_one_does_with_batches_twice_as_large(start: dict, reports: list[dict]) -> None:
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), lr=distributed_worker.RATE)
    for step, pair in enumerate(zip(*(report["seen"] for report in reports), strict=True)):
        both = torch.cat(pair)
        loss = F.cross_entropy(model(start["points"][both]), start["labels"][both])
        optimizer.zero_grad()
        loss.backward()
        for report in reports:
            torch.testing.assert_close(report["losses"][step], loss.detach(), rtol=1e-12, atol=0)
            gradients = [weight.grad for weight in model.parameters()]
            torch.testing.assert_close(report["gradients"][step], gradients, rtol=0, atol=1e-12)
        optimizer.step()
    for report in reports:
        torch.testing.assert_close(dict(report["weights"]), dict(model.state_dict()), rtol=0, atol=1e-12)


def test_with_a_gpu_for_each_every_process_takes_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
