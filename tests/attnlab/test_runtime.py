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


@pytest.mark.parametrize(
    ("wanted", "gpus", "chosen"),
    [
        ("", 0, "cpu"),
        ("", 1, "cuda"),
        ("cpu", 1, "cpu"),
        ("cuda", 1, "cuda"),
        ("cuda:0", 1, "cuda:0"),
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


def test_a_generator_is_on_the_cpu_and_depends_on_its_seed_alone():
    torch.manual_seed(1)
    first = torch.rand(3, generator=runtime.generator(0))
    torch.manual_seed(2)
    assert torch.equal(first, torch.rand(3, generator=runtime.generator(0)))
    assert not torch.equal(first, torch.rand(3, generator=runtime.generator(1)))
    assert runtime.generator(0).device.type == "cpu"


# ---- how long code may take ----


@pytest.fixture
def clock(monkeypatch):
    return Clock(monkeypatch)


@pytest.fixture(params=[True, False], ids=["alarms", "as on Windows"])
def either_way(request, monkeypatch):
    if not request.param:
        monkeypatch.delattr(signal, "setitimer")


# They end by themselves, so that a test of what stops them does, too.


def work(clock, seconds=100):
    """So many seconds, one after the other."""
    for _ in range(seconds):
        clock.passes(1)


def retry(clock, swallowed=Exception):
    for _ in range(100):
        try:
            clock.passes(1)
        except swallowed:
            continue


def answer_late(clock):
    try:
        clock.passes(100)
    except:  # noqa: E722
        return "an answer"


@pytest.mark.parametrize(
    ("endless", "after"),
    [(work, 6), (retry, 6), (lambda clock: retry(clock, BaseException), 6 + TIDYING), (answer_late, 100)],
)
def test_what_never_ends_is_stopped(endless, after, clock):
    alarm, trace = signal.getsignal(signal.SIGALRM), sys.gettrace()
    with pytest.raises(TimeUpError, match="does not finish within 5 seconds"):
        limited(lambda: endless(clock), Deadline(5))
    assert clock.now == after
    assert signal.getsignal(signal.SIGALRM) is alarm
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)
    assert sys.gettrace() is trace


def compute(seconds):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        pass


@pytest.mark.parametrize("action", [time.sleep, compute])
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


@pytest.mark.usefixtures("either_way")
def test_what_python_deletes_just_then_is_deleted_whole(clock):
    deleted = []

    class Tidied:
        """Takes its time to be deleted, and says when it has been."""

        def __del__(self):
            clock.passes(5.5)
            clock.passes(TIDYING / 2)
            deleted.append(True)

    def let_go():
        Tidied()  # nobody keeps it
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


@pytest.mark.usefixtures("either_way")
@pytest.mark.parametrize(
    ("served", "end"),
    [(1, 11), (0.25, 20), (0.025, 61), (0.001, 11)],
    ids=["alone", "till it has had half", "on a busy machine, not for ever", "asleep, however busy it is"],
)
def test_who_has_hardly_had_the_processor_may_go_on(served, end, monkeypatch):
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
    monkeypatch.delattr(signal, "setitimer")
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
