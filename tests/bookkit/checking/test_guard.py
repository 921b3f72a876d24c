"""The guard: whatever code does, it ends in time, changes no setting, and is told of."""

import io
import math
import os
import random
import subprocess
import sys
from functools import partial

import numpy as np
import pytest
import torch
from clocks import Clock

from bookkit.checking import guard
from bookkit.checking.guard import guarded

# --- settings ---

EFFECTS = {
    "functions of PyTorch or Python itself": lambda: setattr(torch, "equal", lambda *tensors: True),
    "PyTorch's random numbers": lambda: torch.rand(3),
    "Python's random numbers": random.random,  # drawn: any seed may be where a test before left them
    "NumPy's random numbers": np.random.random,
    "PyTorch's default dtype": lambda: torch.set_default_dtype(torch.float64),
    "PyTorch's default device": lambda: torch.set_default_device("meta"),
    "whether PyTorch records gradients": lambda: torch.set_grad_enabled(False),
    "how many threads PyTorch uses": lambda: torch.set_num_threads(3),
    # Its other name, torch.use_deterministic_algorithms, loads a compiler.
    "whether PyTorch insists on deterministic algorithms": lambda: torch.set_deterministic_debug_mode("warn"),
    "whether PyTorch looks for anomalies": lambda: torch.autograd.set_detect_anomaly(True),
    "how exactly PyTorch multiplies matrices": lambda: torch.set_float32_matmul_precision("medium"),
    "whether tiny numbers become 0": lambda: torch.set_flush_denormal(True),
    "how PyTorch prints": lambda: torch.set_printoptions(precision=2),
    "what NumPy does about errors": lambda: np.seterr(all="raise"),
    "the working directory": lambda: os.chdir("/"),
    "the environment variables": lambda: os.environ.update(ATTENTION="measured"),
    "what Python calls at each step": lambda: sys.setprofile(print),
    "how deep Python may call": lambda: sys.setrecursionlimit(5000),
}


def test_every_setting_has_a_way_to_be_changed():
    assert EFFECTS.keys() == guard.SETTINGS.keys()


@pytest.mark.parametrize("setting", EFFECTS)
def test_a_changed_setting_is_reported_and_put_back(setting):
    read, _ = guard.SETTINGS[setting]
    before = read()
    try:
        outcome = guarded(EFFECTS[setting])
        np.testing.assert_equal(read(), before)
    finally:
        torch.set_default_device(None)  # put back as a device, where it had been none: the same, but slower
    assert outcome.touched == (setting,)


@pytest.mark.parametrize("name", ["double", "__eq__", "__repr__"])
def test_tensors_get_their_methods_back(name):
    before, own = getattr(torch.Tensor, name), name in vars(torch.Tensor)
    outcome = guarded(lambda: setattr(torch.Tensor, name, lambda self, other=None: True))
    assert outcome.touched == ("functions of PyTorch or Python itself",)
    assert getattr(torch.Tensor, name) is before
    assert (name in vars(torch.Tensor)) is own
    own = torch.nn.Linear.forward, math.sqrt
    for owner, part in ((torch.nn.Linear, "forward"), (math, "sqrt")):
        assert guarded(partial(setattr, owner, part, print)).touched == (guard.PARTS,)
    assert (torch.nn.Linear.forward, math.sqrt) == own
    for owner, part in ((torch.Tensor, "__repr__"), (torch, "allclose")):
        assert guarded(partial(delattr, owner, part)).touched == ("functions of PyTorch or Python itself",)
    assert "tensor(" in repr(torch.ones(1))
    assert torch.allclose(torch.ones(1), torch.ones(1))
    assert not guard.replaced()  # all is there again, if in another order


def test_who_saves_a_tensor_replaces_nothing(monkeypatch):
    monkeypatch.delattr(torch.Tensor, "__slotnames__", raising=False)
    assert guarded(lambda: torch.save(torch.ones(2), io.BytesIO())).touched == ()
    assert "__slotnames__" in vars(torch.Tensor)
    assert not guard.replaced()


@pytest.mark.thorough
def test_what_pytorch_replaces_when_it_loads_its_compiler_is_nobodys_doing():
    code = """
import torch
from checkup import limits
from bookkit.checking import guard
limits.monotonic = lambda: 0.0  # a busy machine loads it slowly
seed = torch.manual_seed
def load():
    import torch._dynamo
print(guard.guarded(load).touched, torch.manual_seed is seed)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["()", "False"], "PyTorch replaces one of its functions, which is fine"


def test_the_environment_is_put_back_whole_and_pytorchs_own_for_its_compiler_is_nobodys_doing(monkeypatch):
    monkeypatch.setenv("ATTENTION", "measured")
    assert guarded(lambda: os.environ.pop("ATTENTION")).touched == ("the environment variables",)
    assert os.environ["ATTENTION"] == "measured"
    monkeypatch.delenv("TORCHINDUCTOR_CACHE_DIR", raising=False)
    assert guarded(lambda: os.environ.update(TORCHINDUCTOR_CACHE_DIR="/tmp")).touched == ()


# --- the time ---


def test_what_never_ends_is_stopped_and_not_blamed_for_what_it_could_not_put_back(monkeypatch):
    clock = Clock(monkeypatch)

    def endless():
        torch.set_grad_enabled(False)
        clock.passes(guard.TIME_LIMIT + 1)

    outcome = guarded(endless)
    assert "does not finish within 10 seconds" in str(outcome.error)
    assert outcome.touched == ()
    assert torch.is_grad_enabled()
