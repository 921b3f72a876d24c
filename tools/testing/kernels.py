"""The chapters' kernels, forked from a process that has loaded what they all import, but nothing of the book.

To start and to import PyTorch, Matplotlib and Altair takes a kernel three seconds, and its first optimiser,
which imports PyTorch's compiler, more than another. What a cell imports it still has to import.
"""

import multiprocessing
import os
from multiprocessing.connection import Connection
from typing import Any

from ipykernel.kernelapp import launch_new_instance

forks = multiprocessing.get_context("forkserver")
forks.set_forkserver_preload(
    ["ipykernel.kernelapp", "torch._dynamo", "matplotlib.figure", "matplotlib.backends.backend_svg", "altair"]
)


def kernel(told: Connection, command: list[str], folder: str | None, environment: dict[str, str]) -> None:
    """In the forked process: what `python -m ipykernel_launcher -f …` does in one of its own."""
    os.setsid()
    told.send("in a group of its own")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nowhere, stream)
    os.environ |= environment
    if folder:
        os.chdir(folder)
    # `python -m ipykernel_launcher` comes before these; with its parent the kernel ends, too.
    launch_new_instance(argv=[*command[3:], f"--IPKernelApp.parent_handle={os.getppid()}"])


class Forked:
    """What jupyter_client asks of a `subprocess.Popen`."""

    stdin = stdout = stderr = None

    def __init__(self, command: list[str], **settings: Any) -> None:
        hears, told = forks.Pipe(duplex=False)
        started = told, command, settings.get("cwd"), dict(settings.get("env") or {})
        self.process = forks.Process(target=kernel, args=started)
        with hears, told:
            self.process.start()
            hears.recv()  # from here on a signal to its group is one to it alone
        self.pid = self.process.pid

    def poll(self) -> int | None:
        return self.process.exitcode

    def wait(self) -> int | None:
        self.process.join()
        return self.process.exitcode

    def send_signal(self, number: int) -> None:
        if self.pid and self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.process.terminate()

    def kill(self) -> None:
        self.process.kill()
