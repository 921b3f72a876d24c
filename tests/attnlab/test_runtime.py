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


def test_the_variable_overrides_the_choice(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.delenv(runtime.DEVICE_VARIABLE, raising=False)
    assert runtime.choose_device().type == "cuda"
    monkeypatch.setenv(runtime.DEVICE_VARIABLE, "cpu")
    assert runtime.choose_device().type == "cpu"


def test_without_a_gpu_the_choice_is_the_cpu(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.delenv(runtime.DEVICE_VARIABLE, raising=False)
    assert runtime.choose_device().type == "cpu"


@pytest.mark.parametrize("wanted", ["cuda", "cuda:1"])
def test_a_gpu_that_is_not_there_is_an_error_and_never_the_cpu(monkeypatch, wanted):
    monkeypatch.setenv(runtime.DEVICE_VARIABLE, wanted)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    with pytest.raises(ValueError, match="PyTorch sees 0 GPUs"):
        runtime.choose_device()


def test_of_one_gpu_the_first_is_there_and_the_second_is_not(monkeypatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    for wanted in ("cuda", "cuda:0"):
        monkeypatch.setenv(runtime.DEVICE_VARIABLE, wanted)
        assert runtime.choose_device() == torch.device(wanted)
    monkeypatch.setenv(runtime.DEVICE_VARIABLE, "cuda:1")
    with pytest.raises(ValueError, match="PyTorch sees 1 GPUs"):
        runtime.choose_device()


def test_an_unknown_device_is_named(monkeypatch):
    monkeypatch.setenv(runtime.DEVICE_VARIABLE, "gpu")
    with pytest.raises(ValueError, match="ATTNLAB_DEVICE must be cpu or cuda, and it is 'gpu'"):
        runtime.choose_device()


def test_preparing_twice_repeats_every_number():
    runtime.prepare(seed=3)
    first = random.random(), torch.rand(3).tolist()
    runtime.prepare(seed=3)
    assert (random.random(), torch.rand(3).tolist()) == first
    runtime.prepare(seed=4)
    assert random.random() != first[0]
    assert torch.rand(3).tolist() != first[1]


def test_preparing_makes_pytorch_deterministic_and_sets_the_threads(monkeypatch):
    monkeypatch.delenv("CUBLAS_WORKSPACE_CONFIG", raising=False)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    torch.set_num_threads(2)
    runtime.prepare(threads=1)
    assert torch.are_deterministic_algorithms_enabled()
    assert os.environ["CUBLAS_WORKSPACE_CONFIG"] == ":4096:8"
    assert torch.get_num_threads() == 1
    assert not torch.backends.cuda.matmul.allow_tf32
    assert not torch.backends.cudnn.allow_tf32


def test_a_generator_is_on_the_cpu_and_depends_on_its_seed_alone():
    torch.manual_seed(1)
    first = torch.rand(3, generator=runtime.generator(0))
    torch.manual_seed(2)
    assert torch.equal(first, torch.rand(3, generator=runtime.generator(0)))
    assert not torch.equal(first, torch.rand(3, generator=runtime.generator(1)))
    assert runtime.generator(0).device.type == "cpu"
