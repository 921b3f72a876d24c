"""The guard: whatever code does, it ends in time, changes no setting, and is told of."""

import functools
import io
import os
import random
import signal
import subprocess
import sys
import threading
import time
import warnings

import numpy as np
import pytest
import torch

from bookkit.checking import guard
from bookkit.checking.guard import TimeUpError, guarded

# An alarm that rings while Hypothesis hears of collected garbage is lost with a warning; the next one counts.
LOST = "ignore:Exception ignored in. <function gc_cumulative_time:pytest.PytestUnraisableExceptionWarning"
pytestmark = pytest.mark.filterwarnings(LOST)


def test_what_comes_back_and_what_is_raised():
    assert guarded(lambda: 1 + 1).value == 2
    for error in (ValueError(), SystemExit(3), KeyboardInterrupt(), GeneratorExit()):
        assert guarded(functools.partial(raise_it, error)).error is error


def raise_it(error):
    raise error


def test_printing_and_warning_are_kept_off_the_page(capfd):
    def code():
        print("query")
        print("to stderr", file=sys.stderr)
        warnings.warn("deprecated", stacklevel=1)

    assert guarded(code).printed
    assert not guarded(lambda: None).printed
    assert capfd.readouterr() == ("", "")


# --- settings ---

EFFECTS = {
    "functions of PyTorch itself": lambda: setattr(torch, "equal", lambda *tensors: True),
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


@pytest.mark.parametrize("name", ["allclose", "equal", "isclose"])
@pytest.mark.parametrize(
    "replace", [lambda name: setattr(torch, name, None), lambda name: delattr(torch, name)]
)
def test_what_answers_are_compared_by_is_put_back(name, replace):
    before = getattr(torch, name)
    try:
        outcome = guarded(lambda: replace(name))
        assert getattr(torch, name) is before
    finally:
        setattr(torch, name, before)
    assert outcome.touched == ("functions of PyTorch itself",)


@pytest.mark.parametrize("name", ["double", "__eq__", "__repr__"])
def test_tensors_get_their_methods_back(name):
    before, own = getattr(torch.Tensor, name), name in vars(torch.Tensor)
    outcome = guarded(lambda: setattr(torch.Tensor, name, lambda self, other=None: True))
    assert outcome.touched == ("functions of PyTorch itself",)
    assert getattr(torch.Tensor, name) is before
    assert (name in vars(torch.Tensor)) is own
    assert guarded(lambda: delattr(torch.Tensor, "__repr__")).touched == ("functions of PyTorch itself",)
    assert "tensor(" in repr(torch.ones(1))
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
from bookkit.checking import guard
guard.TIME_LIMIT = 100  # a busy machine loads it slowly
seed = torch.manual_seed
def load():
    import torch._dynamo
print(guard.guarded(load).touched, torch.manual_seed is seed)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["()", "False"], "PyTorch replaces one of its functions, which is fine"


def test_the_environment_is_put_back_whole(monkeypatch):
    monkeypatch.setenv("ATTENTION", "measured")
    assert guarded(lambda: os.environ.pop("ATTENTION")).touched == ("the environment variables",)
    assert os.environ["ATTENTION"] == "measured"


def test_what_pytorch_sets_for_its_compiler_is_nobodys_doing(monkeypatch):
    monkeypatch.delenv("TORCHINDUCTOR_CACHE_DIR", raising=False)
    assert guarded(lambda: os.environ.update(TORCHINDUCTOR_CACHE_DIR="/tmp")).touched == ()


def test_what_comes_next_is_drawn_as_if_nothing_had_been_drawn():
    torch.manual_seed(1)
    wanted = torch.rand(2)
    torch.manual_seed(1)
    guarded(lambda: torch.rand(5))
    assert torch.equal(torch.rand(2), wanted)


def test_modules_are_noticed_and_what_they_drew_is_told_all_the_same():
    outcome = guarded(lambda: torch.nn.Linear(2, 2))
    assert outcome.touched == ("PyTorch's random numbers",)
    assert outcome.made_modules
    assert not guarded(lambda: torch.rand(2)).made_modules
    assert not guarded(lambda: [torch.manual_seed(5), torch.nn.Linear(2, 2)]).made_modules


# --- the time ---


# They end by themselves, so that a test of what stops them does, too.
def unless_stopped(seconds=3.0):
    """Whether it may go on, until it has for so long."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        yield


def loop():
    for _ in unless_stopped():
        pass


def stubborn_loop():
    for _ in unless_stopped():
        try:
            time.sleep(3)
        except:  # noqa: E722 - this reader swallows everything
            continue


def print_for_ever():
    for _ in unless_stopped():
        print("again")


@pytest.mark.parametrize("endless", [loop, stubborn_loop, print_for_ever, lambda: time.sleep(3)])
def test_what_never_ends_is_stopped(endless, monkeypatch):
    monkeypatch.setattr(guard, "TIME_LIMIT", 0.05)
    alarm = signal.getsignal(signal.SIGALRM)
    started = time.monotonic()
    outcome = guarded(endless)
    assert time.monotonic() - started < 2
    assert isinstance(outcome.error, TimeUpError)
    assert "does not finish within 0.05 seconds" in str(outcome.error)
    assert signal.getsignal(signal.SIGALRM) is alarm
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)


class Tidied:
    """Takes 0.2 seconds to be deleted, and says when it has been."""

    def __init__(self, deleted):
        self.deleted = deleted

    def __del__(self):
        for _ in range(20):
            time.sleep(0.01)
        self.deleted.append(True)


@pytest.mark.parametrize("alarms", [True, False])
def test_what_python_deletes_just_then_is_deleted_whole(alarms, monkeypatch):
    monkeypatch.setattr(guard, "TIME_LIMIT", 0.05)
    if not alarms:
        monkeypatch.delattr(signal, "setitimer")  # as on Windows
    deleted = []

    def let_go():
        Tidied(deleted)  # nobody keeps it
        loop()

    assert isinstance(guarded(let_go).error, TimeUpError)
    assert deleted == [True]


def test_what_is_stopped_is_not_blamed_for_what_it_could_not_put_back(monkeypatch):
    monkeypatch.setattr(guard, "TIME_LIMIT", 0.05)

    @torch.no_grad()
    def sleep():
        time.sleep(3)

    assert guarded(sleep).touched == ()
    assert torch.is_grad_enabled()


def served(share, monkeypatch):
    """A machine that gives us so much of the processor."""
    monkeypatch.setattr(time, "thread_time", lambda: share * time.monotonic())


def test_several_actions_share_one_deadline(monkeypatch):
    monkeypatch.setattr(guard, "TIME_LIMIT", 1.0)
    served(1, monkeypatch)
    until = guard.Deadline()
    assert guarded(lambda: time.sleep(0.6), until).error is None
    started = time.monotonic()
    assert isinstance(guarded(loop, until).error, TimeUpError)
    assert time.monotonic() - started < 0.9
    assert isinstance(guarded(loop, until).error, TimeUpError), "even where no time is left"


@pytest.mark.parametrize("alarms", [True, False])
def test_on_a_busy_machine_work_may_take_longer_but_not_for_ever(alarms, monkeypatch):
    if not alarms:
        monkeypatch.delattr(signal, "setitimer")  # as on Windows
    monkeypatch.setattr(guard, "TIME_LIMIT", 0.1)
    served(0.025, monkeypatch)
    assert guarded(lambda: [*unless_stopped(0.3)]).error is None
    started = time.monotonic()
    assert isinstance(guarded(loop).error, TimeUpError)
    assert 0.5 < time.monotonic() - started < 1.5


def test_a_sleep_is_stopped_however_busy_the_machine_is(monkeypatch):
    monkeypatch.setattr(guard, "TIME_LIMIT", 0.1)
    served(0, monkeypatch)
    assert isinstance(guarded(lambda: time.sleep(0.3)).error, TimeUpError)


def test_without_a_deadline_each_action_has_its_own(monkeypatch):
    monkeypatch.setattr(guard, "TIME_LIMIT", 1.0)
    for _ in range(2):
        assert guarded(lambda: time.sleep(0.6)).error is None


def in_a_thread(action):
    results = []
    thread = threading.Thread(target=lambda: results.append(action()))
    thread.start()
    thread.join(timeout=20)
    return results[0]


def test_another_thread_can_run_code_and_stop_a_loop(monkeypatch):
    assert in_a_thread(lambda: guarded(lambda: 2)).value == 2
    monkeypatch.setattr(guard, "TIME_LIMIT", 0.1)
    assert isinstance(in_a_thread(lambda: guarded(loop)).error, TimeUpError)


def test_a_loop_is_stopped_where_there_are_no_alarms(monkeypatch):
    monkeypatch.setattr(guard, "TIME_LIMIT", 0.1)
    monkeypatch.delattr(signal, "setitimer")  # as on Windows
    trace = sys.gettrace()
    assert isinstance(guarded(loop).error, TimeUpError)
    assert guarded(lambda: 1).value == 1
    after = sys.gettrace()
    sys.settrace(trace)
    assert after is trace


def test_an_alarm_that_rings_when_the_work_is_done_changes_nothing():
    # The call leaves no frame of Python's, so the alarm finds us back in the guard.
    outcome = guarded(functools.partial(signal.raise_signal, signal.SIGALRM))
    assert outcome.error is None
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)


def test_an_alarm_of_someone_else_still_rings():
    rung = []
    before = signal.signal(signal.SIGALRM, lambda number, frame: rung.append(number))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        assert guarded(lambda: 1).value == 1
        time.sleep(0.4)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert rung == [signal.SIGALRM]
