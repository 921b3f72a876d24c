"""What keeps a hand-in in: the system's walls where it gives some, limits, and a guard that has words."""

import ctypes
import fcntl
import os
import resource
import socket
import struct
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

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
PROCESSES = 128  # threads included: a chapter starts a dozen, a fork bomb would take the machine
SHARED_MEMORY = b"size=1g"
Tell = Callable[..., None]


def limit(seconds: float, memory: int, walled: bool) -> None:
    processor = int(seconds * 10) + 1
    limits = [
        (resource.RLIMIT_CPU, processor),
        (resource.RLIMIT_FSIZE, LARGEST_FILE),
        (resource.RLIMIT_CORE, 0),
        # What is private and can be written. PyTorch reserves far more addresses than it uses.
        (resource.RLIMIT_DATA, memory),
    ]
    if walled:
        # Within walls its own are counted, and elsewhere all that the user runs. Root's are never counted.
        limits.append((resource.RLIMIT_NPROC, PROCESSES))
    for kind, most in limits:
        with suppress(ValueError, OSError):  # macOS refuses some: there the grader watches the memory
            resource.setrlimit(kind, (most, most))


def wall_in(folder: str, hidden: list[str]) -> bool:
    """On Linux, where it is allowed: without a network, all but its folder read-only, other files hidden.

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
        walled = not mounts(linux, folder, hidden)
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


def mounts(linux: ctypes.CDLL, folder: str, hidden: list[str]) -> int:
    """Not 0 where anything failed."""
    bind, recursive, private = 0x1000, 0x4000, 0x40000
    own = os.fsencode(folder)
    failed = linux.mount(None, b"/", None, recursive | private, None)
    failed |= linux.mount(own, own, None, bind, None)
    for file in hidden:
        failed |= linux.mount(b"/dev/null", os.fsencode(file), None, bind, None)
    # mount_setattr(2), which not every C library knows.
    set_attributes, here, all_below, read_only = 442, -100, 0x8000, 1
    lock, unlock = ((ctypes.c_uint64 * 4)(*flags, 0, 0) for flags in ((read_only, 0), (0, read_only)))
    failed |= linux.syscall(set_attributes, here, b"/", all_below, lock, ctypes.sizeof(lock))
    failed |= linux.syscall(set_attributes, here, own, 0, unlock, ctypes.sizeof(unlock))
    # Where PyTorch's processes share tensors.
    failed |= linux.mount(b"tmpfs", b"/dev/shm", b"tmpfs", 0, SHARED_MEMORY)
    return int(failed)


def watch(folder: str, tell: Tell) -> None:
    """Refuse, and tell of, what reaches for the network or for others' files.

    No wall: C code and new processes go round it. It puts into words what the walls above would only refuse.
    """
    allowed = (os.path.realpath(folder), "/dev", "/proc/self")
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
