"""Running code that nobody has read: it may raise, hang, print, seed or set what it likes, and we go on."""

import contextlib
import io
import math
import operator
import os
import random
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from types import BuiltinFunctionType
from typing import Any, Generic, TypeVar

import numpy as np
import torch
from torch import Tensor
from torch.nn.modules.module import register_module_parameter_registration_hook
from torch.utils.hooks import RemovableHandle

from checkup.limits import Deadline, TimeUpError, limited

Value = TypeVar("Value")

# For all that one check runs. Honest answers need hundredths of a second, a few of them one or two seconds.
TIME_LIMIT = 10.0


# Bytes in the place of arrays, so that one comparison does for all settings.


def _torch_state() -> bytes:
    return torch.get_rng_state().numpy().tobytes()


def _set_torch_state(state: bytes) -> None:
    torch.set_rng_state(torch.frombuffer(bytearray(state), dtype=torch.uint8))


def _numpy_state() -> tuple[Any, ...]:
    name, keys, *rest = np.random.get_state()
    return name, np.asarray(keys).tobytes(), *rest


def _set_numpy_state(state: tuple[Any, ...]) -> None:
    name, keys, *rest = state
    np.random.set_state((name, np.frombuffer(keys, dtype=np.uint32), *rest))


def _environment() -> dict[str, str]:
    """In a fixed order, and without what PyTorch sets for the compiler that some of its functions load."""
    return {
        name: value for name, value in sorted(os.environ.items()) if not name.startswith("TORCHINDUCTOR_")
    }


def _set_environment(environment: dict[str, str]) -> None:
    for name in _environment().keys() - environment.keys():
        del os.environ[name]
    os.environ.update(environment)


# Those that are written in C: PyTorch itself replaces others, such as torch.manual_seed, when it loads more.
_FUNCTIONS = [name for name, value in vars(torch).items() if isinstance(value, BuiltinFunctionType)]


# Of those written in Python, what modules do when they are called, and of Python's own what is like torch's.
_OTHERS: list[tuple[Any, str]] = [
    *((kind, "forward") for kind in vars(torch.nn).values() if "forward" in getattr(kind, "__dict__", ())),
    *((math, name) for name, value in vars(math).items() if isinstance(value, BuiltinFunctionType)),
    (torch.nn.Module, "__call__"),
]


class _Parts:
    """What PyTorch's functions and its tensors' methods are. Two are equal where each part is the same."""

    def __init__(self) -> None:
        self.functions = list(map(vars(torch).get, _FUNCTIONS))
        self.others = [vars(owner).get(name) for owner, name in _OTHERS]
        # What Python notes on a class whose objects are first saved is nobody's method.
        self.methods = {name: method for name, method in vars(Tensor).items() if name != "__slotnames__"}

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, _Parts)
            and all(map(operator.is_, self.functions, other.functions))
            and all(map(operator.is_, self.others, other.others))
            and self.methods.keys() == other.methods.keys()  # in any order: what is put back comes last
            and all(method is other.methods[name] for name, method in self.methods.items())
        )


def _set_parts(parts: _Parts) -> None:
    for name, function in zip(_FUNCTIONS, parts.functions, strict=True):
        setattr(torch, name, function)
    for (owner, name), other in zip(_OTHERS, parts.others, strict=True):
        setattr(owner, name, other)
    now = _Parts().methods
    for name in now.keys() - parts.methods.keys():
        delattr(Tensor, name)
    for name, method in parts.methods.items():
        if now.get(name) is not method:
            setattr(Tensor, name, method)


_AS_IMPORTED = _Parts()


def replaced() -> bool:
    """`replaced()` is True where functions of PyTorch or of math are not those that were there at first."""
    return _Parts() != _AS_IMPORTED


PARTS = "functions of PyTorch or Python itself"
DRAWN = "PyTorch's random numbers"
# What a function has no business to change: how to read it, and how to put it back.
SETTINGS: dict[str, tuple[Callable[[], Any], Callable[[Any], object]]] = {
    # First, because what comes after is read and put back by them.
    PARTS: (_Parts, _set_parts),
    DRAWN: (_torch_state, _set_torch_state),
    "Python's random numbers": (random.getstate, random.setstate),
    "NumPy's random numbers": (_numpy_state, _set_numpy_state),
    "PyTorch's default dtype": (torch.get_default_dtype, torch.set_default_dtype),
    "PyTorch's default device": (torch.get_default_device, torch.set_default_device),
    "whether PyTorch records gradients": (torch.is_grad_enabled, torch.set_grad_enabled),
    "how many threads PyTorch uses": (torch.get_num_threads, torch.set_num_threads),
    "whether PyTorch insists on deterministic algorithms": (
        torch.get_deterministic_debug_mode,
        torch.set_deterministic_debug_mode,
    ),
    "whether PyTorch looks for anomalies": (
        lambda: (torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()),
        lambda state: torch.autograd.set_detect_anomaly(*state),
    ),
    "how exactly PyTorch multiplies matrices": (
        torch.get_float32_matmul_precision,
        torch.set_float32_matmul_precision,
    ),
    # PyTorch can't tell, but the processor's own arithmetic, which is Python's too, shows it.
    "whether tiny numbers become 0": (lambda: sys.float_info.min / 2 == 0, torch.set_flush_denormal),
    "how PyTorch prints": (
        torch._tensor_str.get_printoptions,
        lambda options: torch.set_printoptions(**options),  # type: ignore[no-untyped-call]
    ),
    "what NumPy does about errors": (np.geterr, lambda actions: np.seterr(**actions)),
    "the working directory": (os.getcwd, os.chdir),
    "the environment variables": (_environment, _set_environment),
    "what Python calls at each step": (sys.getprofile, sys.setprofile),
    "how deep Python may call": (sys.getrecursionlimit, sys.setrecursionlimit),
}


@dataclass(frozen=True)
class Outcome(Generic[Value]):
    """`guarded(lambda: 1 + 1).value` is 2: what came back, or the error, and what else the code did.

    `made_modules` where modules drew their first numbers, and nobody set a seed.
    """

    value: Value | None
    error: BaseException | None
    touched: tuple[str, ...]
    printed: bool
    made_modules: bool = False


def guarded(action: Callable[[], Value], until: Deadline | None = None) -> Outcome[Value]:
    """`guarded(lambda: 1 / 0).error` is the ZeroDivisionError: whatever the action does, we go on.

    Settings that it changed are put back, what it prints or warns is kept off the page, and at the deadline,
    of TIME_LIMIT seconds where none is given, it is stopped as `limited` stops it.

    >>> outcome = guarded(lambda: print(torch.rand(1)))
    >>> outcome.touched, outcome.printed
    (("PyTorch's random numbers",), True)
    """
    value, error = None, None
    muted, registered = _Muted(), _Registered()
    seed = torch.initial_seed()
    before = {name: read() for name, (read, _) in SETTINGS.items()}
    with (
        warnings.catch_warnings(),
        contextlib.redirect_stdout(muted),
        contextlib.redirect_stderr(muted),
        registered.hook(),
    ):
        warnings.simplefilter("ignore")
        try:
            value = limited(action, until or Deadline(TIME_LIMIT))
        # Even SystemExit and KeyboardInterrupt: whoever asked must be able to say that they were raised.
        except BaseException as raised:
            error = raised
    made_modules = registered.any and torch.initial_seed() == seed
    touched = _put_back(before)
    if isinstance(error, TimeUpError):
        touched = ()  # what is stopped may not have cleared up behind itself
    return Outcome(value, error, touched, muted.used, made_modules)


def trusted(action: Callable[[], Value]) -> Outcome[Value]:
    """`trusted(action)` is for code of ours, which sets nothing and comes to an end: much quicker."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return Outcome(action(), None, (), printed=False)
        except Exception as raised:
            return Outcome(None, raised, (), printed=False)


class _Registered:
    """Whether any module has been given a parameter."""

    any = False

    def hook(self) -> RemovableHandle:
        """Until the end of a `with`."""
        return register_module_parameter_registration_hook(self)

    def __call__(self, *_: object) -> None:
        self.any = True


class _Muted(io.TextIOBase):
    """A stream that keeps nothing, so that a print in an endless loop fills no memory."""

    used = False

    def write(self, text: str) -> int:
        self.used = True
        return len(text)


def _put_back(before: dict[str, Any]) -> tuple[str, ...]:
    touched = []
    for name, (read, restore) in SETTINGS.items():
        if read() != before[name]:
            restore(before[name])
            touched.append(name)
    return tuple(touched)
