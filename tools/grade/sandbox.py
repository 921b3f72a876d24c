"""Where a hand-in runs: a process of its own, with limits, which tells grader.py how the work behaves.

The hand-in's code may change everything in this process, so nothing that it tells is believed to be a pass:
with each pass go the answers themselves, as plain numbers, and the grader looks whether they are right.
"""

import ctypes
import fcntl
import json
import os
import re
import resource
import socket
import struct
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import torch
from IPython.core.interactiveshell import InteractiveShell
from torch import Tensor
from traitlets.config import Config

from bookkit import catalogue
from bookkit.checking import guard, wording
from bookkit.checking.attempts import gradients
from bookkit.checking.exercise import Exercise
from bookkit.checking.report import Check

LARGEST_FILE = 200_000_000  # bytes
NETWORK = {"socket.bind", "socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto"}
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
CHANGES = {
    "os.chmod",
    "os.link",
    "os.mkdir",
    "os.remove",
    "os.rename",
    "os.rmdir",
    "os.symlink",
    "os.truncate",
}
Tell = Callable[..., None]


@dataclass(frozen=True)
class Order:
    """What is to be run, and within which limits."""

    package: str  # the chapter's
    cells: list[str]  # code, in order
    may_raise: list[int]  # numbers of cells, counted from 1
    # For each exercise the cell after which its work is there, and the expression that is the work.
    asked: dict[str, tuple[int, str]]
    hidden: list[str]  # files that are none of its business
    folder: str  # its own, to write into
    seconds: float
    memory: int  # bytes


def serve(order: Order, pipe: Connection) -> None:
    """Run the hand-in and tell of it, one message of JSON after another."""

    def tell(**words: object) -> None:
        pipe.send_bytes(json.dumps(words).encode())

    os.setsid()  # so that all that it starts can be ended with it
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    os.environ |= {"HOME": order.folder, "TMPDIR": order.folder, "IPYTHONDIR": order.folder}
    tempfile.tempdir = order.folder
    sys.dont_write_bytecode = True
    torch.set_num_threads(1)
    tell(walled=wall_in(order))
    os.chdir(order.folder)
    limit(order)
    try:
        run(order, tell)
        tell(end=True)
    finally:
        os._exit(0)  # whatever it has left running does not keep us


# ---- limits ----


def limit(order: Order) -> None:
    processor = int(order.seconds * 10) + 1
    for kind, most in (
        (resource.RLIMIT_CPU, processor),
        (resource.RLIMIT_FSIZE, LARGEST_FILE),
        (resource.RLIMIT_CORE, 0),
        # What is private and can be written. PyTorch reserves far more addresses than it uses.
        (resource.RLIMIT_DATA, order.memory),
    ):
        with suppress(ValueError, OSError):  # macOS refuses some: there the grader watches the memory
            resource.setrlimit(kind, (most, most))


def wall_in(order: Order) -> bool:
    """On Linux, where it is allowed: without a network, all but its folder read-only, the hand-ins hidden.

    And in a process namespace of its own, whose end is the end of all that was started in it.
    """
    if not sys.platform.startswith("linux"):
        return False
    linux = ctypes.CDLL(None, use_errno=True)
    user, group = os.getuid(), os.getgid()
    new_mounts, new_user, new_processes, new_network = 0x20000, 0x10000000, 0x20000000, 0x40000000
    if linux.unshare(new_mounts | new_user | new_processes | new_network):
        return False
    try:
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
        loopback_on()
        walled = not mounts(linux, order)
    except OSError:  # some systems hand out namespaces in which nothing is allowed
        walled = False
    # Only the next process is in the new namespace. This one waits, and takes it along when it is killed.
    if child := os.fork():
        os.waitpid(child, 0)
        os._exit(0)
    set_death_signal, kill = 1, 9
    return not linux.prctl(set_death_signal, kill) and walled


def loopback_on() -> None:
    """A new network has its own loopback, switched off. PyTorch's processes talk to each other over it."""
    set_flags, up = 0x8914, 1
    with socket.socket() as any_socket:
        fcntl.ioctl(any_socket, set_flags, struct.pack("16sh", b"lo", up))


def mounts(linux: ctypes.CDLL, order: Order) -> int:
    """Not 0 where anything failed."""
    bind, recursive, private = 0x1000, 0x4000, 0x40000
    own = os.fsencode(order.folder)
    failed = linux.mount(None, b"/", None, recursive | private, None)
    failed |= linux.mount(own, own, None, bind, None)
    for file in order.hidden:
        failed |= linux.mount(b"/dev/null", os.fsencode(file), None, bind, None)
    # mount_setattr(2), which not every C library knows.
    set_attributes, here, all_below, read_only = 442, -100, 0x8000, 1
    lock, unlock = ((ctypes.c_uint64 * 4)(*flags, 0, 0) for flags in ((read_only, 0), (0, read_only)))
    failed |= linux.syscall(set_attributes, here, b"/", all_below, lock, ctypes.sizeof(lock))
    failed |= linux.syscall(set_attributes, here, own, 0, unlock, ctypes.sizeof(unlock))
    # Where PyTorch's processes share tensors.
    failed |= linux.mount(b"tmpfs", b"/dev/shm", b"tmpfs", 0, None)
    return int(failed)


def watch(order: Order, tell: Tell) -> None:
    """Refuse, and tell of, what reaches for the network or for others' files.

    No wall: C code and new processes go round it. It puts into words what the walls above would only refuse.
    """
    allowed = (os.path.realpath(order.folder), "/dev", "/proc/self")
    told = set()

    def outside(path: object) -> bool:
        if not isinstance(path, (str, bytes, os.PathLike)):
            return False  # a file that is open already
        real = os.path.realpath(os.fsdecode(path))
        return not any(real == place or real.startswith(f"{place}/") for place in allowed)

    def refuse(deed: str) -> None:
        if deed not in told:
            told.add(deed)
            tell(remark=f"{deed}: refused")
        raise PermissionError(f"a hand-in {deed}: refused")

    def look(event: str, arguments: tuple[Any, ...]) -> None:
        if event in NETWORK and not stays_here(arguments):
            refuse("reaches for the network")
        elif event == "open":
            path, _, flags = arguments
            if flags & WRITES and outside(path):
                refuse(f"writes to {os.fsdecode(path)}")
        elif event in CHANGES:
            for path in arguments[:2]:
                if outside(path):
                    refuse(f"changes {os.fsdecode(path)}")

    sys.addaudithook(look)  # nothing can take it away again


def stays_here(arguments: tuple[Any, ...]) -> bool:
    """Whether a socket's address, or a name to look up, is this machine's own."""
    host = arguments[0]
    if isinstance(host, socket.SocketType):
        if host.family not in (socket.AF_INET, socket.AF_INET6):
            return True  # a place in the file system, say
        host = arguments[1][0]
    host = os.fsdecode(host or "")
    return host in ("", "localhost", "::1", socket.gethostname()) or host.startswith("127.")


# ---- running the cells, and judging what they define ----


def run(order: Order, tell: Tell) -> None:
    checks = {check.name: check for check in catalogue.of_chapter(order.package)}
    before = parts_of_the_book()
    watch(order, tell)
    shell = InteractiveShell.instance(config=Config({"HistoryManager": {"enabled": False}}))
    for number, source in enumerate(order.cells, 1):
        tell(cell=number)
        done = shell.run_cell(source)
        if error := done.error_before_exec or done.error_in_exec:
            if out_of_memory(error):
                tell(spent="memory")
                return
            if number not in order.may_raise:
                words = wording.raised(error).replace("It raises", "raises")
                tell(remark=f"cell {number}: {re.sub('<ipython-input[^>]*>, ', '', words)}")
        for name, (after, expression) in order.asked.items():
            if after == number:
                tell(**judged(checks[name], expression, shell.user_ns))
    for name, check in checks.items():
        if shell.user_ns.get(f"check_{name}", check) is not check:
            tell(remark=f"puts something else in the place of check_{name}")
    after_all = parts_of_the_book()
    for name, part in before.items():
        if after_all.get(name) is not part:
            tell(remark=f"replaces {name}")


def out_of_memory(error: BaseException) -> bool:
    return isinstance(error, MemoryError) or "can't allocate memory" in wording.raised(error)


def parts_of_the_book() -> dict[str, object]:
    """Every function and class of the checks' machinery, with the classes' methods, under its name."""
    found: dict[str, object] = {}
    for name, module in sorted(sys.modules.items()):
        if name.partition(".")[0] in ("bookkit", "chapters"):
            for inside, thing in dict(vars(module)).items():
                if callable(thing) and getattr(thing, "__module__", None) == name:
                    found[f"{name}.{inside}"] = thing
                    own = vars(thing) if isinstance(thing, type) else {}
                    found |= {f"{name}.{inside}.{one}": part for one, part in own.items() if callable(part)}
    return found


def judged(check: Check, expression: str, names: dict[str, Any]) -> dict[str, Any]:
    """What our check, in this process, says of the work, and for a pass the answers that bear it out."""
    try:
        work = eval(expression, names)
    except BaseException:
        return {"exercise": check.name, "state": "missing"}
    said: list[Any] = []
    report = check.judge(work if isinstance(check, Exercise) else noted(work, said))
    told: dict[str, Any] = {"exercise": check.name, "state": report.state, "mistake": report.mistake or ""}
    if report.passed:
        with suppress(BaseException):
            told["answers"] = list(answers(check, work, said))
            told["gradients"] = {name: encoded(tensor) for name, tensor in reached(check, work).items()}
    return told


def noted(work: Any, said: list[Any]) -> Any:
    """The work, and all that it answers is noted: an experiment is too slow to be run once more for it."""
    if not callable(work):
        said.append(work)
        return work

    def asked(*inputs: Any) -> Any:
        said.append(work(*inputs))
        return said[-1]

    return asked


def answers(check: Check, work: Any, said: list[Any]) -> Iterator[Any]:
    if not isinstance(check, Exercise):
        for answer in said:  # a puzzle's shapes are lists of numbers as they are; an experiment has shares
            yield answer if isinstance(answer, dict) else encoded(torch.as_tensor(answer))
        return
    for case in check.cases:
        attempt = check.attempt(work, case, check.right(case.fresh()))
        yield [encoded(part) for part in attempt.answer]


def reached(check: Check, work: Any) -> dict[str, Tensor]:
    if not isinstance(check, Exercise) or not check.trained:
        return {}
    return guard.guarded(lambda: gradients(check, work, check.cases[-1])).value or {}


# ---- tensors as plain data, which no reader can be harmed by ----


def encoded(tensor: Tensor) -> dict[str, Any]:
    raw = tensor.detach().contiguous().reshape(-1).view(torch.uint8)
    return {"dtype": wording.dtype(tensor), "shape": list(tensor.shape), "bytes": raw.numpy().tobytes().hex()}


def decoded(data: dict[str, Any]) -> Tensor:
    dtype, raw = getattr(torch, data["dtype"]), bytearray.fromhex(data["bytes"])
    if not raw:
        return torch.empty(data["shape"], dtype=dtype)
    return torch.frombuffer(raw, dtype=dtype).reshape(data["shape"])
