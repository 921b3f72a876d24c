"""Where a long command is: on a terminal a line that is written over, elsewhere one every half minute."""

import os
import shutil
import sys
import threading
import time
from types import TracebackType
from typing import TextIO

SELDOM = 30.0  # seconds between two lines where they stay
OFTEN = 1.0  # and between two on a terminal, where time runs on though nothing else happens


def spoken(seconds: float) -> str:
    """`spoken(100)` is "2 min"; below a minute and a half it is told in seconds, in tens."""
    return f"{seconds / 60:.0f} min" if seconds >= 90 else f"{max(10, round(seconds, -1)):.0f} s"


class Progress:
    """`with Progress("refresh") as line: line.at(0.25, "where-am-i")` says both, and the time left."""

    def __init__(self, command: str, stream: TextIO | None = None) -> None:
        self.command = command
        self.stream = stream or sys.stdout
        self.on_a_terminal = self.stream.isatty()
        self.share, self.doing = 0.0, ""
        self.started = time.monotonic()
        self._lock = threading.RLock()
        self._over = threading.Event()
        self._clock = threading.Thread(target=self._tick, daemon=True)

    def __enter__(self) -> "Progress":
        self._clock.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._clock.join()
        self.clear()

    def at(self, share: float, doing: str) -> None:
        """Note how much is done, of 1, and what is being done now."""
        with self._lock:
            self.share, self.doing = share, doing

    def say(self, text: str) -> None:
        """`progress.say("where-am-i: stored")` is a line that stays."""
        with self._lock:
            self.clear()
            print(text, file=self.stream, flush=True)

    def line(self) -> str:
        """`progress.line()` is "refresh: 25 %, 2 min left: where-am-i"; the time only once it can be told."""
        took = time.monotonic() - self.started
        words = f"{self.command}: {self.share:.0%}".replace("%", " %")
        if self.share > 0.02 and took > 5:
            words += f", {spoken(took * (1 - self.share) / self.share)} left"
        return f"{words}: {self.doing}" if self.doing else words

    def clear(self) -> None:
        """Take the line off the terminal, so that something else can stand there."""
        if self.on_a_terminal:
            print("\r\x1b[K", end="", file=self.stream, flush=True)

    def _tick(self) -> None:
        while not self._over.wait(OFTEN if self.on_a_terminal else SELDOM):
            with self._lock:
                if self.on_a_terminal:
                    width = shutil.get_terminal_size().columns - 1
                    print(f"\r\x1b[K{self.line()[:width]}", end="", file=self.stream, flush=True)
                else:
                    print(self.line(), file=self.stream, flush=True)


def quiet() -> bool:
    """Whether no progress is wanted, as in the book's own packages."""
    return bool(os.environ.get("ATTNLAB_QUIET"))
