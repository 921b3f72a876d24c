"""Who gets no kernel from `make live`: other pages, other users of the machine, other machines, who has no token."""

import asyncio
import http.client
import os
import re
import socket
import stat
import subprocess
import sys
import time
import webbrowser
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import urlsplit

import psutil
import pytest
import websocket
import zmq
from live_server import live_server

from tools import ROOT
from tools.site import kernels, live
from tools.site.files import Site
from tools.site.server import serving

PAGE = '<!DOCTYPE html><html><head>\n<base href="/fork/"></head>page</html>'
ELSEWHERE = ["http://elsewhere.example", "null", "http://127.0.0.1:1", "https://{host}", "http://localhost"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("build") / "html"
    folder.mkdir()
    for name in ("index.html", "404.html", "opening.html"):
        folder.joinpath(name).write_text(PAGE)
    folder.parent.joinpath("secret.txt").write_text("secret")
    return folder


@pytest.fixture(scope="module")
def server(folder):
    with live_server(folder) as server:
        yield server


@pytest.fixture(scope="module")
def kernel(server):
    return server.session("many-heads")["kernel"]["id"]


@pytest.fixture(params=ELSEWHERE)
def origin(request, server):
    return request.param.format(host=urlsplit(server.address).netloc)


def refused(server, kernel, token=None, **options):
    """Whether a websocket is refused."""
    try:
        with server.channels(kernel, token, **options):
            return False
    except websocket.WebSocketBadStatusException as answer:
        return answer.status_code == 403


REQUESTS = [("GET", "status"), ("GET", "kernels"), ("GET", "kernelspecs"), ("GET", "sessions")]
REQUESTS += [
    ("POST", "kernels"),
    ("POST", "sessions"),
    ("DELETE", "kernels/{kernel}"),
    ("GET", "kernels/{kernel}"),
]
REQUESTS += [("POST", "kernels/{kernel}/restart"), ("POST", "kernels/{kernel}/interrupt")]
REQUESTS += [
    ("PATCH", "sessions/{kernel}"),
    ("DELETE", "sessions/{kernel}"),
    ("GET", "kernels/{kernel}/channels"),
]


@pytest.mark.parametrize(("method", "path"), REQUESTS)
def test_without_the_token_nothing_answers(server, kernel, method, path):
    place = "jupyter/api/" + path.format(kernel=kernel)
    body = {} if method in ("POST", "PATCH") else None
    for sent in (
        {},
        {"Authorization": "token wrong"},
        {"Authorization": "token "},
        {"Authorization": "token é"},
    ):
        sent = {name: value.encode() for name, value in sent.items()}
        assert server.ask(place, method, body, **sent).status == 403
    assert server.ask(f"{place}?token=wrong", method, body).status == 403


def test_without_the_token_no_websocket_opens(server, kernel):
    assert refused(server, kernel, "")
    assert refused(server, kernel, "wrong")
    assert not refused(server, kernel)


def test_each_start_has_a_token_of_its_own(server, folder):
    with live_server(folder) as other:
        assert other.token != server.token
        assert len(other.token) == 64
        assert other.ask("jupyter/api/status", Authorization=f"token {server.token}").status == 403


def test_a_page_of_another_origin_is_refused_token_or_not(server, kernel, origin):
    assert server.api("status", Origin=origin).status == 403
    assert server.api("sessions", "POST", {}, Origin=origin).status == 403
    assert refused(server, kernel, origin=origin)
    own = server.address.removesuffix("/fork/")
    assert server.api("status", Origin=own).status == 200
    assert not refused(server, kernel, origin=own)


def test_no_other_origin_is_allowed_to_ask(server, origin):
    asks = {"Access_Control_Request_Method": "POST", "Access_Control_Request_Headers": "authorization"}
    answer = server.ask("jupyter/api/sessions", "OPTIONS", Origin=origin, **asks)
    assert answer.status == 403
    assert not [name for name in answer.headers if name.lower().startswith("access-control")]


@pytest.mark.parametrize("host", ["elsewhere.example", "elsewhere.example:80", "127.0.0.1.nip.io", "[", ""])
def test_a_name_that_was_made_to_lead_here_is_refused(server, kernel, host):
    """DNS rebinding: a browser then takes our server for the other page's own."""
    assert server.api("status", Host=host).status == 403
    assert server.api("status", Host=host, Origin=f"http://{host}").status == 403
    assert server.ask("index.html", Host=host).status == 403
    assert refused(server, kernel, host=host or "none", origin=f"http://{host}")


def test_this_machine_s_own_names_are_heard_at_any_port(server):
    """A tunnel (`ssh -L`) and a container show it at another."""
    for host in ("localhost:9000", "127.0.0.1:9000", "[::1]:9000"):
        assert server.api("status", Host=host, Origin=f"http://{host}").status == 200


def test_cookies_open_nothing_and_none_is_set(server, kernel):
    port = urlsplit(server.address).port
    names = [f"username-127-0-0-1-{port}", f"username-localhost-{port}", "_xsrf", "token", "Authorization"]
    cookie = "; ".join(f"{name}={server.token}" for name in names)
    assert server.ask("jupyter/api/status", Cookie=cookie).status == 403
    assert (
        server.ask("jupyter/api/kernels", "POST", {}, Cookie=cookie, X_XSRFToken=server.token).status == 403
    )
    assert refused(server, kernel, "", cookie=cookie)
    answers = [
        server.ask("index.html"),
        server.ask("jupyter/api/status"),
        server.api("status"),
        server.api("kernels"),
    ]
    assert not [answer for answer in answers if "Set-Cookie" in answer.headers]


NOT_THERE = [
    "api",
    "api/contents",
    "api/contents/index.html",
    "api/terminals",
    "api/config/notebook",
    "api/me",
]
NOT_THERE += [
    "api/nbconvert",
    "api/shutdown",
    "api/events/subscribe",
    "api/spec.yaml",
    "files/index.html",
    "lab",
]
NOT_THERE += [
    "tree",
    "nbconvert/html/index.html",
    "login",
    "logout",
    "metrics",
    "static/favicon.ico",
    "view/a",
]
NOT_THERE += ["kernelspecs/python3/logo-64x64.png", "terminals/websocket/1", "proxy/8000", "lsp/ws"]


@pytest.mark.parametrize("path", NOT_THERE)
def test_of_jupyter_there_are_kernels_and_sessions_and_no_more(server, path):
    for place in (f"jupyter/{path}", f"/{path}", f"/jupyter/{path}"):
        assert server.ask(place, Authorization=f"token {server.token}").status == 404
        assert server.ask(place, "POST", {}, Authorization=f"token {server.token}").status in (404, 405)


@pytest.mark.parametrize(
    "path",
    ["../secret.txt", "%2e%2e/secret.txt", "..%2fsecret.txt", "a/../../secret.txt", "..%5csecret.txt", "{secret}",
     "/{secret}", "%00", "index.html%00", "%5c%5celsewhere%5cshare", "C:%5cWindows%5cwin.ini", "//elsewhere/share", ""
     ".", "..", "%ff"],
)  # fmt: skip
def test_what_is_not_of_the_site_is_not_there(server, folder, path):
    answer = server.ask("/fork/" + path.format(secret=folder.parent / "secret.txt"))
    assert answer.status in (400, 404)
    assert b"secret" not in answer.body


def test_a_browser_is_told_to_keep_other_pages_away(server):
    for answer in (server.ask("index.html"), server.ask("missing"), server.api("status")):
        assert "frame-ancestors 'self'" in answer.headers["Content-Security-Policy"]
        assert answer.headers["Cross-Origin-Resource-Policy"] == "same-origin"
        assert answer.headers["Referrer-Policy"] == "no-referrer"
        assert answer.headers["X-Content-Type-Options"] == "nosniff"


def test_a_large_request_is_not_read(server):
    with closing(
        http.client.HTTPConnection(*urlsplit(server.address).netloc.split(":"), timeout=10)
    ) as asking:
        asking.putrequest("POST", "/fork/jupyter/api/sessions")
        asking.putheader("Content-Length", str(live.LARGEST + 1))
        asking.endheaders()
        try:
            assert asking.getresponse().status in (400, 413)
        except (http.client.BadStatusLine, ConnectionError):
            pass  # hung up, which is an answer, too


def answers(address, port):
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family) as asking:
        asking.settimeout(5)
        return asking.connect_ex((address, port)) == 0


def test_from_the_network_nothing_is_to_be_had(server):
    port = urlsplit(server.address).port
    own = [each.address for network in psutil.net_if_addrs().values() for each in network
           if each.family in (socket.AF_INET, socket.AF_INET6)]  # fmt: skip
    assert [address for address in {*own, "127.0.0.1", "::1", "127.0.0.2"} if answers(address, port)] == [
        "127.0.0.1"
    ]


# ---- other users of the machine ----


def listening(process):
    return [each.laddr for each in process.net_connections("inet") if each.status == psutil.CONN_LISTEN]


@pytest.mark.skipif(
    sys.platform != "linux", reason="elsewhere, only the administrator sees a process's ports"
)
def test_no_port_is_open_but_the_server_s_and_one_that_says_nothing(server, kernel):
    """ipykernel's own, where processes that a kernel forked hand in what they print, with a secret of the kernel's."""
    process = psutil.Process(server.process.pid)
    with server.channels(kernel) as page:
        page.run("pass")
        assert [tuple(each) for each in listening(process)] == [("127.0.0.1", urlsplit(server.address).port)]
        kernels_of = [
            each for each in process.children(recursive=True) if "ipykernel_launcher" in each.cmdline()
        ]
        assert len(kernels_of) == 1
        ((address, port),) = listening(kernels_of[0])
        assert address == "127.0.0.1"
        secret = page.run(
            "import sys; print(sys.stdout.pub_thread._pipe_port, len(sys.stdout.pub_thread._pipe_uuid))"
        )
        assert secret.split() == [str(port), "16"]
        with zmq.Context() as context, context.socket(zmq.PUSH) as other, context.socket(zmq.SUB) as listener:
            other.setsockopt(zmq.LINGER, 1000)
            other.connect(f"tcp://127.0.0.1:{port}")
            other.send_multipart([b"0" * 16, b"stream", b"forged"])
            listener.subscribe(b"")
            listener.connect(f"tcp://127.0.0.1:{port}")
            assert page.run("print('said'); import time; time.sleep(0.3)") == "said\n"
            assert listener.poll(200) == 0


@pytest.mark.skipif(os.name == "nt", reason="Windows has other permissions")
def test_keys_and_sockets_are_closed_to_other_users(server, kernel):
    with server.channels(kernel) as page:
        connection = Path(page.run("import sys; print(sys.argv[-1])").strip())
    private = connection.parent
    assert stat.S_IMODE(private.stat().st_mode) & 0o777 == 0o700
    assert stat.S_IMODE(connection.stat().st_mode) & 0o777 == 0o600
    assert len(list(private.glob(f"kernel-{kernel}-ipc-*"))) == 5
    assert not [file for file in private.iterdir() if server.token in file.name]


def test_the_token_is_in_no_list_of_processes(server, kernel):
    for process in psutil.process_iter(["cmdline"]):
        assert server.token not in " ".join(process.info["cmdline"] or [])
    with server.channels(kernel) as page:
        assert page.run(f"import os; print({server.token!r} in str(os.environ))") == "False\n"


class Recorder:
    """A browser with a window."""

    def __init__(self):
        self.opened = []

    def open(self, address):
        self.opened.append(address)


def test_a_browser_is_sent_on_by_a_file_that_only_this_user_can_read(monkeypatch, folder):
    browser = Recorder()
    monkeypatch.setattr(webbrowser, "get", lambda: browser)
    with live.opened("http://127.0.0.1:1/#live=token", folder):
        (file,) = folder.parent.glob("live-*.html")
        assert browser.opened == [file.as_uri()]
        assert 'url=http://127.0.0.1:1/#live=token"' in file.read_text()
        assert os.name == "nt" or stat.S_IMODE(file.stat().st_mode) == 0o600
    assert not file.exists()


def test_without_a_window_no_browser_is_opened(monkeypatch, folder):
    """One for terminals would take over this one."""
    for_terminals = webbrowser.GenericBrowser("lynx")
    monkeypatch.setattr(for_terminals, "open", pytest.fail, raising=False)
    monkeypatch.setattr(webbrowser, "get", lambda: for_terminals)
    with live.opened("http://127.0.0.1:1/", folder):
        pass

    def none():
        raise webbrowser.Error

    monkeypatch.setattr(webbrowser, "get", none)
    with live.opened("http://127.0.0.1:1/", folder):
        assert [*folder.parent.glob("live-*.html")]


def test_where_a_kernel_is_spoken_with_by_ports_who_has_no_key_hears_nothing(monkeypatch):
    """As on Windows."""
    windows = kernels.private("nt")
    monkeypatch.setattr(kernels, "private", lambda: windows)

    def heard(manager, key):
        with zmq.Context() as context, context.socket(zmq.SUB) as listener:
            if key:
                public, secret = zmq.curve_keypair()
                listener.curve_publickey, listener.curve_secretkey, listener.curve_serverkey = (
                    public,
                    secret,
                    key,
                )
            listener.subscribe(b"")
            listener.connect(f"tcp://127.0.0.1:{manager.iopub_port}")
            return listener

    async def listen():
        with kernels.private_folder() as folder:
            many = kernels.managers(folder)["kernel_manager"]
            try:
                manager = many.get_kernel(await many.start_kernel())
                assert manager.transport == "tcp"
                client = manager.client()
                client.start_channels()
                await client.wait_for_ready(timeout=60)
                with zmq.Context() as context, context.socket(zmq.SUB) as stranger:
                    stranger.linger = 0
                    stranger.subscribe(b"")
                    stranger.connect(f"tcp://127.0.0.1:{manager.iopub_port}")
                    time.sleep(0.3)
                    client.execute("print('heard')")
                    while (await client.get_iopub_msg(timeout=30))["msg_type"] != "stream":
                        pass
                    assert stranger.poll(500) == 0
                client.stop_channels()
            finally:
                await many.shutdown_all(now=True)

    asyncio.run(listen())


# ---- a real browser ----

TRY = """async ([address, token, kernel]) => {
  const tried = {};
  const headers = { Authorization: `token ${token}` };
  const asked = async (name, options) => {
    try {
      const answer = await fetch(`${address}jupyter/api/${name}`, options);
      tried[`${options.method} ${options.mode}`] = answer.status;
    } catch (error) { tried[`${options.method} ${options.mode}`] = error.name; }
  };
  await asked("status", { method: "GET", mode: "cors", headers });
  await asked("kernels", { method: "POST", mode: "cors", headers, body: "{}" });
  await asked(`kernels?token=${token}`, { method: "POST", mode: "no-cors", credentials: "include", body: "{}" });
  const place = `${address.replace("http", "ws")}jupyter/api/kernels/${kernel}/channels?token=${token}`;
  tried.websocket = await new Promise((done) => {
    const socket = new WebSocket(place);
    socket.onopen = () => { socket.close(); done("open"); };
    socket.onerror = () => done("refused");
  });
  return tried;
}"""


def test_in_a_browser_the_own_page_is_heard_and_another_is_not(page, server, kernel, tmp_path):
    tmp_path.joinpath("404.html").write_text('<base href="/">')
    tmp_path.joinpath("other.html").write_text(f'<iframe src="{server.address}index.html"></iframe>')
    asked = [server.address, server.token, kernel]
    before = len(server.api("kernels").json)
    with serving(tmp_path) as elsewhere:
        page.goto(elsewhere + "other.html")
        tried = page.evaluate(TRY, asked)
        # That a request was sent off is all that a page may see of one without CORS.
        assert tried == {
            "GET cors": "TypeError",
            "POST cors": "TypeError",
            "POST no-cors": "TypeError",
            "websocket": "refused",
        }
        assert page.frames[1].url.startswith("chrome-error:")
    assert len(server.api("kernels").json) == before
    page.goto(server.address + "opening.html")
    tried = page.evaluate(TRY, asked)
    assert tried == {"GET cors": 200, "POST cors": 201, "POST no-cors": 201, "websocket": "open"}


# ---- what goes wrong at the start ----


@pytest.mark.parametrize("command", ["serve", "live"])
@pytest.mark.parametrize("word", ["abc", "65536", "-1", "80.5"])
def test_what_is_no_port_is_told_in_one_line(command, word):
    module = {"serve": "tools.site.server", "live": "tools.site.live"}[command]
    result = subprocess.run(
        [sys.executable, "-m", module, word], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert result.returncode == 1
    assert re.fullmatch(rf"{command}: a port is a number below 65536, .*: {word} is none\n", result.stderr)


@pytest.mark.parametrize("module", ["server", "live"])
def test_a_site_that_is_not_built_is_told_in_one_line(module, tmp_path):
    program = (
        "import pathlib; from tools.site import files; files.SITE = pathlib.Path('nowhere');"
        f"from tools.site import {module}; {module}.main()"
    )
    result = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert result.returncode == 1
    assert re.fullmatch(r"\w+: the site is not built yet: `make \w+` does it first\n", result.stderr)


def test_a_port_that_is_taken_is_told_in_one_line(folder):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(
            SystemExit, match=f"^live: port {port} is taken: choose another with `make live PORT="
        ):
            asyncio.run(live.serve(folder, port, opens=False))
