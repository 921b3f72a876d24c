"""The kernels of `make live`: few, out of other users' sight, and ended when their page is gone."""

import os
import tempfile
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import DEVNULL
from typing import Any

from jupyter_client.kernelspec import KernelSpecManager
from jupyter_server.services.contents.manager import ContentsManager
from jupyter_server.services.kernels.kernelmanager import AsyncMappingKernelManager
from jupyter_server.services.sessions.sessionmanager import SessionManager
from tornado import web
from traitlets.config import Config

from bookkit.registry import BOOK

MOST = 4
GONE = 30 * 60  # seconds without a page
MOMENT = 10  # and so few may be a page on its way, or one that is loaded anew
# Messages that wait for a page whose connection is down, at most. A loop that prints sends 2 MB in each.
WAITING = 200
# Bytes a second: five million letters in one line come through, and a loop without an end is held back.
MOST_SENT = 10_000_000
# Else what ipykernel's debugger thinks of this Python comes between the first outputs of a page.
NO_WARNING = {"PYDEVD_DISABLE_FILE_VALIDATION": "1"}
FULL = f"{MOST} pages run code already, as many as this server bears: close one of them, then try again"


class Full(web.HTTPError):
    def __init__(self) -> None:
        super().__init__(503, FULL)

    def __str__(self) -> str:
        """What Jupyter tells a page that asks for a session."""
        return FULL


class Kernels(AsyncMappingKernelManager):
    def __init__(self, **options: Any) -> None:
        super().__init__(cull_idle_timeout=GONE, cull_interval=60, **options)  # type: ignore[no-untyped-call]
        self.had_a_page: dict[str, float] = {}

    async def start_kernel(self, **options: Any) -> str:  # type: ignore[override]
        if len(self.list_kernel_ids()) >= MOST:
            await self.end_one_without_a_page()
        options["env"] = {**(options.get("env") or os.environ), **NO_WARNING}
        # What a kernel says as it ends is for nobody: all else that it writes it sends to its page.
        kernel_id = await super().start_kernel(**options, stdout=DEVNULL, stderr=DEVNULL)
        self.had_a_page[kernel_id] = time.monotonic()
        return kernel_id

    async def end_one_without_a_page(self) -> None:
        """The one whose page went first: a browser that crashed asks for no end. A reload takes a moment."""
        alone = [each for each in self.list_kernel_ids() if not self._kernel_connections.get(each)]
        first = min(alone, key=self.had_a_page.__getitem__, default=None)
        if first is None or time.monotonic() - self.had_a_page[first] < MOMENT:
            raise Full
        await self.shutdown_kernel(first)  # type: ignore[no-untyped-call]

    def notify_disconnect(self, kernel_id: str) -> None:
        super().notify_disconnect(kernel_id)  # type: ignore[no-untyped-call]
        self.had_a_page[kernel_id] = time.monotonic()

    async def cull_kernel_if_idle(self, kernel_id: str) -> None:
        """Idle is what has no page, for Jupyter what says nothing: a loop that prints would run for ever."""
        now = time.monotonic()
        if self._kernel_connections.get(kernel_id):
            self.had_a_page[kernel_id] = now
        elif now - self.had_a_page[kernel_id] >= GONE:
            await self.shutdown_kernel(kernel_id)  # type: ignore[no-untyped-call]

    def start_buffering(self, kernel_id: str, session_key: str, channels: dict[str, Any]) -> None:
        super().start_buffering(kernel_id, session_key, channels)  # type: ignore[no-untyped-call]
        self._kernel_buffers[kernel_id]["buffer"] = deque(maxlen=WAITING)


def private(system: str = os.name) -> dict[str, str]:
    """How a server talks with a kernel. A port, even a loopback one, is open to all users of a machine.

    So it is by files, in a folder closed to others. Windows has none of that kind: its ports are encrypted.
    """
    by_ports = {"transport": "tcp", "transport_encryption": "required"}
    return by_ports if system == "nt" else {"transport": "ipc"}


@contextmanager
def private_folder() -> Iterator[Path]:
    """Open to this user alone, and of a short name: a socket's, with it, may have 103 characters."""
    with tempfile.TemporaryDirectory(dir=None if os.name == "nt" else "/tmp", prefix="live-") as folder:
        yield Path(folder)


def managers(folder: Path) -> dict[str, Any]:
    """What Jupyter's handlers work with. `folder` holds the kernels' keys and sockets."""
    # A kernel that died is told of: started anew, it would have forgotten all that the page shows.
    config = Config(
        KernelManager=private() | {"shutdown_wait_time": 2},
        KernelRestarter={"restart_limit": 0},
        ZMQChannelsWebsocketConnection={"iopub_data_rate_limit": MOST_SENT},
    )
    # This very Python, as in `make lab`, whatever else is installed for Jupyter on this machine.
    specs = KernelSpecManager(kernel_dirs=[])
    kernels = Kernels(
        config=config, kernel_spec_manager=specs, connection_dir=str(folder), root_dir=str(BOOK)
    )
    # Of the contents a session asks only in which folder to start: theirs says the kernels' own.
    sessions = SessionManager(kernel_manager=kernels, contents_manager=ContentsManager())
    return {"kernel_manager": kernels, "kernel_spec_manager": specs, "session_manager": sessions}
