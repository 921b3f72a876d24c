"""A Binder on this machine: it speaks the stream of events, and its machine is a Jupyter Server."""

import json
import os
import secrets
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

from playwright.sync_api import Page, Route

from tools import ROOT

PHASES = ("waiting", "fetching", "building", "pushing", "built", "launching")


@contextmanager
def jupyter_server(folder: Path, kernel: str = "python3") -> Iterator[dict[str, str]]:
    """`with jupyter_server(tmp_path) as ready:` starts one as Binder does, and gives what Binder tells of it.

    Another `kernel` stands in the folder's own `kernels`.
    """
    (folder / "book").symlink_to(ROOT / "book")
    token = secrets.token_hex(16)
    settings = {
        "ServerApp.port": 0,
        "ServerApp.ip": "127.0.0.1",
        "ServerApp.base_url": "/user/ada/",
        "ServerApp.root_dir": folder,
        "ServerApp.allow_origin": "*",
        "IdentityProvider.token": token,
        "MappingKernelManager.default_kernel_name": kernel,
    }
    words = [f"--{name}={value}" for name, value in settings.items()]
    command = [sys.executable, "-m", "jupyter", "server", "--no-browser", "--allow-root", *words]
    nowhere = subprocess.DEVNULL
    # The packages are to be found in the clone, and nowhere else.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment |= {"JUPYTER_PATH": str(folder), "JUPYTER_RUNTIME_DIR": str(folder / "runtime")}
    with subprocess.Popen(command, cwd=folder, env=environment, stdout=nowhere, stderr=nowhere) as server:
        try:
            address = address_of(server, folder / "runtime")
            yield {"phase": "ready", "url": address, "token": token}
        finally:
            server.terminate()


def address_of(server: subprocess.Popen[bytes], folder: Path) -> str:
    """Where a Jupyter Server answers, as soon as it does. Which port it took it writes into this folder."""
    while server.poll() is None:
        for page in folder.glob("jpserver-*-open.html"):  # what it writes when the other file is whole
            file = page.with_name(page.name.replace("-open.html", ".json"))
            address: str = json.loads(file.read_text("utf-8"))["url"]
            with suppress(OSError):
                urllib.request.urlopen(f"{address}api").close()
                return address
        time.sleep(0.1)
    raise ChildProcessError(f"the server ended before it answered, with status {server.returncode}")


class Stream(BaseHTTPRequestHandler):
    server: "Binder"

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Access-Control-Allow-Origin", "*")
        self.end_headers()
        for event in self.server.tells:
            self.wfile.write(f"data: {json.dumps(event)}\n\n".encode())

    def log_message(self, format: str, *arguments: object) -> None:
        """Say nothing."""


class Binder(ThreadingHTTPServer):
    """`tells` are its events; `asked` the paths that were asked for."""

    daemon_threads = True

    def __init__(self, tells: Sequence[dict[str, Any]]) -> None:
        super().__init__(("127.0.0.1", 0), Stream)
        self.tells, self.asked = tells, list[str]()


@contextmanager
def binder(page: Page, tells: Sequence[dict[str, Any]]) -> Iterator[Binder]:
    """`with binder(page, [{"phase": "failed"}]) as server:` is the Binder that the page asks."""
    with Binder(tells) as server:
        Thread(target=server.serve_forever, daemon=True).start()

        def told_of_it(route: Route) -> None:
            body = route.fetch().text()
            body = body.replace("https://mybinder.org", f"http://127.0.0.1:{server.server_port}")
            route.fulfill(body=body, content_type="text/javascript")

        page.route("**/_static/live-*.js", told_of_it)
        try:
            yield server
        finally:
            server.shutdown()
