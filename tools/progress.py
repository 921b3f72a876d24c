"""Where a long command is: on a terminal a line that is written over, elsewhere one every half minute."""

import shutil
import sys
import time
from typing import TextIO

SELDOM = 30.0  # seconds between two lines where they stay


def spoken(seconds: float) -> str:
    """`spoken(100)` is "2 min"; below a minute and a half it is told in seconds, in tens."""
    return f"{seconds / 60:.0f} min" if seconds >= 90 else f"{max(10, round(seconds, -1)):.0f} s"


class Progress:
    """`with Progress("refresh") as line: line.at(0.25, "where-am-i")` says both, and the time left."""

    def __init__(self, command: str, stream: TextIO | None = None) -> None:
        self.command = command
        self.stream = stream or sys.stdout
        self.on_a_terminal = self.stream.isatty()
        self.started = self.told = time.monotonic()

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, *_: object) -> None:
        self.clear()

    def at(self, share: float, doing: str) -> None:
        """Tell how much is done, of 1, and what is being done now; the time left only once it can be told."""
        took = time.monotonic() - self.started
        words = f"{self.command}: {share:.0%}".replace("%", " %")
        if share > 0.02 and took > 5:
            words += f", {spoken(took * (1 - share) / share)} left"
        words += f": {doing}"
        if self.on_a_terminal:
            width = shutil.get_terminal_size().columns - 1
            print(f"\r\x1b[K{words[:width]}", end="", file=self.stream, flush=True)
        elif time.monotonic() - self.told > SELDOM:
            self.say(words)
            self.told = time.monotonic()

    def say(self, text: str) -> None:
        """`progress.say("where-am-i: stored")` is a line that stays."""
        self.clear()
        print(text, file=self.stream, flush=True)

    def clear(self) -> None:
        """Take the line off the terminal, so that something else can stand there."""
        if self.on_a_terminal:
            print("\r\x1b[K", end="", file=self.stream, flush=True)
