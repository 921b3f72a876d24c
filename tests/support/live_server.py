"""`make live` as a reader starts it, in a process of its own: asked as pages ask it, and as nobody should."""

import http.client
import json
import re
import subprocess
import sys
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import websocket

from tools import ROOT

START = (
    "import pathlib, sys; from tools.site import live; live.live(pathlib.Path(sys.argv[1]), 0, opens=False)"
)
PAGE = '<!DOCTYPE html><html><head>\n<base href="/fork/"></head>page</html>'
PATIENCE = 120  # seconds until a kernel's answer, far more than it needs on a busy machine


@dataclass
class Answer:
    status: int
    headers: http.client.HTTPMessage
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Channels:
    """A page's connection with its kernel."""

    def __init__(self, socket: websocket.WebSocket) -> None:
        self.socket = socket

    def send(self, code: str) -> str:
        message = uuid.uuid4().hex
        header = {"msg_id": message, "msg_type": "execute_request", "session": "page", "username": ""}
        content = {"code": code, "silent": False, "user_expressions": {}, "allow_stdin": False}
        parts = {"header": header, "parent_header": {}, "metadata": {}, "content": content}
        self.socket.send(json.dumps(parts | {"channel": "shell"}))
        return message

    def next(self) -> dict[str, Any]:
        return json.loads(self.socket.recv())

    def until(self, state: str, message: str | None = None) -> list[dict[str, Any]]:
        """All that comes until the kernel says that it is `state`, because of `message`."""
        came = []
        while True:
            came.append(self.next())
            told = came[-1]["content"].get("execution_state")
            if told == state and message in (None, came[-1]["parent_header"].get("msg_id")):
                return came

    def run(self, code: str) -> str:
        """What the code prints, and the name of the error that ends it."""
        came = [each for each in self.until("idle", self.send(code)) if each["channel"] == "iopub"]
        return "".join(each["content"].get("text") or each["content"].get("ename") or "" for each in came)


@dataclass
class LiveServer:
    address: str
    token: str
    process: subprocess.Popen[str]

    @property
    def printed(self) -> str:
        """What a reader opens."""
        return f"{self.address}#live={self.token}"

    def ask(self, path: str, method: str = "GET", body: Any = None, **headers: str) -> Answer:
        """Without a token, unless `headers` have it. Nothing of the path is put in order on its way."""
        place = urlsplit(self.address)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        with closing(http.client.HTTPConnection(place.hostname, place.port, timeout=PATIENCE)) as connection:
            full = path if path.startswith("/") else place.path + path
            connection.request(method, full, None if body is None else json.dumps(body), named)
            answer = connection.getresponse()
            return Answer(answer.status, answer.headers, answer.read())

    def api(self, path: str, method: str = "GET", body: Any = None, **headers: str) -> Answer:
        """As the page asks."""
        return self.ask(f"jupyter/api/{path}", method, body, Authorization=f"token {self.token}", **headers)

    def session(self, page: str) -> dict[str, Any]:
        body = {"path": page, "name": page, "type": "notebook", "kernel": {"name": "python3"}}
        return self.api("sessions", "POST", body).json

    @contextmanager
    def channels(self, kernel: str, token: str | None = None, **options: Any) -> Iterator[Channels]:
        place = f"{self.address.replace('http', 'ws')}jupyter/api/kernels/{kernel}/channels?session_id=page"
        place += f"&token={self.token if token is None else token}"
        with closing(websocket.create_connection(place, timeout=PATIENCE, **options)) as socket:
            yield Channels(socket)

    @contextmanager
    def page(self, name: str) -> Iterator[Channels]:
        """A page with a fresh kernel, which ends with it."""
        session = self.session(name)
        with self.channels(session["kernel"]["id"]) as channels:
            yield channels
        self.api(f"sessions/{session['id']}", "DELETE")


@contextmanager
def started(folder: Path) -> Iterator[LiveServer]:
    """`with started(site) as server:` serves the built site in this folder, at a free port."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", START, str(folder)], cwd=ROOT, **pipes) as process:
        line = process.stdout.readline()
        found = re.match(r"live: (\S+)#live=(\w+) ", line)
        assert found, line + process.stderr.read()
        try:
            yield LiveServer(found[1], found[2], process)
        finally:
            process.terminate()
            process.communicate()


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    """Of the book, made live."""
    with started(site) as server:
        yield server.printed


@pytest.fixture(scope="module")
def small_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("build") / "html"
    folder.mkdir()
    for name in ("index.html", "404.html"):
        folder.joinpath(name).write_text(PAGE)
    return folder


@pytest.fixture(scope="module")
def server(small_site: Path) -> Iterator[LiveServer]:
    with started(small_site) as server:
        yield server


@pytest.fixture(scope="module")
def kernel(server: LiveServer) -> str:
    """The id of one that runs."""
    return server.session("many-heads")["kernel"]["id"]
