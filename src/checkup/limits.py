"""Code that nobody has read gets so many seconds."""

import math
import signal
import sys
import threading
from collections.abc import Callable
from time import monotonic, thread_time
from types import FrameType
from typing import Any, TypeVar

Value = TypeVar("Value")

# Seconds are those of the processor that the code itself has had: with much else to do a machine gives it so
# little that it takes far longer (beside ten others on two cores, ten times), and it is no endless loop.
WAITING = 0.02  # But code that has had less than this share of them sleeps, or waits for what does not come,
LONGEST = 6  # and none goes on for more than so many times the seconds.
# How often the alarm rings again, for code that swallows it in an `except:` of its own.
RING_AGAIN = 0.1
TIDYING = 1.0  # seconds that deleting an object may still take, and clearing up behind what was stopped
# What is raised before a line that ends a `with` keeps it from clearing up, as from giving back a lock.
TRUSTED = {"checkup", "attnlab", "torch", *sys.stdlib_module_names}


class TimeUpError(BaseException):
    """`except Exception` in the code does not swallow this one, which says that the time is over."""


class Deadline:
    """`limited(action, Deadline(10.0))`: several actions with one deadline share its ten seconds."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.started, self.had = monotonic(), thread_time()
        self.passed_at = math.inf

    @property
    def worked(self) -> float:
        """`deadline.worked` is how many seconds of the processor the thread that made it has had since."""
        return thread_time() - self.had

    @property
    def left(self) -> float:
        """`deadline.left` seconds it takes at least to pass. Never 0, which would mean no alarm at all."""
        return max(self.started + self.seconds - monotonic(), 1e-3)

    def passed(self) -> bool:
        """`deadline.passed()` is for the thread that made it. What has passed once has passed for good."""
        now = monotonic()
        if now - self.started > self.seconds and self.passed_at > now:
            share = self.worked / self.seconds
            if not WAITING < share < 1 or now - self.started > LONGEST * self.seconds:
                self.passed_at = now
        return self.passed_at <= now


def limited(action: Callable[[], Value], until: Deadline) -> Value:
    """`limited(lambda: 1, Deadline(10.0))` is 1, and a loop that never ends raises TimeUpError.

    An alarm interrupts even a sleep, but only the main thread of a Unix process hears one. Elsewhere a trace
    function looks at the clock before each line that is not Python's, PyTorch's or ours, and raises once.

    Both wait for a call into C to come back: a sleep or a lock does so at once, a product of large matrices
    or `sum(range(10**12))` when it is done. No thread of ours can break off such a call, and sum() lets none
    run. A forked process could be killed, but hangs in PyTorch where two threads have computed before, and
    what it did to the objects given would be lost. A call that never returns ends with its kernel.
    """
    time_up = TimeUpError(
        f"It does not finish within {until.seconds:g} seconds. Does a loop never end, or is it slow?"
    )
    raised_at = -math.inf

    def at_each_line(frame: FrameType, event: str, argument: object) -> Any:
        if frame.f_globals.get("__name__", "").partition(".")[0] in TRUSTED:
            return None
        if event == "line" and until.passed() and not _is_deleting(frame, until.passed_at):
            raise time_up
        return at_each_line

    def ring(number: int, frame: FrameType | None) -> None:
        nonlocal raised_at
        # The action is not running: raising here would keep us from clearing up.
        if frame is None or frame.f_code is limited.__code__ or not until.passed():
            return
        if monotonic() < raised_at + TIDYING or _is_deleting(frame, until.passed_at):
            return
        swallowed, raised_at = raised_at > -math.inf, monotonic()
        if swallowed:
            # By a bare `except:`, as this one may be: the first line inside it then raises again.
            sys.settrace(at_each_line)
            while frame is not None and frame.f_code is not limited.__code__:
                frame.f_trace = at_each_line
                frame = frame.f_back
        raise time_up

    trace_before = sys.gettrace()
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        sys.settrace(at_each_line)
        try:
            return action()
        finally:
            sys.settrace(trace_before)
    handler_before = signal.signal(signal.SIGALRM, ring)
    timer_before = signal.setitimer(signal.ITIMER_REAL, until.left, RING_AGAIN)
    try:
        value = action()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        sys.settrace(trace_before)
        signal.signal(signal.SIGALRM, handler_before)
        signal.setitimer(signal.ITIMER_REAL, *timer_before)
    if raised_at > -math.inf:
        raise time_up  # it swallowed that, and answered late
    return value


def _is_deleting(frame: FrameType | None, since: float) -> bool:
    """Whether Python has just then come to delete an object: what is raised there is lost, and printed."""
    if since + TIDYING < monotonic():
        return False
    while frame is not None and frame.f_code.co_name != "__del__":
        frame = frame.f_back
    return frame is not None
