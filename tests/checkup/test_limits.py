"""Code is stopped when its time is up."""

import functools
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from clocks import Clock

from checkup import limits
from checkup.limits import TIDYING, Deadline, TimeUpError, limited

# An alarm that rings while Hypothesis hears of collected garbage is lost with a warning; a later one counts.
LOST = "ignore:Exception ignored in. <function gc_cumulative_time:pytest.PytestUnraisableExceptionWarning"
pytestmark = pytest.mark.filterwarnings(LOST)


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
    monkeypatch.setattr(limits, "monotonic", time.monotonic)
    monkeypatch.setattr(limits, "thread_time", lambda: 0.0)  # as one who sleeps has it
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


@pytest.mark.usefixtures("either_way")
@pytest.mark.parametrize(
    ("served", "end"),
    [(1, 11), (0.25, 40), (0.025, 61), (0.001, 11)],
    ids=["alone", "till it has had ten", "on a busy machine, not for ever", "asleep, however busy it is"],
)
def test_who_has_hardly_had_the_processor_may_go_on(served, end, monkeypatch):
    clock, trace = Clock(monkeypatch, served), sys.gettrace()
    limited(lambda: work(clock, end - 1), Deadline(10))
    clock.now = 0
    with pytest.raises(TimeUpError):
        limited(lambda: work(clock), Deadline(10))
    assert clock.now == end
    assert sys.gettrace() is trace


def test_another_thread_can_run_code_and_stop_a_loop(clock):
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(limited, lambda: 2, Deadline(5)).result() == 2
        with pytest.raises(TimeUpError):
            pool.submit(limited, lambda: work(clock), Deadline(5)).result()


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
