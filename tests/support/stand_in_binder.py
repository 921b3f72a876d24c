"""A Binder on this machine: it speaks the stream of events, and its machine is a Jupyter Server."""

import json
import os
import secrets
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
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
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    token, address = secrets.token_hex(16), f"http://127.0.0.1:{port}/user/ada/"
    settings = {
        "ServerApp.port": port,
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
    environment["JUPYTER_PATH"] = str(folder)
    with subprocess.Popen(command, cwd=folder, env=environment, stdout=nowhere, stderr=nowhere) as server:
        try:
            answers(address)
            yield {"phase": "ready", "url": address, "token": token}
        finally:
            server.terminate()


def answers(address: str) -> None:
    """Wait for it."""
    for _ in range(600):
        try:
            urllib.request.urlopen(f"{address}api").close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise TimeoutError(f"{address} does not answer")


class Stream(BaseHTTPRequestHandler):
    server: "Binder"

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Access-Control-Allow-Origin", "*")
        self.end_headers()
        for event in self.server.tells:
            if isinstance(event, float):
                time.sleep(event)
            else:
                self.wfile.write(f"data: {json.dumps(event)}\n\n".encode())

    def log_message(self, format: str, *arguments: object) -> None:
        """Say nothing."""


class Binder(ThreadingHTTPServer):
    """`tells` are its events, and between them seconds to wait; `asked` are the paths that were asked for."""

    daemon_threads = True

    def __init__(self, tells: Sequence[dict[str, Any] | float]) -> None:
        super().__init__(("127.0.0.1", 0), Stream)
        self.tells, self.asked = tells, list[str]()


def rewritten(page: Page, told: str, instead: str) -> None:
    """Change what the pages know of where their code runs."""

    def fulfil(route: Route) -> None:
        body = route.fetch().text().replace(told, instead)
        route.fulfill(body=body, content_type="text/javascript")

    page.route("**/_static/live-*.js", fulfil)


@contextmanager
def binder(page: Page, tells: Sequence[dict[str, Any] | float]) -> Iterator[Binder]:
    """`with binder(page, [{"phase": "failed"}]) as server:` is the Binder that the page asks."""
    with Binder(tells) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        rewritten(page, "https://mybinder.org", f"http://127.0.0.1:{server.server_port}")
        yield server
        server.shutdown()
