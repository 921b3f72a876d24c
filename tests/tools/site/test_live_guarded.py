"""Who gets no kernel from `make live`: other origins, machines and users, and who has no token."""

import contextlib
import http.client
import os
import socket
import stat
import sys
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import pytest
import websocket
from live_server import PATIENCE, started

from tools.site import kernels, live

ELSEWHERE = ["http://elsewhere.example", "null", "http://127.0.0.1:1", "https://{host}", "http://localhost"]


def refused(server, kernel, token=None, **options):
    """Whether a websocket is refused."""
    try:
        with server.channels(kernel, token, **options):
            return False
    except websocket.WebSocketBadStatusException as answer:
        return answer.status_code == 403


READ = ["status", "kernels", "kernelspecs", "sessions", "kernels/{kernel}", "kernels/{kernel}/channels"]
REQUESTS = [("GET", path) for path in READ] + [("DELETE", "kernels/{kernel}"), ("PATCH", "sessions/{kernel}")]
REQUESTS += [("POST", f"kernels{path}") for path in ("", "/{kernel}/restart", "/{kernel}/interrupt")]
REQUESTS += [("POST", "sessions"), ("DELETE", "sessions/{kernel}")]


@pytest.mark.parametrize(("method", "path"), REQUESTS)
def test_without_the_token_nothing_answers(server, kernel, method, path):
    place = "jupyter/api/" + path.format(kernel=kernel)
    body = {} if method in ("POST", "PATCH") else None
    for sent in ({}, *({"Authorization": f"token {word}".encode()} for word in ("wrong", "", "é"))):
        assert server.ask(place, method, body, **sent).status == 403
    assert server.ask(f"{place}?token=wrong", method, body).status == 403
    assert refused(server, kernel, "")
    assert refused(server, kernel, "wrong")


def test_each_start_has_a_token_of_its_own(server, small_site):
    with started(small_site) as other:
        assert other.token != server.token
        assert len(other.token) == 64
        assert other.ask("jupyter/api/status", Authorization=f"token {server.token}").status == 403


@pytest.mark.parametrize("origin", ELSEWHERE)
def test_a_page_of_another_origin_is_refused_token_or_not(server, kernel, origin):
    origin = origin.format(host=urlsplit(server.address).netloc)
    assert server.api("status", Origin=origin).status == 403
    assert server.api("sessions", "POST", {}, Origin=origin).status == 403
    assert refused(server, kernel, origin=origin)
    own = server.address.removesuffix("/fork/")
    assert server.api("status", Origin=own).status == 200
    assert not refused(server, kernel, origin=own)


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
    unseen = server.ask("jupyter/api/kernels", "POST", {}, Cookie=cookie, X_XSRFToken=server.token)
    assert unseen.status == 403
    assert refused(server, kernel, "", cookie=cookie)
    answers = server.ask("index.html"), server.ask("jupyter/api/status"), server.api("kernels")
    assert not [answer for answer in answers if "Set-Cookie" in answer.headers]


@pytest.mark.parametrize(
    "path",
    [
        "api", "api/contents/index.html", "api/terminals", "api/config/notebook", "api/me", "api/nbconvert",
        "api/shutdown", "api/events/subscribe", "files/index.html", "lab", "tree", "login", "metrics",
        "static/favicon.ico", "kernelspecs/python3/logo-64x64.png", "terminals/websocket/1", "proxy/8000",
    ],
)  # fmt: skip
def test_of_jupyter_there_are_kernels_and_sessions_and_no_more(server, path):
    for place in (f"jupyter/{path}", f"/{path}", f"/jupyter/{path}"):
        assert server.ask(place, Authorization=f"token {server.token}").status == 404
        assert server.ask(place, "POST", {}, Authorization=f"token {server.token}").status in (404, 405)


@pytest.mark.parametrize(
    "path",
    [
        "../secret.txt", "%2e%2e/secret.txt", "..%2fsecret.txt", "a/../../secret.txt", "..%5csecret.txt",
        "{secret}", "/{secret}", "%00", "index.html%00", "%5c%5celsewhere%5cshare",
        "C:%5cWindows%5cwin.ini", "//elsewhere/share", ".", "..", "%ff",
    ],
)  # fmt: skip
def test_what_is_not_of_the_site_is_not_there(server, small_site, path):
    small_site.parent.joinpath("secret.txt").write_text("secret")
    answer = server.ask("/fork/" + path.format(secret=small_site.parent / "secret.txt"))
    assert answer.status in (400, 404)
    assert b"secret" not in answer.body


def test_a_browser_is_told_to_keep_other_pages_away(server):
    for answer in (server.ask("index.html"), server.ask("missing"), server.api("status")):
        assert "frame-ancestors 'self'" in answer.headers["Content-Security-Policy"]
        assert answer.headers["Cross-Origin-Resource-Policy"] == "same-origin"
        assert answer.headers["Referrer-Policy"] == "no-referrer"
        assert answer.headers["X-Content-Type-Options"] == "nosniff"


def test_a_large_request_is_not_read(server):
    host, port = urlsplit(server.address).netloc.split(":")
    with contextlib.closing(http.client.HTTPConnection(host, port, timeout=PATIENCE)) as asking:
        asking.putrequest("POST", "/fork/jupyter/api/sessions")
        asking.putheader("Content-Length", str(live.LARGEST + 1))
        asking.endheaders()
        with contextlib.suppress(http.client.BadStatusLine, ConnectionError):  # to hang up is an answer, too
            assert asking.getresponse().status in (400, 413)


def answers(address, port):
    with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET) as asking:
        asking.settimeout(PATIENCE)
        return asking.connect_ex((address, port)) == 0


def test_from_the_network_nothing_is_to_be_had(server):
    port, families = urlsplit(server.address).port, (socket.AF_INET, socket.AF_INET6)
    networks = psutil.net_if_addrs().values()
    own = {each.address for network in networks for each in network if each.family in families}
    tried = own | {"127.0.0.1", "::1", "127.0.0.2"}
    assert [address for address in tried if answers(address, port)] == ["127.0.0.1"]


# ---- other users of the machine: neither the token nor a kernel's words are theirs to see ----


def listening(process):
    return [each.laddr for each in process.net_connections("inet") if each.status == psutil.CONN_LISTEN]


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere, only root sees a process's ports")
def test_no_port_is_open_but_the_server_s_and_one_that_asks_for_a_secret(server, kernel):
    """ipykernel's own: there a process that the kernel forked hands in what it prints."""
    process = psutil.Process(server.process.pid)
    assert [tuple(each) for each in listening(process)] == [("127.0.0.1", urlsplit(server.address).port)]
    started = process.children(recursive=True)
    (its_kernel,) = [each for each in started if f"kernel-{kernel}" in " ".join(each.cmdline())]
    ((address, port),) = listening(its_kernel)
    with server.channels(kernel) as page:
        said = page.run("import sys; its = sys.stdout.pub_thread; print(its._pipe_port, len(its._pipe_uuid))")
    assert (address, said) == ("127.0.0.1", f"{port} 16\n")


@pytest.mark.skipif(os.name == "nt", reason="Windows has other permissions")
def test_keys_and_sockets_are_closed_to_other_users(server, kernel):
    with server.channels(kernel) as page:
        connection = Path(page.run("import sys; print(sys.argv[-1])").strip())
    private = connection.parent
    assert stat.S_IMODE(private.stat().st_mode) & 0o777 == 0o700
    assert stat.S_IMODE(connection.stat().st_mode) & 0o777 == 0o600
    assert len(list(private.glob(f"kernel-{kernel}-ipc-*"))) == 5
    assert not [file for file in private.iterdir() if server.token in file.name]


@pytest.mark.thorough
def test_the_token_is_in_no_list_of_processes(server, kernel):
    process = psutil.Process(server.process.pid)
    started = process.children(recursive=True)
    assert started
    for each in (process, *started):
        assert server.token not in " ".join(each.cmdline())
    with server.channels(kernel) as page:
        assert page.run(f"import os; print({server.token!r} in str(os.environ))") == "False\n"


def test_where_a_kernel_is_spoken_with_by_ports_they_are_encrypted():
    assert kernels.private("nt") == {"transport": "tcp", "transport_encryption": "required"}
