"""The device, and numbers that repeat."""

import os
import random

import pytest
import torch

from attnlab import runtime


@pytest.fixture(autouse=True)
def settings_put_back():
    threads = torch.get_num_threads()
    products = torch.backends.cuda.matmul, torch.backends.cudnn
    allowed = [kind.allow_tf32 for kind in products]
    yield
    torch.use_deterministic_algorithms(False)
    torch.set_num_threads(threads)
    for kind, allow in zip(products, allowed, strict=True):
        kind.allow_tf32 = allow


@pytest.mark.parametrize(
    ("wanted", "gpus", "chosen"),
    [
        ("", 0, "cpu"),
        ("", 1, "cuda"),
        ("cpu", 1, "cpu"),
        ("cuda", 1, "cuda"),
        ("cuda:1", 2, "cuda:1"),
        # A GPU that is not there is an error, and never the CPU.
        ("cuda", 0, "PyTorch sees 0 GPUs"),
        ("cuda:1", 1, "PyTorch sees 1 GPUs"),
        ("gpu", 1, "ATTNLAB_DEVICE must be cpu or cuda, and it is 'gpu'"),
    ],
)
def test_the_device_is_the_gpu_that_is_there_unless_the_variable_says_otherwise(
    wanted, gpus, chosen, monkeypatch
):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: gpus > 0)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: gpus)
    monkeypatch.setenv(runtime.DEVICE_VARIABLE, wanted)
    if " " not in chosen:
        assert runtime.choose_device() == torch.device(chosen)
        return
    with pytest.raises(ValueError, match=chosen):
        runtime.choose_device()


def test_preparing_seeds_makes_pytorch_deterministic_and_sets_the_threads(monkeypatch):
    monkeypatch.delenv("CUBLAS_WORKSPACE_CONFIG", raising=False)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    torch.set_num_threads(2)
    drawn = []
    for seed in (3, 3, 4):
        runtime.prepare(seed, threads=1)
        drawn.append((random.random(), torch.rand(3).tolist()))
    assert drawn[0] == drawn[1]
    assert not {drawn[0][0], *drawn[0][1]} & {drawn[2][0], *drawn[2][1]}
    assert torch.are_deterministic_algorithms_enabled()
    assert os.environ["CUBLAS_WORKSPACE_CONFIG"] == ":4096:8"
    assert torch.get_num_threads() == 1
    assert not torch.backends.cuda.matmul.allow_tf32
    assert not torch.backends.cudnn.allow_tf32


def test_free_memory_is_the_machines_or_what_the_container_has_left(tmp_path):
    """Linux with 8,000 kB free; a container took 1 MB, of which 400 kB are files."""
    assert runtime.free_memory(tmp_path) is None
    group, told = tmp_path / "sys/fs/cgroup", tmp_path / "proc"
    group.mkdir(parents=True)
    told.mkdir()
    (told / "meminfo").write_text("MemTotal: 9000 kB\nMemAvailable: 8000 kB\n")
    assert runtime.free_memory(tmp_path) == 8192000
    (group / "memory.current").write_text("1000000\n")
    (group / "memory.stat").write_text("anon 600000\nfile 400000\n")
    for most, free in {"max": 8192000, "3000000": 2400000, "900000000": 8192000}.items():
        (group / "memory.max").write_text(f"{most}\n")
        assert runtime.free_memory(tmp_path) == free
