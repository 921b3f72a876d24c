"""The device, numbers that repeat, and code that is stopped when its time is up."""

import functools
import os
import random
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from clocks import Clock

from attnlab import runtime
from attnlab.runtime import TIDYING, Deadline, TimeUpError, limited

# An alarm that rings while Hypothesis hears of collected garbage is lost with a warning; a later one counts.
LOST = "ignore:Exception ignored in. <function gc_cumulative_time:pytest.PytestUnraisableExceptionWarning"
pytestmark = pytest.mark.filterwarnings(LOST)


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


# ---- how long code may take ----

EITHER_WAY = pytest.mark.parametrize("alarms", [True, False], ids=["alarms", "as on Windows"])


@pytest.fixture
def clock(monkeypatch):
    return Clock(monkeypatch)


def without_alarms(monkeypatch, alarms):
    if not alarms:
        monkeypatch.delattr(signal, "setitimer")


# They end by themselves, so that a test of what stops them does, too.


def work(clock, seconds=100):
    """So many seconds, one after the other."""
    for _ in range(seconds):
        clock.passes(1)


def retry(clock):
    for _ in range(100):
        try:
            clock.passes(1)
        except Exception:
            continue


def retry_whatever_it_is(clock):
    for _ in range(100):
        try:
            clock.passes(1)
        except:  # noqa: E722 - this reader swallows everything
            continue


def answer_late(clock):
    try:
        clock.passes(100)
    except:  # noqa: E722
        return "an answer"


@pytest.mark.parametrize(
    ("endless", "after"), [(work, 6), (retry, 6), (retry_whatever_it_is, 6 + TIDYING), (answer_late, 100)]
)
def test_what_never_ends_is_stopped(endless, after, clock):
    alarm, trace = signal.getsignal(signal.SIGALRM), sys.gettrace()
    with pytest.raises(TimeUpError, match="does not finish within 5 seconds"):
        limited(lambda: endless(clock), Deadline(5))
    assert clock.now == after
    assert signal.getsignal(signal.SIGALRM) is alarm
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)
    assert sys.gettrace() is trace


def sleep(seconds):
    time.sleep(seconds)


def compute(seconds):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        pass


@pytest.mark.parametrize("action", [sleep, compute])
def test_a_real_alarm_interrupts(action, monkeypatch):
    monkeypatch.setattr(runtime, "monotonic", time.monotonic)
    monkeypatch.setattr(runtime, "thread_time", lambda: 0.0)  # as one who sleeps has it
    started = time.monotonic()
    with pytest.raises(TimeUpError):
        limited(lambda: action(20), Deadline(0.05))
    assert time.monotonic() - started > 0.05


def test_what_is_stopped_clears_up_behind_itself_though_the_alarm_rings_again(clock):
    cleared = []

    def tidy():
        try:
            clock.passes(6)
        finally:
            clock.passes(TIDYING / 2)
            cleared.append(True)

    with pytest.raises(TimeUpError):
        limited(tidy, Deadline(5))
    assert cleared == [True]


class Tidied:
    """Takes its time to be deleted, and says when it has been."""

    def __init__(self, clock, deleted):
        self.clock, self.deleted = clock, deleted

    def __del__(self):
        self.clock.passes(5.5)
        self.clock.passes(TIDYING / 2)
        self.deleted.append(True)


@EITHER_WAY
def test_what_python_deletes_just_then_is_deleted_whole(alarms, clock, monkeypatch):
    without_alarms(monkeypatch, alarms)
    deleted = []

    def let_go():
        Tidied(clock, deleted)  # nobody keeps it
        work(clock)

    with pytest.raises(TimeUpError):
        limited(let_go, Deadline(5))
    assert deleted == [True]


def test_several_actions_share_one_deadline(clock):
    until = Deadline(10)
    limited(lambda: clock.passes(6), until)
    assert until.left == 4
    for left in (1e-3, 1e-3):  # even where no time is left; 0 would be no alarm
        with pytest.raises(TimeUpError):
            limited(lambda: work(clock), until)
        assert until.left == left
    assert clock.now == 12


def test_the_alarm_is_set_to_what_is_left(clock, monkeypatch):
    timers = []
    monkeypatch.setattr(signal, "setitimer", lambda which, *times: timers.append(times) or (0, 0))
    until = Deadline(10)
    limited(lambda: clock.passes(6), until)
    limited(lambda: None, until)
    assert [times[0] for times in timers] == [10, 0, 0, 4, 0, 0]


@EITHER_WAY
@pytest.mark.parametrize(
    ("served", "end"),
    [(1, 11), (0.25, 20), (0.025, 61), (0.001, 11)],
    ids=["alone", "till it has had half", "on a busy machine, not for ever", "asleep, however busy it is"],
)
def test_who_has_hardly_had_the_processor_may_go_on(alarms, served, end, monkeypatch):
    without_alarms(monkeypatch, alarms)
    clock = Clock(monkeypatch, served)
    limited(lambda: work(clock, end - 1), Deadline(10))
    clock.now = 0
    with pytest.raises(TimeUpError):
        limited(lambda: work(clock), Deadline(10))
    assert clock.now == end


def test_another_thread_can_run_code_and_stop_a_loop(clock):
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(limited, lambda: 2, Deadline(5)).result() == 2
        with pytest.raises(TimeUpError):
            pool.submit(limited, lambda: work(clock), Deadline(5)).result()


def test_a_loop_is_stopped_where_there_are_no_alarms(clock, monkeypatch):
    without_alarms(monkeypatch, False)
    trace = sys.gettrace()
    with pytest.raises(TimeUpError):
        limited(lambda: work(clock), Deadline(5))
    assert limited(lambda: 1, Deadline(5)) == 1
    after = sys.gettrace()
    sys.settrace(trace)
    assert after is trace


def test_an_alarm_that_rings_when_the_work_is_done_changes_nothing(clock):
    def up():
        clock.now = 100

    # The second call leaves no frame of Python's, so the alarm finds us back where it is turned off.
    until = Deadline(5)
    limited(up, until)
    limited(functools.partial(signal.raise_signal, signal.SIGALRM), until)
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)


def test_an_alarm_of_someone_else_still_rings():
    rung = []
    before = signal.signal(signal.SIGALRM, lambda number, frame: rung.append(number))
    try:
        signal.setitimer(signal.ITIMER_REAL, 100)
        assert limited(lambda: 1, Deadline(5)) == 1
        assert signal.getitimer(signal.ITIMER_REAL)[0] > 50
        signal.raise_signal(signal.SIGALRM)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert rung == [signal.SIGALRM]
