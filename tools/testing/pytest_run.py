"""A run of pytest in a process of its own, and its end."""

import os
import subprocess
import sys

from tools import ROOT


def pytest(*arguments: str, **variables: str) -> subprocess.Popen[bytes]:
    """`pytest("book", OMP_NUM_THREADS="1")` begins, and does not wait."""
    command = [sys.executable, "-m", "pytest", "-q", "-rs", "--no-header", *arguments]
    return subprocess.Popen(command, cwd=ROOT, env=os.environ | variables)


def finished(run: subprocess.Popen[bytes]) -> int:
    """`finished(pytest("book"))` is its status. An interruption reaches it, too, and it ends by itself."""
    while True:
        try:
            return run.wait()
        except KeyboardInterrupt:
            continue
